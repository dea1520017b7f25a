// SPDX-License-Identifier: Apache-2.0
//
// main.mjs: measures Ramet and its peers with the same history, in one run on one machine, and prints the
// table of docs/performance.md.
//
//   node bench/peers/main.mjs [OUT]       writes OUT.json and OUT.svg (default build/bench-peers)
//   node bench/peers/main.mjs --publish OUT.json
//                                         puts the result of a run into the documents
//
//   QUICK=1          small sizes, one or two minutes
//   PEERS=ramet,sql  only peers whose keys begin so (peers.mjs)
//   PATIENCE=20      seconds that a peer may take for one step; what was not reached in it is reported so
//
// A peer that cannot be installed or started is named with the reason and left out. Each step alternates
// between the peers, so that a slow moment of the machine affects all of them; times are medians.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { cleanUp, median, root, timed } from './measure.mjs';
import { FULL, PEERS, QUICK } from './peers.mjs';
import { publish, text } from './report.mjs';
import { plot } from './plot.mjs';

const scale = process.env.QUICK ? QUICK : FULL;
const patienceMs = Number(process.env.PATIENCE ?? 20) * 1000;
const only = (process.env.PEERS ?? '').split(',');
const progress = (what) => process.stderr.write(`# ${what}\n`);

/** Opens all peers: those that run, by key, and why others do not. */
async function openAll() {
  const peers = {}, missing = {};
  for (const { key, module, on, options } of PEERS.filter((p) => only.some((start) => p.key.startsWith(start))))
    try {
      peers[key] = await (await import(`./${module}.mjs`)).open(on, options);
    } catch (e) {
      missing[key] = e.message.split('\n')[0];
      progress(`${key}: ${missing[key]}`);
    }
  return { peers, missing };
}

const turnsOnly = (key) => PEERS.find((peer) => peer.key === key).turnsOnly;

/** Runs a step with each peer that has a call of that name; one that fails is named and left out from then on. */
async function withEach({ peers, missing }, call, run) {
  for (const [key, peer] of Object.entries(peers).filter(([, p]) => p[call]))
    try {
      await run(key, peer);
    } catch (e) {
      missing[key] = `it failed: ${e.message.split('\n')[0]}`;
      progress(`${key}: ${missing[key]}`);
      delete peers[key];
    }
}
/** The same with peers that are measured as a whole. */
const withWhole = (all, call, run) => withEach(all, call, async (key, peer) => turnsOnly(key) || run(key, peer));

/** Forks in the middle of chats of n messages, alternating. */
async function forkStep(all, n) {
  const chats = {}, samples = {}, last = {}, result = {};
  await withWhole(all, 'fork', async (key, peer) => {
    chats[key] = await peer.seed(`chat of ${n}`, n);
    samples[key] = [];
  });
  const sum = (key) => samples[key].reduce((total, ms) => total + ms, 0);
  const another = (key) => !samples[key].length || sum(key) + sum(key) / samples[key].length < patienceMs;
  for (let round = 0; round < scale.rounds; round++) {
    execFileSync('sync'); // a durable fork must not wait for what another peer has left unwritten
    await withWhole(all, 'fork', async (key, peer) => {
      if (!another(key)) return;
      const { ms, result: fork } = await timed(() => peer.fork(chats[key]));
      samples[key].push(ms);
      last[key] = fork;
    });
  }
  await withWhole(all, 'count', async (key, peer) => {
    result[key] = { ms: median(samples[key]), least: Math.min(...samples[key]), samples: samples[key].length, messages: await peer.count(last[key]) };
  });
  return { chats, result };
}

/** All messages of a chat, and the last 50 of it, for peers that have such calls. */
async function readStep(all, chats) {
  const result = {};
  for (const call of ['readAll', 'readLast'])
    await withWhole(all, call, async (key, peer) => {
      const samples = [];
      for (let i = 0; i < 3; i++) samples.push((await timed(() => peer[call](chats[key]))).ms);
      (result[key] ??= {})[call] = median(samples);
    });
  return result;
}

/** Many forks of one chat: the time of all and the bytes of one. */
async function forksStep(all, chats) {
  const result = {};
  await withWhole(all, 'fork', async (key, peer) => {
    const before = await peer.bytes?.();
    const began = performance.now();
    let made = 0;
    while (made < scale.forks && (made < 2 || performance.now() - began < 3 * patienceMs)) {
      await peer.fork(chats[key]);
      made++;
    }
    const ms = performance.now() - began;
    result[key] = { made, ms, bytes: peer.bytes ? (await peer.bytes() - before) / made : null };
  });
  return result;
}

