// SPDX-License-Identifier: Apache-2.0
//
// opencode.mjs: OpenCode's server (npm opencode-ai) behind its HTTP API, offline, in a home of its own.
// Histories come in through /sync/replay, which stores the same rows and events as a conversation would,
// without the intermediate states of a streamed answer. It takes milliseconds for each part, so all but
// the first messages of a long history are written into its database, as the rows that a replay leaves.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { file } from '../../tests/server/help/packages.mjs';
import { client, folder, freePort, halt, launch, quoted, ready, sqliteBytes, sqliteShell, until } from './measure.mjs';
import { message, note } from './history.mjs';

const MODEL = { providerID: 'none', modelID: 'none' };
const MAX_REPLAYED = 100; // messages
const ROWS_A_CALL = 2000;
const began = Date.now();

let ids = 0;
/** Ids ascend, as its own do: 12 hexadecimal digits of time, then 14 more characters. */
const newId = (kind) => {
  const n = ++ids;
  return `${kind}_${(BigInt(began) * 4096n + BigInt(n)).toString(16).padStart(12, '0').slice(-12)}${n.toString(36).padStart(14, '0')}`;
};

const tokens = { input: 900, output: 500, reasoning: 100, cache: { read: 0, write: 0 } };

/** Info and parts of the message at a position. */
function stored(sessionID, position, parentID, directory) {
  const m = message(position), id = newId('msg'), created = began + position * 1000;
  const part = (fields) => ({ id: newId('prt'), sessionID, messageID: id, ...fields });
  if (m.role === 'user')
    return { info: { id, sessionID, role: 'user', time: { created }, agent: 'build', model: MODEL }, parts: [part({ type: 'text', text: m.text })] };
  return {
    info: { id, sessionID, role: 'assistant', parentID, ...MODEL, mode: 'build', agent: 'build', path: { cwd: directory, root: '/' },
      cost: 0, tokens, time: { created, completed: created + 900 }, finish: 'stop' },
    parts: [
      part({ type: 'step-start' }),
      part({ type: 'reasoning', text: m.reasoning, time: { start: created, end: created + 100 } }),
      part({ type: 'tool', callID: `c${position}`, tool: m.tool.name, state: { status: 'completed', input: m.tool.input, output: m.tool.output,
        title: m.tool.input.path, metadata: {}, time: { start: created + 100, end: created + 200 } } }),
      part({ type: 'text', text: m.text, time: { start: created + 200, end: created + 900 } }),
      part({ type: 'step-finish', reason: 'stop', cost: 0, tokens })],
  };
}

/** The rows that the replay of an event leaves. */
function rowsOf({ id, aggregateID, seq, type, data }) {
  const row = (table, ...values) => `INSERT INTO ${table} VALUES (${values.map((v) => (typeof v === 'number' ? v : quoted(v))).join(', ')})`;
  const rows = [row('event', id, aggregateID, seq, type, JSON.stringify(data))];
  if (data.info) {
    const { id: message_, sessionID, ...info } = data.info;
    rows.push(row('message', message_, sessionID, info.time.created, info.time.created, JSON.stringify(info)));
  } else {
    const { id: part, sessionID, messageID, ...fields } = data.part;
    rows.push(row('part', part, messageID, sessionID, data.time, data.time, JSON.stringify(fields)));
  }
  return rows;
}

async function rowsPut(db, events) {
  const shell = await sqliteShell(db);
  for (let i = 0; i < events.length; i += ROWS_A_CALL)
    await shell.run(`BEGIN IMMEDIATE;\n${events.slice(i, i + ROWS_A_CALL).flatMap(rowsOf).join(';\n')};\n
      UPDATE event_sequence SET seq = ${events.at(-1).seq} WHERE aggregate_id = ${quoted(events[0].aggregateID)}; COMMIT`);
  await shell.close();
}

