// SPDX-License-Identifier: Apache-2.0
//
// acp-client.mjs: an ACP agent (a program) as the agent of sessions on a server.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, finish, assert, eventually, start, call, scratch } from './lib.mjs';
import { TOLD } from './help/acp.mjs';

const user = 'ada';
/** A server with the told agent, and a folder for its sessions. */
async function serve({ files = 'off', env = {} } = {}) {
  const folder = scratch('folder');
  const log = scratch('agent.log');
  mkdirSync(folder);
  const server = await start({ args: ['--agent', `told=acp,command=${process.execPath} ${TOLD},files=${files}`],
    env: { ACP_LOG: log, ...env } });
  const got = (method) => readFileSync(log, 'utf8').trim().split('\n').map((l) => JSON.parse(l)).filter((m) => m.method === method);
  const open = async (at = folder) => (await call(server, 'POST', 'sessions', { user, json: { agent: { name: 'told', folder: at } } })).body.id;
  const say = async (id, text, more = {}) => {
    const r = await call(server, 'POST', `sessions/${id}/messages`, { user, json: { text, ...more } });
    assert.equal(r.status, 200, r.text);
    return r.body;
  };
  const last = async (id) => (await call(server, 'GET', `sessions/${id}/entries`, { user })).body.entries.at(-1).text;
  return { server, folder, got, open, say, last };
}

test('a conversation, one process a folder, one inner session as long as it holds the history', async () => {
  const { folder, got, open, say, last } = await serve();
  const s = await open();
  await say(s, 'one');
  assert.equal(await last(s), '[one]');
  await say(s, 'two');
  assert.equal(await last(s), '[one][[one]][two]');
  assert.equal(got('session/new').length, 1);
  assert.equal(got('session/new')[0].params.cwd, folder);
  assert.equal(got('initialize').length, 1);
  assert.deepEqual(got('initialize')[0].params.clientCapabilities.fs, { readTextFile: false, writeTextFile: false });
  const t = await open();
  await say(t, 'three');
  assert.equal(got('initialize').length, 1, 'the same process');
  const other = scratch('other');
  mkdirSync(other);
  await say(await open(other), 'four');
  assert.equal(got('initialize').length, 2);
});

test('after a fork or a rewind the agent gets the conversation in a new session', async () => {
  const { server, got, open, say, last } = await serve();
  const s = await open();
  await say(s, 'say My name is Ada');
  await say(s, 'say Two');
  const f = (await call(server, 'POST', `sessions/${s}/fork`, { user, json: {} })).body.id;
  await say(f, 'who');
  assert.match(await last(f), /User:\nsay My name is Ada\n\nAssistant:\nMy name is Ada\n.*\[who\]$/s);
  await call(server, 'POST', `sessions/${s}/rewind`, { user, json: { at: { entry_id: (await call(server, 'GET', `sessions/${s}/entries`, { user })).body.entries[1].id } } });
  await say(s, 'again');
  assert.doesNotMatch(await last(s), /Two/);
  assert.equal(got('session/new').length, 3);
});

test('tools, thoughts, plans and usage are recorded; permissions are asked', async () => {
  const { server, open, say } = await serve();
  const s = await open();
  await say(s, 'think hm; plan a; tool c1; say done');
  const list = (await call(server, 'GET', `sessions/${s}/entries`, { user })).body.entries;
  const parts = list.flatMap((e) => e.parts.map((p) => p.type));
  for (const type of ['thinking', 'tool_call', 'tool_result', 'text']) assert.ok(parts.includes(type), `${type} in ${parts}`);
  assert.equal(list.at(-1).usage.input, 2);
  const turn = say(s, 'permit');
  const q = await eventually(async () => {
    const { running } = (await call(server, 'GET', `sessions/${s}`, { user })).body;
    assert.ok(running?.question);
    return running;
  });
  const r = await call(server, 'POST', `sessions/${s}/turns/${q.turn_id}/answer`, { user, json: { question_id: q.question.id, answer: 'yes' } });
  assert.ok(r.status < 300, r.text);
  await turn;
  const said = (await call(server, 'GET', `sessions/${s}/entries`, { user })).body.entries.at(-1).text;
  assert.match(said, /"optionId":"yes"/);
});

test('cancelled, failed, died and started again', async () => {
  const { server, got, open, say, last } = await serve();
  const s = await open();
  const turn = call(server, 'POST', `sessions/${s}/messages`, { user, json: { text: 'say on it; wait' } });
  await eventually(async () => assert.ok((await call(server, 'GET', `sessions/${s}`, { user })).body.running));
  await eventually(() => assert.equal(got('session/prompt').length, 1));
  await call(server, 'POST', `sessions/${s}/cancel`, { user, json: {} });
  assert.equal((await turn).body.status, 'cancelled');
  assert.equal((await say(s, 'refuse -32010 no')).status, 'failed');
  assert.equal((await say(s, 'die')).status, 'failed');
  assert.equal((await say(s, 'back')).status, 'done');
  assert.match(await last(s), /\[back\]$/);
  assert.equal(got('initialize').length, 2);
});

test('files: off by default, and never outside of the folder', async () => {
  const off = await serve();
  writeFileSync(join(off.folder, 'a'), 'text of a');
  const s = await off.open();
  await off.say(s, `read ${join(off.folder, 'a')}`);
  assert.match(await off.last(s), /code/);
  const on = await serve({ files: 'read' });
  writeFileSync(join(on.folder, 'a'), 'text of a');
  symlinkSync('/etc/hostname', join(on.folder, 'link'));
  const t = await on.open();
  await on.say(t, `read ${join(on.folder, 'a')}`);
  assert.match(await on.last(t), /text of a/);
  for (const path of ['/etc/hostname', join(on.folder, 'link'), `${on.folder}/../${on.folder.split('/').at(-1)}/a`, `${on.folder}x/a`]) {
    await on.say(t, `read ${path}`);
    assert.match(await on.last(t), /code/, path);
  }
});

await finish();
