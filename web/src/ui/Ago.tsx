// SPDX-License-Identifier: Apache-2.0
// Times as people say them. The exact time is in the title.

const DAY = 86_400_000;

/** "now", "5 min", "3 h", "Tue", "12 Mar", "12 Mar 2025". */
export function ago(at: string | number | Date, now: number = Date.now()): string {
  const then = new Date(at);
  const ms = now - then.getTime();
  if (ms < 60_000) return "now";
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < DAY) return `${Math.floor(ms / 3_600_000)} h`;
  if (ms < 6 * DAY) return then.toLocaleDateString(undefined, { weekday: "short" });
  const thisYear = then.getFullYear() === new Date(now).getFullYear();
  return then.toLocaleDateString(undefined, {
    day: "numeric",
    month: "short",
    year: thisYear ? undefined : "numeric",
  });
}

/** 850 -> "850 ms", 12_400 -> "12.4 s", 200_000 -> "3 min 20 s". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}

export function Ago({ at }: { at: string }) {
  return (
    <time className="nums" dateTime={at} title={new Date(at).toLocaleString()}>
      {ago(at)}
    </time>
  );
}
