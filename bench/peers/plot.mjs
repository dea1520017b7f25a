// SPDX-License-Identifier: Apache-2.0
//
// plot.mjs: the time of a fork against the length of the history, both axes logarithmic, as an SVG whose
// colours follow the reader's light or dark theme.
import { PEERS } from './peers.mjs';

const WIDTH = 860, HEIGHT = 520, LEFT = 76, RIGHT = 236, TOP = 56, BOTTOM = 52, LABEL_GAP = 15;

/** A colour that is readable on both grounds; engines of one peer share it, the second is dashed. */
const STYLE = { ramet: '#e4572e', sql: '#4f7cc4', opencode: '#2f9e6e', langgraph: '#a46bd6', claude: '#b8860b' };

const CSS = `text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-size:16px;font-weight:600}.note{fill:#59636e}
.ground{fill:#fff}.grid{stroke:#d1d9e0;stroke-width:1}.line{fill:none;stroke-width:2.25}.ours{stroke-width:3.5}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.note{fill:#9198a1}.grid{stroke:#3d444d}.ground{fill:#0d1117}}`;

const shortTime = (ms) => ms >= 1000 ? `${(ms / 1000).toLocaleString('en-US')} s` : `${ms} ms`;

/** Labels at the right, moved apart so that none covers another. */
function spread(labels) {
  const sorted = [...labels].sort((a, b) => a.y - b.y);
  for (let i = 1; i < sorted.length; i++) sorted[i].y = Math.max(sorted[i].y, sorted[i - 1].y + LABEL_GAP);
  const over = (sorted.at(-1)?.y ?? 0) - (HEIGHT - BOTTOM);
  if (over > 0) {
    sorted.at(-1).y -= over;
    for (let i = sorted.length - 2; i >= 0; i--) sorted[i].y = Math.min(sorted[i].y, sorted[i + 1].y - LABEL_GAP);
  }
  return sorted;
}

/** The SVG of a result of main.mjs. */
export function plot(result) {
  const { sizes } = result.scale;
  const lines = PEERS.filter((peer) => !peer.turnsOnly && result.fork[sizes[0]]?.[peer.key])
    .map((peer) => ({ ...peer, points: sizes.filter((n) => result.fork[n][peer.key]).map((n) => [n, result.fork[n][peer.key].ms]) }));
  const all = lines.flatMap((line) => line.points.map((p) => p[1]));
  const low = 10 ** Math.floor(Math.log10(Math.min(...all))), high = 10 ** Math.ceil(Math.log10(Math.max(...all)));
  const along = (v, from, to) => (Math.log10(v) - Math.log10(from)) / (Math.log10(to) - Math.log10(from));
  const x = (n) => LEFT + along(n, sizes[0], sizes.at(-1)) * (WIDTH - LEFT - RIGHT);
  const y = (ms) => HEIGHT - BOTTOM - along(ms, low, high) * (HEIGHT - TOP - BOTTOM);
  const fixed = (v) => v.toFixed(1);

  const parts = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="Time of a fork against the length of the history">`,
    `<style>${CSS.replace(/\n/g, '')}</style>`, `<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="title" x="${LEFT}" y="24">A fork at the middle of n messages</text>`,
    `<text class="note" x="${LEFT}" y="43">median time, both axes logarithmic, one run of ${result.date}</text>`];
  for (let ms = low; ms <= high * 1.001; ms *= 10)
    parts.push(`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${fixed(y(ms))}" y2="${fixed(y(ms))}"/>`,
      `<text class="note" x="${LEFT - 8}" y="${fixed(y(ms) + 4)}" text-anchor="end">${shortTime(Number(ms.toPrecision(1)))}</text>`);
  for (const n of sizes)
    parts.push(`<line class="grid" x1="${fixed(x(n))}" x2="${fixed(x(n))}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>`,
      `<text class="note" x="${fixed(x(n))}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${n.toLocaleString('en-US')}</text>`);
  parts.push(`<text class="note" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">messages in the history (the fork has half of them)</text>`);
  const labels = [];
  for (const { key, name, module, on, points } of lines) {
    const colour = STYLE[module], dashed = on === 'postgres' || on === 'memory' ? ' stroke-dasharray="7 4"' : '';
    parts.push(`<polyline class="line${module === 'ramet' ? ' ours' : ''}" stroke="${colour}"${dashed} points="${points.map(([n, ms]) => `${fixed(x(n))},${fixed(y(ms))}`).join(' ')}"><title>${key}</title></polyline>`);
    for (const [n, ms] of points) parts.push(`<circle cx="${fixed(x(n))}" cy="${fixed(y(ms))}" r="3" fill="${colour}"/>`);
    labels.push({ name, colour, y: y(points.at(-1)[1]), at: [x(points.at(-1)[0]), y(points.at(-1)[1])] });
  }
  for (const label of spread(labels))
    parts.push(`<line stroke="${label.colour}" x1="${fixed(label.at[0] + 5)}" y1="${fixed(label.at[1])}" x2="${WIDTH - RIGHT + 34}" y2="${fixed(label.y)}"/>`,
      `<text x="${WIDTH - RIGHT + 40}" y="${fixed(label.y + 4)}">${label.name}</text>`);
  return `${parts.join('\n')}\n</svg>\n`;
}
