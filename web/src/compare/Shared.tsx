// SPDX-License-Identifier: Apache-2.0
// The beginning shared by all sides, collapsed; when expanded it is read backwards from its end.
import { useState } from "react";
import { errorText } from "../api/client";
import { listEntries } from "../api/ramet";
import type { Comparison, Entry } from "../api/types";
import { Button, IconChevronDown, IconChevronRight, Note } from "../ui";
import { Message } from "./Message";

const PAGE = 20;

export function Shared({ comparison }: { comparison: Comparison }) {
  const { shared, sides } = comparison;
  const [open, setOpen] = useState(false);
  const [entries, setEntries] = useState<Entry[]>([]);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const first = sides[0]!;
  const read = async () => {
    const to = shared - entries.length;
    const from = Math.max(0, to - PAGE);
    setBusy(true);
    setError(null);
    try {
      const page = await listEntries(first.session_id, {
        from,
        limit: to - from,
        branch: first.branch_id,
      });
      setEntries((was) => [...page.entries, ...was]);
    } catch (e) {
      setError(errorText(e));
    } finally {
      setBusy(false);
    }
  };
  const toggle = () => {
    setOpen(!open);
    if (!open && entries.length === 0) void read();
  };
  if (shared === 0) return <p className="compare-split">Nothing in common</p>;
  return (
    <section className="compare-shared" aria-label="In common">
      <Button
        small
        variant="ghost"
        icon={open ? <IconChevronDown /> : <IconChevronRight />}
        aria-expanded={open}
        onClick={toggle}
      >
        {shared === 1 ? "1 message in common" : `${shared.toLocaleString()} messages in common`}
      </Button>
      {open && (
        <div className="compare-common">
          {error && (
            <Note tone="error" action={{ label: "Try again", run: () => void read() }}>
              {error}
            </Note>
          )}
          {entries.length < shared && !error && (
            <Button small busy={busy} onClick={() => void read()}>
              Earlier messages
            </Button>
          )}
          {entries.map((entry) => (
            <Message key={entry.id} entry={entry} />
          ))}
        </div>
      )}
      <p className="compare-split">They part here</p>
    </section>
  );
}
