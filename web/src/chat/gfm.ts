// SPDX-License-Identifier: Apache-2.0
// Tables, task lists, strikethrough and bare links in Markdown: the parsing half of remark-gfm, whose
// serialising half would double the size.
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm as syntax } from "micromark-extension-gfm";

type Data = { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] };

export function gfm(this: { data(): unknown }): void {
  const data = this.data() as Data;
  (data.micromarkExtensions ??= []).push(syntax());
  (data.fromMarkdownExtensions ??= []).push(gfmFromMarkdown());
}
