// SPDX-License-Identifier: Apache-2.0
// Two to four sides next to each other: their shared beginning collapsed, then one row per turn.
import { useMemo, useState, type CSSProperties } from "react";
import type { CompareSide, Comparison, Entry, Session } from "../api/types";
import { chatPath, comparePath, follow, navigate } from "../app/router";
import { FAN_OUT } from "../state/forest";
import {
  Button,
  duration,
  EmptyState,
  IconAgent,
  IconBack,
  IconButton,
  IconClose,
  IconCompare,
  IconPlus,
  Note,
  Select,
  Spinner,
} from "../ui";
import { Markdown } from "../chat/Markdown";
import { MOST, useComparison } from "./load";
import { Message } from "./Message";
import { MAX_SIDES, openCompare } from "./open";
import { partner, rowsOf, type CompareRow } from "./rows";
import { Shared } from "./Shared";
import { costs, spent, tokens } from "./usage";
import { Verdict } from "./Verdict";
import "./compare.css";

/** Two sides of one name need a number to be distinguished. */
const numbered = (names: readonly string[]): string[] =>
  names.map((name, i) => {
    if (names.filter((n) => n === name).length === 1) return name;
    return `${name} (${names.slice(0, i + 1).filter((n) => n === name).length})`;
  });

/** The answers to one message of several agents are named by these, and so are sides whose titles do not tell them
 * apart; by their titles if the agents do not either. */
function namesOf(comparison: Comparison, sessions: ReadonlyMap<string, Session>): string[] {
  const { sides } = comparison;
  const titles = sides.map((s) => s.title || "New chat");
  const agents = sides.map((s) => s.agent?.name ?? "");
  const apart = (names: string[]) => new Set(names).size === names.length;
  const asked = sides.every((s) => sessions.get(s.session_id)?.forked_from?.reason === FAN_OUT);
  const byAgent = (asked || !apart(titles)) && apart(agents) && !agents.includes("");
  return numbered(byAgent ? agents : titles);
}

const isHead = (side: CompareSide) => side.head.branch_id === side.branch_id;

const placeOf = (side: CompareSide): string =>
  chatPath(
    side.session_id,
    isHead(side) ? {} : { branch: side.branch_id, entry: side.entries.at(-1)?.id },
  );

interface SideHeadProps {
  side: CompareSide;
  name: string;
  onRemove: (() => void) | null;
}

function SideHead({ side, name, onRemove }: SideHeadProps) {
  const ms = spent(side);
  const agent = [side.agent?.name, side.agent?.model].filter(Boolean).join(" · ");
  const facts = [
    side.own === 1 ? "1 message" : `${side.own.toLocaleString()} messages`,
    ms ? duration(ms) : "",
    tokens(side.usage),
    costs(side.usage),
  ].filter(Boolean);
  return (
    <div className="compare-side" role="columnheader">
      <div className="compare-side-name">
        <a className="truncate" href={placeOf(side)} onClick={follow}>
          {name}
        </a>
        {onRemove && (
          <IconButton
            small
            label={`Leave out ${name}`}
            icon={<IconClose size={14} />}
            onClick={onRemove}
          />
        )}
      </div>
      <div className="compare-facts nums">
        {agent && (
          <span className="compare-agent">
            <IconAgent size={13} />
            {agent}
          </span>
        )}
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </div>
    </div>
  );
}

function Cell({ entries, base }: { entries: readonly Entry[]; base: readonly Entry[] | null }) {
  return (
    <div className="compare-cell" role="cell">
      {entries.map((entry) => (
        <Message
          key={entry.id}
          entry={entry}
          base={base ? partner(entry, entries, base) : undefined}
        />
      ))}
      {entries.length === 0 && <span className="compare-none">Nothing more here</span>}
    </div>
  );
}

/** A row shows what is the same once; base is the index of the side that others are set against. */
function Turn({ row, base, sides }: { row: CompareRow; base: number | null; sides: readonly CompareSide[] }) {
  const count = sides.length;
  const agents = [...new Set(sides.flatMap((s) => s.agent?.name ?? []))].join(", ");
  return (
    <>
      {row.same.length > 0 && (
        <div className="compare-row" role="row">
          <div className="compare-same" role="cell" aria-colspan={count}>
            {row.same.map((entry) => (
              <Message key={entry.id} entry={entry} agents={agents} />
            ))}
          </div>
        </div>
      )}
      {row.cells.some((cell) => cell.length > 0) && (
        <div className="compare-row" role="row">
          {row.cells.map((cell, i) => (
            <Cell
              key={i}
              entries={cell}
              base={base === null || i === base ? null : row.cells[base]!}
            />
          ))}
        </div>
      )}
    </>
  );
}

function Answering({
  comparison,
  answering,
}: {
  comparison: Comparison;
  answering: ReadonlyMap<string, string>;
}) {
  const running = comparison.sides.map((s) =>
    isHead(s) ? answering.get(s.session_id) : undefined,
  );
  if (running.every((text) => text === undefined)) return null;
  return (
    <div className="compare-row" role="row">
      {running.map((text, i) => (
        <div key={i} className="compare-cell" role="cell">
          {text !== undefined && (
            <article
              className="compare-message compare-assistant"
              aria-label={comparison.sides[i]!.agent?.name ?? "Assistant"}
              aria-busy="true"
            >
              <div className="compare-who">
                {comparison.sides[i]!.agent?.name ?? "Assistant"} <Spinner label="Answering" />
              </div>
              <Markdown text={text} />
            </article>
          )}
        </div>
      ))}
    </div>
  );
}

