// SPDX-License-Identifier: Apache-2.0
//
// report.mjs: the tables of a result of main.mjs, for a terminal and for docs/performance.md, and the bars.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PEERS, nameOf } from './peers.mjs';
import { plot } from './plot.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const docs = join(here, '..', '..', 'docs');
/** The run that the documents show. */
export const RESULT = join(here, 'result.json');
export const PAGE = join(docs, 'performance.md');
export const IMAGE = join(docs, 'images', 'peers.svg');

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
/** Three significant digits. */
const figure = (v) => Math.abs(v) >= 100 ? whole.format(Number(v.toPrecision(3))) : String(Number(v.toPrecision(Math.abs(v) < 1 ? 2 : 3)));
const time = (ms) => ms >= 10000 ? `${figure(ms / 1000)} s` : `${figure(ms)} ms`;
const size = (bytes) => bytes < 10000 ? `${figure(bytes)} B` : bytes < 1e6 ? `${figure(bytes / 1e3)} KB` : bytes < 1e9 ? `${figure(bytes / 1e6)} MB` : `${figure(bytes / 1e9)} GB`;
const count = (n) => whole.format(n);

const has = (result) => PEERS.map((peer) => peer.key).filter((key) => key in result.versions);

/**
 * Rows with a bar: {what, value, unit, least or most, ok}; those whose peers were not measured are left
 * out. A quick run has other sizes, and none.
 */
export function bars(result) {
  const rows = [];
  if (result.quick) return rows;
  const row = (what, value, unit, bar) => Number.isFinite(value) && rows.push({ what, value, unit, ...bar, ok: 'least' in bar ? value >= bar.least : value <= bar.most });
  const fork = (n, key) => result.fork[n]?.[key]?.ms, bytes = (key) => result.forks?.[key]?.bytes;
  const of = result.scale.forksOf, long = result.scale.sizes.at(-1);
  row(`fork against OpenCode's, at the middle of ${count(of)} messages`, fork(of, 'opencode') / fork(of, 'ramet-sqlite'), '×', { least: 1000 });
  for (const [on, name] of [['sqlite', 'SQLite'], ['postgres', 'PostgreSQL']])
    row(`fork against a copy in SQL, at the middle of ${count(long)} messages, ${name}`, fork(long, `sql-${on}`) / fork(long, `ramet-${on}`), '×', { least: 300 });
  row(`bytes of a fork against OpenCode's, ${count(of)} messages`, bytes('ramet-sqlite') / bytes('opencode'), '', { most: 0.001 });
  for (const [on, name] of [['sqlite', 'SQLite'], ['postgres', 'PostgreSQL']])
    row(`bytes of a fork against a copy in SQL, ${count(of)} messages, ${name}`, bytes(`ramet-${on}`) / bytes(`sql-${on}`), '', { most: 0.001 });
  return rows;
}

const ratio = ({ value, unit }) => unit === '×' ? `${figure(value)} ×` : value === 0 ? '0' : `1/${count(Number((1 / value).toPrecision(3)))}`;
const limit = ({ least, most, unit }) => least ? `≥ ${count(least)} ${unit}` : `≤ 1/${count(1 / most)}`;

