// SPDX-License-Identifier: Apache-2.0
// Tool calls and their results, collapsed to the name and the outcome.
import { useId, useState, type ReactNode } from "react";
import type { Entry, Part } from "../api/types";
import { cx, IconAlert, IconCheck, IconChevronRight, IconTool, Spinner } from "../ui";
import { useRoom } from "./runtime";

export const jsonText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");

/** Folded until it is opened; what is inside is not drawn before. */
export function Fold({ face, label, children }: { face: ReactNode; label?: string; children: () => ReactNode }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div className={cx("chat-fold", open && "chat-fold-open")}>
      <button
        type="button"
        className="chat-fold-head"
        aria-expanded={open}
        aria-controls={id}
        aria-label={label}
        onClick={() => setOpen(!open)}
      >
        <IconChevronRight />
        {face}
      </button>
      <div id={id} hidden={!open}>
        {open && <div className="chat-fold-body">{children()}</div>}
      </div>
    </div>
  );
}

const results = new WeakMap<Entry[], Map<string, Part>>();
const calls = new WeakMap<Entry[], Map<string, Part>>();

const byId = (cache: typeof results, type: Part["type"], entries: Entry[]): Map<string, Part> => {
  let map = cache.get(entries);
  if (!map) {
    map = new Map();
    for (const entry of entries)
      for (const part of entry.parts) if (part.type === type && part.id) map.set(part.id, part);
    cache.set(entries, map);
  }
  return map;
};

export function ToolCall({ part }: { part: Part }) {
  const room = useRoom();
  const result = room.store((s) => byId(results, "tool_result", s.thread.entries).get(part.id ?? ""));
  const running = room.store((s) => s.thread.answer !== null);
  const state = !result ? (running ? "runs" : "has no result") : result.is_error ? "failed" : "done";
  const mark = { runs: <Spinner />, "has no result": null, failed: <IconAlert />, done: <IconCheck /> }[state];
  return (
    <Fold
      label={`Tool ${part.name ?? ""}, ${state}`}
      face={
        <>
          <IconTool />
          <code className="truncate">{part.name}</code>
          <span className={cx("chat-tool-state", state === "failed" && "chat-tool-failed")}>{mark}</span>
        </>
      }
    >
      {() => (
        <>
          <h4>Input</h4>
          <pre tabIndex={0}>{jsonText(part.input)}</pre>
          {result && (
            <>
              <h4>{result.is_error ? "Error" : "Result"}</h4>
              <pre tabIndex={0}>{jsonText(result.output)}</pre>
            </>
          )}
        </>
      )}
    </Fold>
  );
}

export function ToolResult({ part }: { part: Part }) {
  const call = useRoom().store((s) => byId(calls, "tool_call", s.thread.entries).get(part.id ?? ""));
  const name = call?.name ?? "tool";
  return (
    <Fold
      label={`${part.is_error ? "Error" : "Result"} of ${name}`}
      face={
        <span className={cx("truncate", part.is_error && "chat-tool-failed")}>
          {part.is_error ? "Error" : "Result"} of <code>{name}</code>
        </span>
      }
    >
      {() => <pre tabIndex={0}>{jsonText(part.output)}</pre>}
    </Fold>
  );
}

export function Thinking({ text, running }: { text: string; running?: boolean }) {
  return (
    <Fold
      label={running ? "Thinking" : "Thoughts"}
      face={
        <span className="chat-thinking-face">
          {running ? "Thinking…" : "Thoughts"}
        </span>
      }
    >
      {() => <div className="chat-thinking">{text}</div>}
    </Fold>
  );
}
