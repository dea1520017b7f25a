// SPDX-License-Identifier: Apache-2.0
//
// ramet.mjs: Ramet behind its HTTP API, on SQLite or PostgreSQL, with default settings: commits are
// durable, every read is verified against the hash chain.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { client, folder, halt, launch, postgresBytes, postgresDatabase, ready, settled, sqliteBytes, until } from './measure.mjs';
import { message, note } from './history.mjs';

const RAMET = process.env.RAMET ?? join('build', 'ramet');
const API = '/ramet/v1/sessions';
const BATCH = 500;

const entryId = (position) => `e${position}`;

function entry(position) {
  const m = message(position), id = entryId(position);
  if (m.role === 'user') return { id, role: 'user', text: m.text };
  return { id, role: 'assistant', parts: [
    { type: 'data', data: { step: 'start' } },
    { type: 'thinking', text: m.reasoning },
    { type: 'tool_call', id: `c${position}`, name: m.tool.name, input: m.tool.input },
    { type: 'tool_result', id: `c${position}`, output: m.tool.output },
    { type: 'text', text: m.text },
    { type: 'data', data: { step: 'finish', reason: 'stop', tokens: { input: 900, output: 500 } } }] };
}

/** on: 'sqlite' or 'postgres'. */
export async function open(on) {
  const version = execFileSync(RAMET, ['version'], { encoding: 'utf8' }).trim();
  const db = on === 'sqlite' ? join(folder('ramet'), 'store.db') : postgresDatabase('ramet_peer');
  let program, http;
  async function start() {
    program = launch(RAMET, ['serve', '--listen', '127.0.0.1:0', '--db', db]);
    const said = await ready(program, /^listening on (http:\/\/\S+)/m);
    http = client(said[1], 16);
  }
  await start();

  const append = (id, entries) => http.ask('POST', `${API}/${id}/entries`, { entries });
  const fork = (chat) => http.ask('POST', `${API}/${chat.id}/fork`, { at: { entry_id: entryId(chat.n / 2 - 1), side: 'after' } });

  return {
    version,
    /** Once the search index, which is written in the background, has caught up. */
    bytes: () => settled(() => on === 'sqlite' ? sqliteBytes(db) : postgresBytes(db)),
    fork,
    async seed(name, n, each = BATCH) {
      const { id } = await http.ask('POST', API, { title: name });
      for (let i = 0; i < n; i += each)
        await append(id, Array.from({ length: Math.min(each, n - i) }, (_, k) => entry(i + k)));
      return { id, n };
    },
    count: async (forked) => (await http.ask('GET', `${API}/${forked.id}`)).head.length,
    async readAll(chat) {
      let seen = 0;
      for (let after = ''; ;) {
        const page = await http.ask('GET', `${API}/${chat.id}/entries?limit=1000${after}`);
        seen += page.entries.length;
        if (page.entries.length < 1000) return seen;
        after = `&after=${page.entries.at(-1).id}`;
      }
    },
    readLast: async (chat) => (await http.ask('GET', `${API}/${chat.id}/entries?tail=true&limit=50`)).entries.length,
    /** `writers` at once, `each` notes of each: how many of them the session has afterwards. */
    async write(chat, writers, each) {
      await Promise.all(Array.from({ length: writers }, async (_, w) => {
        for (let i = 0; i < each; i++) await append(chat.id, [{ role: 'user', text: note(w, i) }]);
      }));
      return (await http.ask('GET', `${API}/${chat.id}`)).head.length - chat.n;
    },
    /** Kills the server while forks are made: what is there after a restart. */
    async killInFork(chat) {
      const answered = [];
      const makers = Promise.allSettled(Array.from({ length: 8 }, async () => {
        for (;;) answered.push((await fork(chat)).id);
      }));
      await until(() => answered.length >= 50, 'forks before the kill');
      await halt(program, 'SIGKILL');
      await makers;
      http.close();
      await start();
      const { sessions } = await http.ask('GET', `${API}/${chat.id}/children`);
      const ids = new Set(sessions.map((s) => s.id));
      return { answered: answered.length, lost: answered.filter((id) => !ids.has(id)).length,
        partial: sessions.filter((s) => s.head.length !== chat.n / 2).length };
    },
    async close() {
      http.close();
      await halt(program);
    },
  };
}