/** Copies of all checkpoints to another thread: LangGraph alone has that kind of fork as well. */
async function copyStep(all) {
  const result = {};
  await withWhole(all, 'copy', async (key, peer) => {
    for (const n of scale.sizes.filter((size) => size <= 1000)) {
      const began = performance.now(), chat = await peer.seedTurns(n, () => performance.now() - began > patienceMs);
      if (!chat) break;
      const before = await peer.bytes();
      const { ms, result: copy } = await timed(() => peer.copy(chat));
      (result[n] ??= {})[key] = { ms, bytes: await peer.bytes() - before, messages: await peer.copied(copy) };
    }
  });
  return result;
}

/** Bytes that a conversation takes after so many turns. */
async function turnsStep(all) {
  const result = {};
  for (const turns of scale.turns)
    await withEach(all, 'bytes', async (key, peer) => {
      if (Object.values(result).some((fewer) => fewer[key]?.stopped)) return;
      const before = await peer.bytes(), began = performance.now();
      const enough = () => performance.now() - began > 2 * patienceMs;
      const made = peer.turns ? await peer.turns(turns, enough) : (await peer.seed(`${turns} turns`, 2 * turns, 2), turns);
      (result[turns] ??= {})[key] = { made, bytes: await peer.bytes() - before, stopped: made < turns };
    });
  return result;
}

/** Writers on one session at once: how fast, and whether all that was answered is there. */
async function writeStep(all) {
  const result = {};
  await withWhole(all, 'write', async (key, peer) => {
    const chat = await peer.seed('many writers', 100);
    const { ms, result: kept } = await timed(() => peer.write(chat, scale.writers, scale.each));
    const written = scale.writers * scale.each;
    result[key] = { perSecond: written / ms * 1000, written, kept };
  });
  return result;
}

async function killStep(all, chats) {
  const result = {};
  await withWhole(all, 'killInFork', async (key, peer) => {
    result[key] = await peer.killInFork(chats[key]);
  });
  return result;
}

/** `keep` is called with the result so far after each step. */
async function measure(keep) {
  const all = await openAll(), { peers, missing } = all, began = Date.now();
  const out = { date: new Date().toISOString().slice(0, 10), seconds: 0, quick: Boolean(process.env.QUICK), patience: patienceMs / 1000, scale,
    machine: { processor: cpus()[0].model, cores: cpus().length, node: process.version, files: execFileSync('stat', ['-f', '-c', '%T', root], { encoding: 'utf8' }).trim() },
    versions: Object.fromEntries(Object.entries(peers).map(([key, peer]) => [key, peer.version])), missing, fork: {}, read: {} };
  const step = async (what, run) => {
    progress(what);
    await run();
    out.seconds = Math.round((Date.now() - began) / 1000);
    keep(out);
  };
  let chats;
  for (const n of scale.sizes)
    await step(`forks of ${n} messages`, async () => {
      const forked = await forkStep(all, n);
      out.fork[n] = forked.result;
      if (n === scale.forksOf) ({ chats } = forked);
      out.read[n] = await readStep(all, forked.chats);
    });
  await step(`${scale.forks} forks`, async () => (out.forks = await forksStep(all, chats)));
  await step('writers', async () => (out.write = await writeStep(all)));
  await step('kills', async () => (out.kill = await killStep(all, chats)));
  await step('turns', async () => (out.turns = await turnsStep(all)));
  await step('copies of checkpoints', async () => (out.copy = await copyStep(all)));
  await withEach(all, 'close', (key, peer) => peer.close());
  return out;
}

if (process.argv[2] === '--publish') {
  publish(process.argv[3]);
  await cleanUp();
} else {
  const to = process.argv[2] ?? 'build/bench-peers';
  mkdirSync(dirname(to), { recursive: true });
  try {
    const result = await measure((out) => writeFileSync(`${to}.json`, `${JSON.stringify(out, null, 1)}\n`));
    writeFileSync(`${to}.svg`, plot(result));
    console.log(text(result));
  } finally {
    await cleanUp();
  }
  process.exit(0);
}
