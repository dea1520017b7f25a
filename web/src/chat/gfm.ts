// SPDX-License-Identifier: Apache-2.0
// Tables, lists of tasks, strikethrough and bare links in Markdown: the reading half of remark-gfm,
// whose writing half weighs as much again.
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm as syntax } from "micromark-extension-gfm";

type Data = { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] };

export function gfm(this: { data(): unknown }): void {
  const data = this.data() as Data;
  (data.micromarkExtensions ??= []).push(syntax());
  (data.fromMarkdownExtensions ??= []).push(gfmFromMarkdown());
}
