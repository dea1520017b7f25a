// SPDX-License-Identifier: Apache-2.0
// The drawing next to the visible rows: rails, curves where a branch leaves, and nodes.
import { memo } from "react";
import type { TimelineNode } from "./graph";
import type { Placed } from "./layout";

export const LANE = 16;
/** Lanes past these are drawn on the last one. */
export const MAX_LANES = 24;

const HUES = 8;
const LEFT = 12;

export const laneX = (lane: number): number => LEFT + Math.min(lane, MAX_LANES - 1) * LANE;
export const graphWidth = (lanes: number): number => laneX(Math.max(0, lanes - 1)) + LEFT;
const hue = (lane: number): string => `var(--hue-${lane % HUES})`;

interface LanesProps {
  rows: readonly Placed<TimelineNode>[];
  from: number;
  to: number;
  lanes: number;
  height: number;
  currentId: string;
}

/** Those that cross what is in sight; of many on the last lane the eye sees one. */
function railsIn(rows: LanesProps["rows"], from: number, to: number): Placed<TimelineNode>[] {
  const found: Placed<TimelineNode>[] = [];
  let last = false;
  for (const r of rows) {
    if (r.row > to) break;
    if (r.railTo <= r.row || r.railTo < from) continue;
    const crowded = r.lane >= MAX_LANES - 1 && r.row < from && r.railTo > to;
    if (!(crowded && last)) found.push(r);
    last ||= crowded;
  }
  return found;
}

function Rails({ rows, from, to, height }: LanesProps) {
  const y = (row: number) => (row - from + 0.5) * height;
  return railsIn(rows, from, to).map((r) => (
    <line
      key={r.node.id}
      x1={laneX(r.lane)}
      x2={laneX(r.lane)}
      y1={y(Math.max(r.row, from - 1))}
      y2={y(Math.min(r.railTo, to + 1))}
      stroke={hue(r.lane)}
    />
  ));
}

/** From the parent's lane, half a row above, round into the lane of the child. */
function Curves({ rows, from, to, height }: LanesProps) {
  return rows.slice(from, Math.min(to + 2, rows.length)).map((r) => {
    if (r.parentRow < 0 || r.lane === r.parentLane) return null;
    const y = (r.row - from + 0.5) * height;
    const [x0, x1] = [laneX(r.parentLane), laneX(r.lane)];
    const top = y - height * 0.6;
    return (
      <path
        key={r.node.id}
        d={`M${x0} ${top} C${x0} ${y - 2}, ${x0 + (x1 - x0) * 0.3} ${y}, ${x1} ${y}`}
        stroke={hue(r.lane)}
      />
    );
  });
}

function Dot({
  placed,
  y,
  current,
}: {
  placed: Placed<TimelineNode>;
  y: number;
  current: boolean;
}) {
  const { node, lane } = placed;
  const x = laneX(lane);
  const color = node.session ? hue(lane) : "var(--line-strong)";
  const faint = !node.session || node.session.expires_at != null;
  const solid = node.kind === "session" && !faint;
  return (
    <g>
      {current && <circle cx={x} cy={y} r={8.5} className="timeline-here" />}
      <circle
        cx={x}
        cy={y}
        r={node.kind === "session" ? 5 : 4}
        stroke={color}
        fill={solid && node.head ? color : "var(--bg)"}
        strokeDasharray={faint ? "2 2" : undefined}
      />
    </g>
  );
}

export const Lanes = memo(function Lanes(props: LanesProps) {
  const { rows, from, to, lanes, height, currentId } = props;
  return (
    <svg
      className="timeline-lanes"
      width={graphWidth(Math.min(lanes, MAX_LANES))}
      height={(to - from + 1) * height}
      style={{ top: from * height }}
      aria-hidden="true"
    >
      <Rails {...props} />
      <Curves {...props} />
      {rows.slice(from, to + 1).map((r) => (
        <Dot
          key={r.node.id}
          placed={r}
          y={(r.row - from + 0.5) * height}
          current={r.node.kind === "session" && r.node.id === currentId}
        />
      ))}
    </svg>
  );
});
