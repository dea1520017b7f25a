// SPDX-License-Identifier: Apache-2.0
// What models write that is no Markdown: thoughts between tags, and formulas in LaTeX. Both are found outside of
// code alone. Pure functions.

export type Piece = {
  kind: "text" | "thinking";
  text: string;
  /** Its end has not come yet. */
  open?: boolean;
};

/** Code of a text: fenced blocks, of which the last may be open, and spans in a line. */
const CODE =
  /(^|\n)[ \t]*(`{3,}|~{3,})[^\n]*(?:\n[\s\S]*?(?:\n[ \t]*\2[`~]*[ \t]*(?=\n|$)|$)|$)|(?<!`)(`+)(?!`)[^\n]*?[^`\n]\3(?!`)/g;

/** Gives what is outside of code to `change`. */
const outsideOfCode = (text: string, change: (piece: string) => string): string => {
  let out = "";
  let at = 0;
  for (const found of text.matchAll(CODE)) {
    out += change(text.slice(at, found.index)) + found[0];
    at = found.index + found[0].length;
  }
  return out + change(text.slice(at));
};

const THINK = /(^|\n)[ \t]*<(think|thinking)>/i;

/** Thoughts that a model wrote into its text, each between tags that begin a line; the last may be open. */
export const splitThoughts = (text: string): Piece[] => {
  const pieces: Piece[] = [];
  const add = (piece: Piece) => {
    if (piece.text.trim() !== "" || piece.open) pieces.push(piece);
  };
  let rest = text;
  while (/<think/i.test(rest)) {
    // Code is blanked out, so that the places are those of the text.
    const begin = THINK.exec(rest.replace(CODE, (code) => code.replace(/[^\n]/g, " ")));
    if (!begin) break;
    add({ kind: "text", text: rest.slice(0, begin.index) });
    rest = rest.slice(begin.index + begin[0].length);
    const end = new RegExp(`</${begin[2]}>`, "i").exec(rest);
    add({ kind: "thinking", text: (end ? rest.slice(0, end.index) : rest).trim(), open: !end });
    if (!end) return pieces;
    rest = rest.slice(end.index + end[0].length);
  }
  add({ kind: "text", text: rest });
  return pieces;
};

/**
 * A single dollar begins a formula only if no space follows, and ends it only if no space comes before and no digit
 * follows, so that prices are none.
 */
const FORMULA =
  /\\\(([\s\S]+?)\\\)|\\\[([\s\S]+?)\\\]|\$\$([\s\S]+?)\$\$|(?<![\\$\w])\$(?![\s$])((?:\\.|[^$\n\\])*?(?:[^\s$\\]|\\.))\$(?![\d$])/g;

const D = "$$";
const inLine = (formula: string) => formula.trim().replace(/\s*\n\s*/g, " ");

/** Formulas as the parser of Markdown takes them: between two dollars on each side. */
export const markFormulas = (text: string): string => {
  if (!/[$\\]/.test(text)) return text;
  return outsideOfCode(text, (piece) =>
    piece.replace(FORMULA, (all: string, round?: string, square?: string, double?: string, single?: string) => {
      // A block of its own is what the parser knows already.
      if (double !== undefined && /^\s*\n[\s\S]*\n\s*$/.test(double)) return all;
      const display = double ?? square;
      if (display !== undefined) return `${D}\\displaystyle ${inLine(display)}${D}`;
      return D + inLine(round ?? single ?? "") + D;
    }),
  );
};
