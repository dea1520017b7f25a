// SPDX-License-Identifier: Apache-2.0
// Formulas, in a chunk that is loaded when the first one is shown.
import katex from "katex";
import "katex/dist/katex.min.css";

/** Markup of a formula; what cannot be read is shown as it is, in red. Nothing in it can load or run anything. */
export const formula = (tex: string, display: boolean): string =>
  katex.renderToString(tex, { displayMode: display, throwOnError: false, trust: false, maxExpand: 500, maxSize: 50 });
