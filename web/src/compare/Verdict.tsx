// SPDX-License-Identifier: Apache-2.0
// Which side is better and why: stored on the server together with earlier verdicts.
import { useCallback, useEffect, useState } from "react";
import { errorText } from "../api/client";
import { addVerdict, listVerdicts } from "../api/ramet";
import type { Comparison, Verdict as Given } from "../api/types";
import { Ago, Button, IconCheck, Note, TextField } from "../ui";

const REASON_MAX = 2000;
const TIE = -1;

const sideText = (side: { session_id: string; branch_id: string }) =>
  `${side.session_id}@${side.branch_id}`;

/** Verdicts about these chats, whatever has been said in them since. */
function about(verdicts: readonly Given[], comparison: Comparison): Given[] {
  const ours = comparison.sides
    .map((s) => s.session_id)
    .sort()
    .join("\n");
  return verdicts.filter(
    (v) =>
      v.sides
        .map((s) => s.session_id)
        .sort()
        .join("\n") === ours,
  );
}

/** Its winner as it stands in this comparison: the same branch, else the only side of that chat. */
function winnerOf(given: Given, comparison: Comparison): number {
  const side = given.winner == null ? undefined : given.sides[given.winner];
  if (!side) return TIE;
  const exact = comparison.sides.findIndex((s) => sideText(s) === sideText(side));
  return exact >= 0 ? exact : comparison.sides.findIndex((s) => s.session_id === side.session_id);
}

interface VerdictProps {
  comparison: Comparison;
  names: readonly string[];
}

function GivenRow({ given, comparison, names }: VerdictProps & { given: Given }) {
  const winner = winnerOf(given, comparison);
  return (
    <li>
      <IconCheck size={14} />
      <span>
        <strong>{winner === TIE ? "A tie" : names[winner]}</strong>
        {given.reason && <span> {given.reason}</span>}
      </span>
      <span className="muted">
        {given.by} · <Ago at={given.created_at} />
      </span>
    </li>
  );
}

export function Verdict({ comparison, names }: VerdictProps) {
  const [winner, setWinner] = useState<number | null>(null);
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [given, setGiven] = useState<Given[]>([]);
  const first = comparison.sides[0]!.session_id;
  const read = useCallback(
    () =>
      listVerdicts(first)
        .then((page) => setGiven(page.verdicts))
        .catch((e) => setError(errorText(e))),
    [first],
  );
  useEffect(() => void read(), [read]);
  const keep = async () => {
    if (winner === null) return;
    setBusy(true);
    setError(null);
    try {
      const sides = comparison.sides.map(sideText);
      await addVerdict({
        sides,
        winner: winner === TIE ? null : winner,
        reason: reason.trim(),
      });
      setWinner(null);
      setReason("");
      await read();
    } catch (e) {
      setError(errorText(e));
    } finally {
      setBusy(false);
    }
  };
  const choices = [...names.map((name, i) => ({ name, value: i })), { name: "A tie", value: TIE }];
  const told = about(given, comparison);
  return (
    <section className="compare-verdict" aria-label="Verdict">
      {told.length > 0 && (
        <ul className="compare-given">
          {told.map((one) => (
            <GivenRow key={one.number} given={one} comparison={comparison} names={names} />
          ))}
        </ul>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void keep();
        }}
      >
        <fieldset>
          <legend>Which is better?</legend>
          {choices.map(({ name, value }) => (
            <label key={value} className="compare-pick">
              <input
                type="radio"
                name="winner"
                checked={winner === value}
                onChange={() => setWinner(value)}
              />
              <span className="truncate">{name}</span>
            </label>
          ))}
        </fieldset>
        <TextField
          label="Reason"
          placeholder="Why?"
          hideLabel
          maxLength={REASON_MAX}
          value={reason}
          onChange={(e) => setReason(e.target.value)}
        />
        <Button type="submit" variant="primary" busy={busy} disabled={winner === null}>
          Keep verdict
        </Button>
      </form>
      {error && <Note tone="error">{error}</Note>}
    </section>
  );
}
