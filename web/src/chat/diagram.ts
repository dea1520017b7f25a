// SPDX-License-Identifier: Apache-2.0
// Diagrams, in chunks that are loaded when the first one is shown.
import mermaid from "mermaid";

let count = 0;

/** The picture as SVG; null when the text is no whole diagram, as while it is being written. */
export async function diagram(text: string, dark: boolean): Promise<string | null> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    theme: dark ? "dark" : "neutral",
    fontFamily: "inherit",
  });
  if (!(await mermaid.parse(text, { suppressErrors: true }))) return null;
  return (await mermaid.render(`diagram-${++count}`, text)).svg;
}
