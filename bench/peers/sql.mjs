// SPDX-License-Identifier: Apache-2.0
//
// sql.mjs: what an application writes that has no session store: a table of chats, a table of messages
// with their parts as JSON, and a fork that copies the rows up to a message in one transaction. Through
// the shells of SQLite and PostgreSQL, which stay open; commits are durable, as in Ramet.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { folder, postgresBytes, postgresDatabase, postgresShell, quoted, sqliteBytes, sqliteShell } from './measure.mjs';
import { message, note } from './history.mjs';

const SCHEMA = `
CREATE TABLE chat(id TEXT PRIMARY KEY, title TEXT NOT NULL, parent TEXT, forked_at TEXT, created BIGINT NOT NULL);
CREATE TABLE message(id TEXT PRIMARY KEY, chat TEXT NOT NULL, n INTEGER NOT NULL, role TEXT NOT NULL,
  created BIGINT NOT NULL, parts TEXT NOT NULL);
CREATE UNIQUE INDEX message_chat ON message(chat, n)`;
const BATCH = 500;

const ENGINES = {
  sqlite: {
    open: () => join(folder('sql'), 'chats.db'),
    shell: sqliteShell, bytes: sqliteBytes, newId: 'lower(hex(randomblob(16)))', begin: 'BEGIN IMMEDIATE',
    version: () => `SQLite ${execFileSync('sqlite3', ['-version'], { encoding: 'utf8' }).split(' ')[0]}`,
    // The transaction already has the write lock.
    lock: () => '',
  },
  postgres: {
    open: () => postgresDatabase('sql_peer'),
    shell: postgresShell, bytes: postgresBytes, newId: "replace(gen_random_uuid()::text, '-', '')", begin: 'BEGIN',
    version: () => execFileSync('psql', ['--version'], { encoding: 'utf8' }).replace(/^psql \(PostgreSQL\) (\S+)[^]*/, 'PostgreSQL $1'),
    // Writers of one chat queue at its row.
    lock: (id) => `SELECT 1 FROM chat WHERE id = ${quoted(id)} FOR UPDATE;`,
  },
};

function parts(position) {
  const m = message(position);
  return JSON.stringify(m.role === 'user' ? [{ type: 'text', text: m.text }] : [
    { type: 'step-start' }, { type: 'reasoning', text: m.reasoning }, { type: 'tool', call: `c${position}`, ...m.tool },
    { type: 'text', text: m.text }, { type: 'step-finish', reason: 'stop', tokens: { input: 900, output: 500 } }]);
}

/** on: 'sqlite' or 'postgres'. */
export async function open(on) {
  const engine = ENGINES[on], db = engine.open(), sql = await engine.shell(db);
  await sql.run(SCHEMA);
  let chats = 0;

  const insert = (id, from, to) => `${engine.begin};
    INSERT INTO message VALUES ${Array.from({ length: to - from }, (_, k) =>
      `(${engine.newId}, ${quoted(id)}, ${from + k}, ${quoted(message(from + k).role)}, ${Date.now()}, ${quoted(parts(from + k))})`).join(',\n')};
    COMMIT`;

  return {
    version: engine.version(),
    bytes: () => engine.bytes(db),
    async seed(name, n, each = BATCH) {
      const id = `chat${++chats}`;
      await sql.run(`INSERT INTO chat VALUES (${quoted(id)}, ${quoted(name)}, NULL, NULL, ${Date.now()})`);
      for (let i = 0; i < n; i += each) await sql.run(insert(id, i, Math.min(i + each, n)));
      return { id, n };
    },
    async fork(chat) {
      const id = `chat${++chats}`, from = quoted(chat.id), last = chat.n / 2 - 1;
      await sql.run(`${engine.begin};
        INSERT INTO chat SELECT ${quoted(id)}, 'Fork of ' || title, id, (SELECT id FROM message WHERE chat = ${from} AND n = ${last}), ${Date.now()} FROM chat WHERE id = ${from};
        INSERT INTO message SELECT ${engine.newId}, ${quoted(id)}, n, role, created, parts FROM message WHERE chat = ${from} AND n <= ${last} ORDER BY n;
        COMMIT`);
      return { id };
    },
    count: async (forked) => Number(await sql.run(`SELECT count(*) FROM message WHERE chat = ${quoted(forked.id)}`)),
    readAll: async (chat) => (await sql.run(`SELECT id, role, created, parts FROM message WHERE chat = ${quoted(chat.id)} ORDER BY n`)).trim().split('\n').length,
    readLast: async (chat) => (await sql.run(`SELECT id, role, created, parts FROM message WHERE chat = ${quoted(chat.id)} ORDER BY n DESC LIMIT 50`)).trim().split('\n').length,
    async write(chat, writers, each) {
      const shells = await Promise.all(Array.from({ length: writers }, () => engine.shell(db)));
      const id = quoted(chat.id);
      await Promise.all(shells.map(async (shell, w) => {
        for (let i = 0; i < each; i++)
          await shell.run(`${engine.begin}; ${engine.lock(chat.id)}
            INSERT INTO message SELECT ${engine.newId}, ${id}, max(n) + 1, 'user', ${Date.now()}, ${quoted(JSON.stringify([{ type: 'text', text: note(w, i) }]))} FROM message WHERE chat = ${id}; COMMIT`);
      }));
      await Promise.all(shells.map((shell) => shell.close()));
      return Number(await sql.run(`SELECT count(*) FROM message WHERE chat = ${id}`)) - chat.n;
    },
    close: () => sql.close(),
  };
}