/** Tables: {title, head: [...], rows: [[...]]}; the first column is the peer or what was measured. */
export function tables(result) {
  const { scale } = result, keys = has(result), forked = keys.filter((key) => Object.values(result.fork).some((row) => row[key]));
  const cell = (value, show) => value === undefined || value === null ? '–' : show(value);
  const odd = (n, f) => f.messages === n / 2 ? '' : ` (shows ${count(f.messages)} messages)`;
  const barred = bars(result).map((b) => [b.what, ratio(b), limit(b), b.ok ? 'ok' : 'MISSED']);
  const out = [
    ...(barred.length ? [{ title: 'Bars', head: ['what', 'measured', 'bar', ''], rows: barred }] : []),
    { title: 'A fork at the middle of n messages, median', head: ['', ...scale.sizes.map((n) => `n = ${count(n)}`)],
      rows: forked.map((key) => [nameOf(key), ...scale.sizes.map((n) => cell(result.fork[n][key], (f) => time(f.ms) + odd(n, f)))]) },
  ];
  if (result.forks)
    out.push({ title: `${count(scale.forks)} forks of one chat of ${count(scale.forksOf)} messages`, head: ['', 'time', 'bytes a fork'],
      rows: forked.filter((key) => result.forks[key]).map((key) => [nameOf(key), time(result.forks[key].ms) + (result.forks[key].made < scale.forks ? ` for ${result.forks[key].made}` : ''), cell(result.forks[key].bytes, size)]) });
  if (result.turns)
    out.push({ title: 'Bytes of a conversation', head: ['', ...scale.turns.map((t) => `${count(t)} turns`)],
      rows: keys.filter((key) => result.turns[scale.turns[0]]?.[key]).map((key) => [nameOf(key), ...scale.turns.map((t) => cell(result.turns[t]?.[key], (x) =>
        x.made === t ? size(x.bytes) : `${size(x.bytes)} at turn ${count(x.made)}, stopped`))]) });
  if (result.write)
    out.push({ title: `Appends by ${scale.writers} writers on one session`, head: ['', 'a second', 'there afterwards'],
      rows: forked.filter((key) => result.write[key]).map((key) => [nameOf(key), figure(result.write[key].perSecond), `${count(result.write[key].kept)} of ${count(result.write[key].written)}`]) });
  const readAt = scale.sizes.filter((n) => n >= 1000 || n === scale.sizes.at(-1));
  out.push({ title: 'Reading', head: ['', ...readAt.flatMap((n) => [`all of ${count(n)}`, 'last 50'])],
    rows: forked.filter((key) => result.read[readAt[0]][key]?.readAll).map((key) => [nameOf(key), ...readAt.flatMap((n) => ['readAll', 'readLast'].map((c) => cell(result.read[n][key]?.[c], time)))]) });
  if (Object.keys(result.copy ?? {}).length) {
    const ns = Object.keys(result.copy);
    out.push({ title: 'All checkpoints up to the middle, copied to another thread', head: ['', ...ns.flatMap((n) => [`n = ${count(n)}`, 'bytes'])],
      rows: forked.filter((key) => ns.some((n) => result.copy[n][key])).map((key) => [nameOf(key), ...ns.flatMap((n) => [cell(result.copy[n][key], (c) => time(c.ms)), cell(result.copy[n][key], (c) => size(c.bytes))])]) });
  }
  return out;
}

/** What was left after a SIGKILL in the middle of a fork. */
export function kills(result) {
  const { opencode, ...ramet } = result.kill ?? {}, lines = [];
  if (opencode) lines.push(`SIGKILL in a fork, OpenCode: ${opencode.sessions} session left, with ${opencode.messages} of ${opencode.of} messages`);
  for (const [key, k] of Object.entries(ramet)) lines.push(`SIGKILL among forks, ${nameOf(key)}: ${k.answered} answered, ${k.lost} lost, ${k.partial} incomplete`);
  return lines;
}

const versions = (result) => Object.entries(result.versions).map(([key, version]) => `${nameOf(key)}: ${version}`);
const missing = (result) => Object.entries(result.missing).map(([key, why]) => `${nameOf(key)}: not measured, ${why}`);

/** For a terminal. */
export function text(result) {
  const { machine } = result;
  const lines = [`${result.date}, ${machine.processor}, ${machine.cores} cores, ${machine.files}, Node ${machine.node}, ${result.seconds} seconds`, ...versions(result), ...missing(result)];
  for (const { title, head, rows } of tables(result)) {
    const width = head.map((_, i) => Math.max(...[head, ...rows].map((r) => r[i].length)));
    const line = (r) => r.map((c, i) => (i ? c.padStart(width[i]) : c.padEnd(width[i]))).join('  ').trimEnd();
    lines.push('', title, line(head), ...rows.map(line));
  }
  const all = bars(result);
  return [...lines, '', ...kills(result), ...(all.length ? ['', `${all.filter((b) => b.ok).length} of ${all.length} bars reached`] : [])].join('\n');
}

/** For the page: what stands between its two marks. */
export function markdown(result) {
  const { machine } = result;
  const lines = [`One run on ${result.date} (${machine.processor}, ${machine.cores} cores, ${machine.files}, Node ${machine.node}; ${result.seconds} seconds).`, ...versions(result).map((v) => `- ${v}`), ...missing(result).map((v) => `- ${v}`)];
  for (const { title, head, rows } of tables(result))
    lines.push('', `**${title}**`, '', `| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`, ...rows.map((r) => `| ${r.join(' | ')} |`));
  return ['', ...lines, '', ...kills(result).map((k) => `- ${k}`), ''].map((l) => l.trimEnd()).join('\n');
}

const MARKED = /(<!-- peers -->\n)[^]*(\n<!-- \/peers -->)/;

/** What the page shows between its marks. */
export const shown = () => MARKED.exec(readFileSync(PAGE, 'utf8'))?.[0];
export const marked = (result) => `<!-- peers -->\n${markdown(result)}\n<!-- /peers -->`;

/** Puts a result into the documents. */
export function publish(path) {
  copyFileSync(path, RESULT);
  const result = JSON.parse(readFileSync(RESULT, 'utf8'));
  writeFileSync(IMAGE, plot(result));
  writeFileSync(PAGE, readFileSync(PAGE, 'utf8').replace(MARKED, () => marked(result)));
}
