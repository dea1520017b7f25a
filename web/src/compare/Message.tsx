// SPDX-License-Identifier: Apache-2.0
// A message of one side: plain, or with its differences from the base.
import { useEffect, useState } from "react";
import type { Entry, Part } from "../api/types";
import { Markdown } from "../chat/Markdown";
import { endOf, endWords } from "../state/thread";
import { cx, IconAlert } from "../ui";
import { wordDifferences, type Piece } from "./words";

const WHO: Record<string, string> = {
  user: "User",
  assistant: "Assistant",
  tool: "Tool",
  system: "System",
};
const SHOWN = 400;

function partWords(part: Part): string | null {
  if (part.type === "tool_call") return `Calls ${part.name ?? "a tool"}`;
  if (part.type === "tool_result") return part.is_error ? "The tool failed" : "Answer of the tool";
  if (part.type === "file") return `File ${part.name ?? ""}`;
  if (part.type === "data") return "Data";
  return null;
}

function partDetail(part: Part): string {
  const what =
    part.type === "tool_call" ? part.input : part.type === "tool_result" ? part.output : part.data;
  const text = typeof what === "string" ? what : JSON.stringify(what ?? "", null, 1);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

function Parts({ parts }: { parts: readonly Part[] }) {
  return parts.map((part, i) => {
    const words = partWords(part);
    return (
      words && (
        <details key={i} className="compare-part">
          <summary>{words}</summary>
          <pre tabIndex={0}>{partDetail(part)}</pre>
        </details>
      )
    );
  });
}

function Differences({ base, text }: { base: string; text: string }) {
  const [pieces, setPieces] = useState<Piece[] | null>();
  useEffect(() => {
    let current = true;
    void wordDifferences(base, text).then((found) => current && setPieces(found));
    return () => {
      current = false;
    };
  }, [base, text]);
  if (pieces === null)
    return (
      <>
        <p className="ui-hint">Too different to mark word by word.</p>
        <Markdown text={text} />
      </>
    );
  if (pieces === undefined) return <div className="compare-words">{text}</div>;
  return (
    <div className="compare-words">
      {pieces.map((piece, i) => {
        if (piece.kind === "same") return piece.text;
        const Mark = piece.kind === "added" ? "ins" : "del";
        return <Mark key={i}>{piece.text}</Mark>;
      })}
    </div>
  );
}

interface MessageProps {
  entry: Entry;
  /** Set against this; undefined: shown as it reads, null: there is nothing to set it against. */
  base?: Entry | null;
  /** All that gave this answer, if several did. */
  agents?: string;
}

export function Message({ entry, base, agents }: MessageProps) {
  const end = endOf(entry);
  const who = (entry.role === "assistant" && (agents || entry.author)) || WHO[entry.role];
  return (
    <article className={`compare-message compare-${entry.role}`} aria-label={who}>
      <div className="compare-who">{who}</div>
      <Parts parts={end ? entry.parts.filter((part) => part.type !== "data") : entry.parts} />
      {entry.text &&
        (base === undefined ? (
          <Markdown text={entry.text} />
        ) : (
          <Differences base={base?.text ?? ""} text={entry.text} />
        ))}
      {end && (
        <div className={cx("chat-end", end.turn === "failed" && "chat-end-failed")}>
          {end.turn === "failed" && <IconAlert />}
          <span role="note">{endWords(end)}</span>
        </div>
      )}
    </article>
  );
}