function Body({
  sides,
  loaded,
  comparison,
  marking,
  base,
}: {
  sides: readonly string[];
  loaded: ReturnType<typeof useComparison>;
  comparison: Comparison;
  marking: boolean;
  base: number;
}) {
  const rows = useMemo(() => rowsOf(comparison), [comparison]);
  const names = useMemo(() => namesOf(comparison, loaded.sessions), [comparison, loaded.sessions]);
  const trees = new Set([...loaded.sessions.values()].map((s) => s.tree_id));
  const count = comparison.sides.length;
  const cut = comparison.sides.some((s) => s.own > s.entries.length);
  const remove = (i: number) => navigate(comparePath(sides.filter((_, k) => k !== i)), true);
  const same = new Set(comparison.sides.map((s) => s.head.prefix_hash)).size === 1;
  return (
    <>
      <div className="compare-scroll" tabIndex={0} role="region" aria-label="Sides">
        <div
          className="compare-table"
          role="table"
          aria-label="Comparison"
          style={{ "--sides": count } as CSSProperties}
        >
          <div className="compare-row compare-heads" role="row">
            {comparison.sides.map((side, i) => (
              <SideHead
                key={i}
                side={side}
                name={names[i]!}
                onRemove={count > 2 ? () => remove(i) : null}
              />
            ))}
          </div>
          <div role="row" className="compare-wide">
            <div role="cell" aria-colspan={count}>
              <Shared key={comparison.shared} comparison={comparison} />
            </div>
          </div>
          {same && (
            <div role="row" className="compare-wide">
              <div role="cell" aria-colspan={count} className="compare-split">
                They are the same
              </div>
            </div>
          )}
          {rows.map((row, i) => (
            <Turn key={i} row={row} base={marking ? base : null} sides={comparison.sides} />
          ))}
          <Answering comparison={comparison} answering={loaded.answering} />
          {cut && (
            <div role="row" className="compare-wide">
              <div role="cell" aria-colspan={count} className="compare-more">
                {loaded.more ? (
                  <Button small onClick={loaded.more}>
                    More messages
                  </Button>
                ) : (
                  <span className="muted">
                    The first {MOST.toLocaleString()} messages of each side are shown.
                  </span>
                )}
              </div>
            </div>
          )}
        </div>
      </div>
      {trees.size === 1 && <Verdict comparison={comparison} names={names} />}
    </>
  );
}

export default function SessionComparisonView({ sides }: { sides: string[] }) {
  const [marking, setMarking] = useState(false);
  const [chosen, setChosen] = useState(0);
  if (sides.length < 2 || sides.length > MAX_SIDES)
    return (
      <EmptyState icon={<IconCompare size={22} />} title="Nothing to compare yet">
        <p>Choose two to four chats, and they stand side by side, from where they part.</p>
        <Button
          variant="primary"
          onClick={() => openCompare(sides.map((s) => s.replace(/@[^@]*$/, "")))}
        >
          Choose chats
        </Button>
      </EmptyState>
    );
  return (
    <Compared
      sides={sides}
      marking={marking}
      setMarking={setMarking}
      base={Math.min(chosen, sides.length - 1)}
      setBase={setChosen}
    />
  );
}

interface ComparedProps {
  sides: string[];
  marking: boolean;
  setMarking: (on: boolean) => void;
  base: number;
  setBase: (side: number) => void;
}

function Compared({ sides, marking, setMarking, base, setBase }: ComparedProps) {
  const loaded = useComparison(sides);
  const { comparison, error, retry } = loaded;
  const ids = comparison?.sides.map((s) => s.session_id) ?? [];
  return (
    <div className="ui-view compare">
      <header className="ui-view-head">
        <IconButton
          label="Back to the chat"
          icon={<IconBack />}
          onClick={() => navigate(ids[0] ? chatPath(ids[0]) : "/")}
        />
        <h1>Compare</h1>
        <span className="compare-fill" />
        {marking && comparison && comparison.sides.length > 2 && (
          <Select
            label="Against"
            hideLabel
            title="Set the others against"
            value={base}
            onChange={(e) => setBase(Number(e.target.value))}
          >
            {namesOf(comparison, loaded.sessions).map((name, i) => (
              <option key={i} value={i}>
                {name}
              </option>
            ))}
          </Select>
        )}
        <Button small aria-pressed={marking} onClick={() => setMarking(!marking)}>
          Differences
        </Button>
        {sides.length < MAX_SIDES && (
          <IconButton label="Add a chat" icon={<IconPlus />} onClick={() => openCompare(ids)} />
        )}
      </header>
      {error && (
        <div className="compare-note">
          <Note tone="error" action={{ label: "Try again", run: retry }}>
            {error}
          </Note>
        </div>
      )}
      {!comparison && !error && (
        <div className="compare-wait">
          <Spinner label="Loading" />
        </div>
      )}
      {comparison && (
        <Body sides={sides} loaded={loaded} comparison={comparison} marking={marking} base={base} />
      )}
    </div>
  );
}