export async function open() {
  const program_ = await file(`opencode-linux-${process.arch}/bin/opencode`);
  const directory = folder('opencode/work');
  const env = { HOME: folder('opencode/home') };
  for (const kind of ['CONFIG', 'DATA', 'CACHE', 'STATE']) env[`XDG_${kind}_HOME`] = folder(`opencode/${kind.toLowerCase()}`);
  writeFileSync(join(directory, 'opencode.json'), JSON.stringify({ autoupdate: false, share: 'disabled', snapshot: false,
    model: 'none/none', small_model: 'none/none', enabled_providers: ['none'],
    provider: { none: { npm: '@ai-sdk/openai-compatible', options: { baseURL: 'http://127.0.0.1:9/v1', apiKey: 'none' }, models: { none: {} } } } }));
  const db = join(env.XDG_DATA_HOME, 'opencode', 'opencode.db');
  let program, http, version;
  async function start() {
    const port = await freePort();
    program = launch(program_, ['serve', '--port', String(port), '--hostname', '127.0.0.1'], { env, cwd: directory });
    await ready(program, /listening on/);
    http = client(`http://127.0.0.1:${port}`, 16);
    ({ version } = await http.ask('GET', '/global/health'));
  }
  await start();
  const project = await http.ask('POST', '/session', {});

  return {
    version,
    bytes: () => sqliteBytes(db),
    async seed(name, n) {
      const id = newId('ses'), created = began;
      const events = [];
      const event = (type, data) => events.push({ id: newId('evt'), aggregateID: id, seq: events.length, type, data: { sessionID: id, ...data } });
      event('session.created.1', { info: { ...project, id, slug: name.replace(/\W/g, '-'), title: name, time: { created, updated: created } } });
      const messages = [];
      let replayed = 0;
      for (let i = 0; i < n; i++) {
        const { info, parts } = stored(id, i, messages[i - 1], directory);
        messages.push(info.id);
        event('message.updated.1', { info });
        for (const part of parts) event('message.part.updated.1', { part, time: info.time.created });
        if (i < MAX_REPLAYED) replayed = events.length;
      }
      await http.ask('POST', '/sync/replay', { directory, events: events.slice(0, replayed) });
      if (events.length > replayed) await rowsPut(db, events.slice(replayed));
      return { id, n, messages };
    },
    /** Its fork point is exclusive. */
    fork: (chat) => http.ask('POST', `/session/${chat.id}/fork`, { messageID: chat.messages[chat.n / 2] }),
    count: async (forked) => (await http.ask('GET', `/session/${forked.id}/message`)).length,
    readAll: async (chat) => (await http.ask('GET', `/session/${chat.id}/message`)).length,
    readLast: async (chat) => (await http.ask('GET', `/session/${chat.id}/message?limit=50`)).length,
    async write(chat, writers, each) {
      await Promise.all(Array.from({ length: writers }, async (_, w) => {
        for (let i = 0; i < each; i++)
          await http.ask('POST', `/session/${chat.id}/message`, { noReply: true, model: MODEL, agent: 'build', parts: [{ type: 'text', text: note(w, i) }] });
      }));
      return (await http.ask('GET', `/session/${chat.id}/message`)).length - chat.n;
    },
    /** Kills the server in the middle of a fork: how much of it is there after a restart. */
    async killInFork(chat) {
      const before = new Set((await http.ask('GET', '/session?limit=1000')).map((s) => s.id));
      const forking = http.ask('POST', `/session/${chat.id}/fork`, { messageID: chat.messages[chat.n / 2] }).then(() => 'answered', () => 'cut off');
      const begun = async () => (await http.ask('GET', '/session?limit=1000')).find((s) => !before.has(s.id));
      const half = await until(begun, 'the fork before the kill');
      await until(async () => (await http.ask('GET', `/session/${half.id}/message?limit=20`)).length >= 20, 'messages of the fork');
      await halt(program, 'SIGKILL');
      const how = await forking;
      http.close();
      await start();
      const left = (await http.ask('GET', '/session?limit=1000')).filter((s) => !before.has(s.id));
      return { how, sessions: left.length, messages: left[0] ? (await http.ask('GET', `/session/${left[0].id}/message`)).length : 0, of: chat.n / 2 };
    },
    async close() {
      http.close();
      await halt(program);
    },
  };
}
