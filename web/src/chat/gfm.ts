// SPDX-License-Identifier: Apache-2.0
// Tables, task lists, strikethrough, bare links and formulas in Markdown: the parsing halves of remark-gfm and
// remark-math, whose serialising halves would double the size. Tags are no HTML here but text like any other: what a
// model writes between them is shown, with the tags.
import { gfmFromMarkdown } from "mdast-util-gfm";
import { mathFromMarkdown } from "mdast-util-math";
import { gfm as syntax } from "micromark-extension-gfm";
import { math } from "micromark-extension-math";

type Data = { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] };

export function gfm(this: { data(): unknown }): void {
  const data = this.data() as Data;
  (data.micromarkExtensions ??= []).push(
    syntax(),
    math({ singleDollarTextMath: false }),
    { disable: { null: ["htmlFlow", "htmlText"] } },
  );
  (data.fromMarkdownExtensions ??= []).push(gfmFromMarkdown(), mathFromMarkdown());
}
