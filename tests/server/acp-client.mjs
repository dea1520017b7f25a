// SPDX-License-Identifier: Apache-2.0
//
// acp-client.mjs: an ACP agent (a program) as the agent of sessions on a server.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, finish, assert, eventually, start, call, scratch, slow, ramet } from './lib.mjs';
import { TOLD } from './help/acp.mjs';

const user = 'ada';
/** A server with the told agent, and a folder for its sessions. */
async function serve({ files = 'off', settings = '', command = `${process.execPath} ${TOLD}`, env = {}, ...how } = {}) {
  const folder = scratch('folder');
  const log = scratch('agent.log'), pidsOf = scratch('agent.pids');
  mkdirSync(folder);
  const { args = [], ...more } = how;
  const server = await start({ args: ['--agent', `told=acp,command=${command},files=${files},env=ACP_*${settings}`, ...args],
    env: { ACP_LOG: log, ACP_PIDS: pidsOf, ...env }, ...more });
  const lines = () => readFileSync(log, 'utf8').trim().split('\n').map((l) => JSON.parse(l));
  const got = (method) => lines().filter((m) => m.method === method);
  const pids = () => readFileSync(pidsOf, 'utf8').trim().split('\n').map(Number);
  const open = async (at = folder, more = {}, as = { user }) => (await call(server, 'POST', 'sessions', { ...as, json: { agent: { name: 'told', folder: at, ...more } } })).body.id;
  const say = async (id, text, more = {}, as = { user }) => {
    const r = await call(server, 'POST', `sessions/${id}/messages`, { ...as, json: { text, ...more } });
    assert.equal(r.status, 200, r.text);
    return r.body;
  };
  const last = async (id) => (await call(server, 'GET', `sessions/${id}/entries`, { user })).body.entries.at(-1).text;
  const running = (id, as = { user }) => eventually(async () => assert.ok((await call(server, 'GET', `sessions/${id}`, as)).body.running));
  const cancel = (id, as = { user }) => call(server, 'POST', `sessions/${id}/cancel`, { ...as, json: {} });
  return { server, folder, got, log: lines, pids, open, say, last, running, cancel };
}
const folders = (n) => Array.from({ length: n }, () => { const at = scratch('folder'); mkdirSync(at); return at; });
/** Whether the process table has it, as a zombie too. */
const there = (pid) => existsSync(`/proc/${pid}`);
/** Whether it runs: its parent may be one that does not reap. */
const runs = (pid) => there(pid) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

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

test('when the overlays change, the agent gets what is left in a new session', async () => {
  const { server, got, open, say, last } = await serve();
  const s = await open();
  const one = await say(s, 'say My pin is 1234');
  await say(s, 'say Two');
  await call(server, 'POST', `sessions/${s}/overlays`, { user, json: { entry_id: one.entries[0].id, action: 'replace', text: 'a pin' } });
  await call(server, 'POST', `sessions/${s}/overlays`, { user, json: { entry_id: one.entries[1].id, action: 'hide' } });
  const third = await say(s, 'who');
  assert.equal(got('session/new').length, 2);
  assert.match(await last(s), /User:\na pin\n.*\[who\]$/s);
  assert.doesNotMatch(await last(s), /1234/);
  await say(s, 'go on');
  assert.equal(got('session/new').length, 2, 'it holds what is left');
  const prompt = (await call(server, 'GET', `sessions/${s}/turns/${third.turn_id}/prompt`, { user })).body;
  assert.equal(prompt.known, true);
  assert.deepEqual(prompt.messages[0].content, got('session/prompt')[2].params.prompt);
  for (let i = 0; i < 2; i++) await call(server, 'POST', `sessions/${s}/undo`, { user, json: {} });
  await say(s, 'again');
  assert.match(await last(s), /1234/);
});

test('after an erasure the agent gets what is left in a new session', async () => {
  const { server, got, open, say } = await serve();
  const s = await open();
  const one = await say(s, 'say My pin is 1234');
  await say(s, 'say Two');
  const gone = [];
  for (const e of one.entries) { // the question, then the answer
    gone.push((await call(server, 'POST', 'erase', { user, json: { entry: { session_id: s, entry_id: e.id } } })).status);
    await say(s, 'say Three');
    assert.equal(got('session/new').length, 1 + gone.length);
    assert.match(JSON.stringify(got('session/prompt').at(-1)), /\[erased\].*say Two.*say Three/s);
  }
  assert.deepEqual(gone, [200, 200]);
  assert.doesNotMatch(JSON.stringify(got('session/prompt').at(-1)), /1234/);
  await say(s, 'go on');
  assert.equal(got('session/new').length, 3, 'it holds what is left');
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

test('a tool call whose parts come one by one is recorded whole; a permission has its name', async () => {
  const { server, open, say } = await serve();
  const s = await open();
  const put = (u) => `update ${JSON.stringify({ toolCallId: 'c', ...u })}`;
  const turn = say(s, [put({ sessionUpdate: 'tool_call', title: 'Edit', status: 'pending', rawInput: {} }), put({ sessionUpdate: 'tool_call_update', title: 'Edit a.txt', rawInput: { path: 'a.txt' } }),
    'permit c', put({ sessionUpdate: 'tool_call_update', content: [{ type: 'content', content: { type: 'text', text: 'done' } }] }), put({ sessionUpdate: 'tool_call_update', status: 'completed' }),
    put({ sessionUpdate: 'tool_call', toolCallId: 'd', title: 'Never ends', status: 'pending' }), 'say end'].join(';'));
  const q = await eventually(async () => {
    const { running } = (await call(server, 'GET', `sessions/${s}`, { user })).body;
    assert.equal(running?.question?.text, 'Edit a.txt');
    return running;
  });
  await call(server, 'POST', `sessions/${s}/turns/${q.turn_id}/answer`, { user, json: { question_id: q.question.id, answer: 'yes' } });
  await turn;
  const parts = (await call(server, 'GET', `sessions/${s}/entries`, { user })).body.entries.flatMap((e) => e.parts).filter((p) => /tool/.test(p.type));
  assert.deepEqual(parts.map((p) => [p.type, p.name ?? p.output[0].content.text, p.input]),
    [['tool_call', 'Edit a.txt', { path: 'a.txt' }], ['tool_result', 'done', undefined], ['tool_call', 'Never ends', {}]]);
});

test('who cancels while a permission is asked has answered it', async () => {
  const { server, open, got, log } = await serve();
  const s = await open();
  const turn = call(server, 'POST', `sessions/${s}/messages`, { user, json: { text: 'permit' } });
  await eventually(async () => assert.ok((await call(server, 'GET', `sessions/${s}`, { user })).body.running?.question));
  await call(server, 'POST', `sessions/${s}/cancel`, { user, json: {} });
  assert.equal((await turn).body.status, 'cancelled');
  await eventually(() => assert.ok(log().some((m) => m.result?.outcome?.outcome === 'cancelled')));
  assert.equal(got('session/cancel').length, 1);
});

test('files of a message that have an address are passed on', async () => {
  const { server, open, got } = await serve();
  const s = await open();
  const parts = [{ type: 'text', text: 'look' }, { type: 'file', url: 'file:///a.txt', name: 'a.txt', media_type: 'text/plain' }];
  const r = await call(server, 'POST', `sessions/${s}/messages`, { user, json: { parts } });
  assert.equal(r.status, 200, r.text);
  assert.deepEqual(got('session/prompt')[0].params.prompt, [{ type: 'text', text: 'look' }, { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt', mimeType: 'text/plain' }]);
});

/** A message of a text and attachments; the blocks that the program got. */
async function attached(caps, files) {
  const { server, open, got } = await serve({ env: { ACP_CAPS: JSON.stringify({ promptCapabilities: caps }) } });
  const parts = [{ type: 'text', text: 'look' }];
  for (const [name, type, bytes, more] of files) {
    const r = await call(server, 'POST', `attachments?name=${encodeURIComponent(name)}`, { user, body: bytes, headers: { 'Content-Type': type } });
    assert.equal(r.status, 201, r.text);
    parts.push({ type: 'file', attachment_id: r.body.id, ...more });
  }
  const r = await call(server, 'POST', `sessions/${await open()}/messages`, { user, json: { parts } });
  assert.equal(r.body.status, 'done', r.text);
  const ids = parts.slice(1).map((p) => p.attachment_id);
  return { ids, blocks: got('session/prompt')[0].params.prompt };
}
const raw = Buffer.from([0x89, 0x50, 0, 0xff]);
const data = raw.toString('base64');
const named = (what) => ({ type: 'text', text: `[file ${what}]` });

test('attachments are handed over as the program takes them', async () => {
  const files = [['a.png', 'image/png', raw], ['a.wav', 'audio/wav', raw], ['ä b.txt', 'text/plain', 'text "é"'], ['a.zip', 'application/zip', raw],
    ['a.svg', 'image/svg+xml', '<svg/>'], ['b.txt', 'text/plain', ''], ['a', 'image/png', raw, { name: 'mine.webp', media_type: 'image/webp' }]];
  const lines = ['a.png (image/png, 4 bytes)', 'a.wav (audio/wav, 4 bytes)', 'ä b.txt (text/plain, 9 bytes)', 'a.zip (application/zip, 4 bytes)',
    'a.svg (image/svg+xml, 6 bytes)', 'b.txt (text/plain, 0 bytes)', 'mine.webp (image/webp, 4 bytes)'].map(named);
  const all = await attached({ image: true, audio: true, embeddedContext: true }, files);
  const resource = (i, name, more) => ({ type: 'resource', resource: { uri: `ramet:attachments/${all.ids[i]}/${name}`, ...more } });
  assert.deepEqual(all.blocks, [{ type: 'text', text: 'look' },
    lines[0], { type: 'image', data, mimeType: 'image/png' },
    lines[1], { type: 'audio', data, mimeType: 'audio/wav' },
    lines[2], resource(2, '%C3%A4%20b.txt', { mimeType: 'text/plain', text: 'text "é"' }),
    lines[3], resource(3, 'a.zip', { mimeType: 'application/zip', blob: data }),
    lines[4], resource(4, 'a.svg', { mimeType: 'image/svg+xml', text: '<svg/>' }),
    lines[5],
    lines[6], { type: 'image', data, mimeType: 'image/webp' }]);
  const images = await attached({ image: true }, files.slice(0, 3));
  assert.deepEqual(images.blocks.slice(1), [lines[0], all.blocks[2], lines[1], lines[2]]);
  assert.deepEqual((await attached({}, files)).blocks.slice(1), lines);
});

test('attachments of over 8 MiB together are named, and linked where they have an address', async () => {
  const large = Buffer.alloc(5 << 20, 0xff);
  const { blocks } = await attached({ image: true }, [['a.png', 'image/png', large], ['b.png', 'image/png', large], ['c.png', 'image/png', raw],
    ['d.png', 'image/png', large, { url: 'https://example.org/d.png' }]]);
  assert.equal(Buffer.from(blocks[2].data, 'base64').compare(large), 0);
  assert.deepEqual(blocks.slice(3), [named(`b.png (image/png, ${5 << 20} bytes)`), named('c.png (image/png, 4 bytes)'), { type: 'image', data, mimeType: 'image/png' },
    { type: 'resource_link', uri: 'https://example.org/d.png', name: 'd.png', mimeType: 'image/png' }]);
});

test('a message that is an attachment alone has no empty text', async () => {
  const { server, open, got } = await serve();
  const { id } = (await call(server, 'POST', 'attachments?name=a', { user, body: 'x' })).body;
  const r = await call(server, 'POST', `sessions/${await open()}/messages`, { user, json: { parts: [{ type: 'file', attachment_id: id, media_type: 'text/plain' }] } });
  assert.equal(r.body.status, 'done', r.text);
  assert.deepEqual(got('session/prompt')[0].params.prompt, [named('a (text/plain, 1 bytes)')]);
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

test('a program that ends fails its turns at once, and its helpers hold nothing up', async () => {
  const { server, got, folder, open, say, running } = await serve();
  const [own, far] = [join(folder, 'own.pid'), join(folder, 'far.pid')];
  const s = await open(), t = await open();
  const waits = say(t, 'wait');
  await eventually(() => assert.equal(got('session/prompt').length, 1));
  await running(t);
  const ended = await say(s, `say word; helper ${own}; helper ${far} detached; die`);
  const pid = (path) => Number(readFileSync(path, 'utf8'));
  try {
    for (const turn of [ended, await waits]) {
      assert.equal(turn.status, 'failed');
      assert.match(turn.error, /program has ended with exit code 3/);
    }
    assert.equal((await say(s, 'say back')).status, 'done');
    await eventually(() => assert.ok(!runs(pid(own)), 'a helper ends with its program'), 15000 * slow);
    await say(s, `helper ${own}`);
    await server.stop();
    assert.ok(!runs(pid(own)), 'and with the server');
    assert.ok(runs(pid(far)), 'this one is out of reach');
  } finally {
    process.kill(pid(far), 'SIGKILL');
  }
});

test('a program that goes on after its output has ended is ended', async () => {
  const { open, say } = await serve({ command: `sh ${script('exec 1>&-; exec sleep 1000')}` });
  assert.match((await say(await open(), 'x')).error, /closed its output/);
  const shell = await serve({ command: `sh ${script('echo $$ >> "$ACP_PIDS"; kill -9 $$')}` });
  assert.match((await shell.say(await shell.open(), 'x')).error, /killed by SIGKILL/);
  await eventually(() => assert.ok(!there(shell.pids()[0])), 10000 * slow);
  const none = await serve({ command: '/no/such/program' });
  assert.match((await none.say(await none.open(), 'x')).error, /cannot be started .* No such file/);
});

test('cancelling a turn while the program starts leaves those of others alone', async () => {
  const hold = scratch('hold');
  const { server, got, folder, open, say, running, cancel } = await serve({ env: { ACP_HOLD: hold } });
  const bob = { user: 'bob' };
  const s = await open(), t = await open(folder, {}, bob);
  const first = call(server, 'POST', `sessions/${s}/messages`, { user, json: { text: 'say mine' } });
  await running(s);
  const second = say(t, 'say yours', {}, bob);
  await running(t, bob);
  await eventually(() => assert.equal(got('initialize').length, 1));
  await cancel(s);
  assert.equal((await first).body.status, 'cancelled');
  await eventually(async () => assert.match((await call(server, 'GET', '/metrics')).text, /^ramet_turns_running 1$/m));
  writeFileSync(hold, '');
  assert.equal((await second).status, 'done');
  assert.equal((await say(s, 'say again')).status, 'done');
  assert.equal(got('initialize').length, 1, 'one program for all of it');
});

test('at most so many programs: idle ones make room, and a turn is refused when there are none', async () => {
  const { got, pids, open, say, last, cancel, running } = await serve({ settings: ',programs=2' });
  const [s, t, u] = await Promise.all(folders(3).map((at) => open(at)));
  await say(s, 'one');
  await say(t, 'two');
  assert.equal((await say(u, 'three')).status, 'done');
  assert.deepEqual(pids().map(there), [false, true, true], 'the one that was idle for longest has ended');
  const waits = [say(t, 'wait'), say(u, 'wait')];
  await eventually(() => assert.equal(got('session/prompt').length, 5));
  const refused = await say(s, 'again');
  assert.equal(refused.status, 'failed');
  assert.match(refused.error, /all 2 programs of this agent are in use/);
  await Promise.all([running(t), running(u)]);
  await Promise.all([cancel(t), cancel(u)]);
  await Promise.all(waits);
  await eventually(async () => assert.equal((await say(s, 'again')).status, 'done'), 10000 * slow);
  assert.match(await last(s), /User:\none\n.*\[again\]$/s, 'a new program gets the conversation');
  assert.equal(pids().filter(there).length, 2);
});

test('programs that are idle or have ended are reaped; sessions go on with a new one', async () => {
  const { pids, open, say, last } = await serve({ settings: ',idle_s=1' });
  const s = await open();
  await say(s, 'one');
  await eventually(() => assert.ok(!there(pids()[0])), 20000 * slow);
  assert.equal((await say(s, 'two')).status, 'done');
  assert.match(await last(s), /User:\none\n.*\[two\]$/s);
  const other = await serve();
  await other.say(await other.open(), 'x');
  process.kill(other.pids()[0], 'SIGKILL');
  await eventually(() => assert.ok(!there(other.pids()[0])), 10000 * slow);
});

/** A script for sh. */
function script(text) {
  const path = scratch('script');
  writeFileSync(path, `${text}\n`);
  return path;
}

test('programs and terminals get neither secrets nor descriptors of the server', async () => {
  const out = scratch('seen');
  // Another shell looks: one that redirects keeps a descriptor for it, and so does one that pipes.
  const look = `env > ${out}; sh -c 'ls -l /proc/$PPID/fd >> ${out}'`;
  const { open, say, last } = await serve({ settings: ' NAMED,terminal=on', command: `sh ${script(`${look}; exec ${process.execPath} ${TOLD}`)}`,
    args: ['--agent', 'ai=openai,url=http://127.0.0.1:1/v1,model=m,key=$MODEL_KEY'],
    env: { MODEL_KEY: 'sk-very-secret', RAMET_TOKEN: 'other-secret', PGPASSWORD: 'third-secret', NAMED: 'yes', LC_TEST: 'kept' } });
  const s = await open();
  await say(s, 'hello');
  const seen = readFileSync(out, 'utf8');
  const shown = script('env; ls -l /proc/$$/fd');
  await say(s, `term create ${JSON.stringify({ command: 'sh', args: [shown], env: [{ name: 'ASKED', value: 'v' }] })}; term wait_for_exit; term output`);
  const said = JSON.parse((await last(s)).trim().split('\n').at(-1)).output;
  assert.match(said, /^ASKED=v$/m);
  for (const text of [seen, said]) {
    assert.doesNotMatch(text, /secret|MODEL_KEY|RAMET_TOKEN|PGPASSWORD/);
    assert.match(text, /^NAMED=yes$/m);
    assert.match(text, /^LC_TEST=kept$/m);
    assert.match(text, /^PATH=/m);
    const fds = [...text.matchAll(/ (\d+) -> (.*)$/gm)].filter(([, n]) => Number(n) > 2).map(([, , what]) => what);
    assert.deepEqual(fds.filter((f) => !/-script$/.test(f)), [], 'beside standard input, output and error, what the shell reads');
  }
  const r = await ramet(['serve', '--db', scratch('store.db'), '--listen', '127.0.0.1:0', '--agent', 'a=acp,command=x,env=OK A=b']);
  assert.match(r.err, /env must name variables, and 'A=b' is no name/);
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

test('files: written in the folder alone', async () => {
  const { folder, open, say, last } = await serve({ files: 'write' });
  const s = await open();
  await say(s, `write ${join(folder, 'new')} some words`);
  assert.equal(await last(s), '{}');
  assert.equal(readFileSync(join(folder, 'new'), 'utf8'), 'some words');
  await say(s, `write ${folder}/../out x`);
  assert.match(await last(s), /code/);
});

test('a folder outside of the roots is refused, also through a link', async () => {
  const root = scratch('root');
  mkdirSync(join(root, 'in'), { recursive: true });
  symlinkSync('/usr', join(root, 'link'));
  const { got, open, say, last } = await serve({ settings: `,roots=/nowhere:${root}` });
  for (const at of ['/usr', `${root}x`, join(root, 'link'), `${root}/../..`, join(root, 'none')]) {
    const r = await say(await open(at), 'hello');
    assert.equal(r.status, 'failed', at);
    assert.match(r.error, /may work in/);
  }
  const s = await open(join(root, 'in'));
  assert.equal((await say(s, 'hello')).status, 'done');
  assert.equal(await last(s), '[hello]');
  assert.equal(got('initialize').length, 1);
});

test('roots that are not plain absolute paths are refused at the start', async () => {
  for (const roots of ['/usr:..', 'usr', '/usr/../etc', '/usr/.', '/usr//bin', '/usr/', ':/usr', '/usr:'])
    await assert.rejects(start({ args: ['--agent', `told=acp,command=true,roots=${roots}`] }), /roots must be absolute paths/, roots);
  await assert.rejects(start({ args: ['--agent', 'told=acp,command=true,folder=here'] }), /folder must be an absolute path/);
});

test('a folder that becomes a link in mid-turn leads nowhere', async () => {
  const root = scratch('root');
  mkdirSync(join(root, 'in'), { recursive: true });
  writeFileSync(join(root, 'in', 'hostname'), 'fine');
  symlinkSync(join(root, 'in'), join(root, 'link'));
  const { open, say, last } = await serve({ files: 'read', settings: `,roots=${root}` });
  const t = await open(join(root, 'link'));
  await say(t, `read ${root}/in/hostname`);
  assert.match(await last(t), /fine/, 'a link within the roots leads to its folder');
  const s = await open(join(root, 'in'));
  await say(s, `run mv ${root}/in ${root}/old && ln -s /etc ${root}/in; read ${root}/in/hostname`);
  assert.match(await last(s), /"code"/);
});

test('with keys and without roots, a session cannot choose a folder', async () => {
  const db = scratch('store.db');
  const made = await ramet(['--db', db, 'token', 'create', '--user', 'ada', '--json']);
  assert.equal(made.code, 0, made.err);
  const as = { token: JSON.parse(made.out).secret };
  const [home] = folders(1);
  const { open, say } = await serve({ files: 'write', settings: `,folder=${home}`, db, args: ['--auth', 'tokens'] });
  for (const at of ['/etc', '/', join(home, '..'), '/no/such']) {
    const r = await say(await open(at, {}, as), 'read /etc/passwd', {}, as);
    assert.equal(r.status, 'failed', at);
    assert.match(r.error, /no roots, so sessions cannot choose a folder/);
  }
  assert.equal((await say(await open(undefined, { folder: undefined }, as), 'hello', {}, as)).status, 'done', "the agent's own folder");
  assert.equal((await say(await open(home, {}, as), 'hello', {}, as)).status, 'done', 'which may be named');
});

test('terminals: off by default; on, they run in the folder and end with it', async () => {
  const off = await serve();
  const s = await off.open();
  await off.say(s, 'term create {"command":"true"}');
  assert.match(await off.last(s), /-32601/);
  assert.equal(off.got('initialize')[0].params.clientCapabilities.terminal, false);
  const { folder, got, open, say, last, server } = await serve({ settings: ',terminal=on' });
  const t = await open();
  const lines = async (text) => { await say(t, text); return (await last(t)).trim().split('\n').map((l) => JSON.parse(l)); };
  const [made, ended, out, released, gone] = await lines(`term create ${JSON.stringify({ command: 'sh', args: ['-c', 'pwd && echo $K >&2 && exit 3'], env: [{ name: 'K', value: 'v' }] })}; term wait_for_exit; term output; term release; term output`);
  assert.ok(made.terminalId);
  assert.deepEqual(ended, { exitCode: 3, signal: null });
  assert.deepEqual(out, { output: `${folder}\nv\n`, truncated: false, exitStatus: { exitCode: 3, signal: null } });
  assert.deepEqual(released, {});
  assert.equal(gone.code, -32002);
  assert.equal(got('initialize')[0].params.clientCapabilities.terminal, true);
  const [, , tail] = await lines('term create {"command":"printf","args":["aé%s","xyz"],"outputByteLimit":4}; term wait_for_exit; term output');
  assert.deepEqual([tail.output, tail.truncated], ['xyz', true]);
  const [, , killed] = await lines('term create {"command":"sleep","args":["1000"]}; term kill; term wait_for_exit');
  assert.deepEqual(killed, { exitCode: null, signal: 'SIGKILL' });
  const [refused] = await lines('term create {"command":"true","cwd":"/usr"}');
  assert.equal(refused.code, -32602);
  const [missing] = await lines('term create {"command":"/no/such/thing"}');
  assert.equal(missing.code, -32603);
  const [, left] = await lines('term create {"command":"sh","args":["-c","setsid yes &"]}; term wait_for_exit');
  assert.deepEqual(left, { exitCode: 0, signal: null }, 'what the command leaves behind does not hold it up');
  await say(t, 'term create {"command":"sleep","args":["1000.25"]}');
  await server.stop();
  assert.equal(execFileSync('sh', ['-c', 'pgrep -fx "sleep 1000.25" || true'], { encoding: 'utf8' }), '', 'nothing is left behind');
});

const setup = { modes: { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }, { id: 'code', name: 'Code' }] },
  configOptions: [{ id: 'llm', name: 'Model', category: 'model', type: 'select', currentValue: 'a', options: [{ value: 'a', name: 'A' }, { value: 'b', name: 'B' }] },
    { id: 'deep', name: 'Deep', type: 'boolean', currentValue: false }] };

test('modes and options: of the agent, of the session; what there is to choose', async () => {
  const { server, folder, got, open, say } = await serve({ settings: ',mode=ask', env: { ACP_SETUP: JSON.stringify(setup) } });
  const s = await open();
  await say(s, 'one');
  await say(s, 'two');
  assert.deepEqual(got('session/set_mode').map((m) => m.params.modeId), ['ask'], 'set once');
  const told = (await call(server, 'GET', 'agents', { user })).body.agents.find((a) => a.name === 'told');
  assert.deepEqual(told.modes, setup.modes);
  assert.deepEqual(told.config_options, setup.configOptions);
  await call(server, 'PATCH', `sessions/${s}`, { user, json: { agent: { name: 'told', folder, model: 'b', options: { mode: 'code', config: { deep: true } } } } });
  await say(s, 'three');
  assert.deepEqual(got('session/set_mode').map((m) => m.params.modeId), ['ask', 'code']);
  assert.deepEqual(got('session/set_config_option').map((m) => [m.params.configId, m.params.type, m.params.value]), [['llm', undefined, 'b'], ['deep', 'boolean', true]]);
  assert.equal(got('session/new').length, 1, 'the same inner session');
  const wrong = await say(await open(folder, { options: { mode: 'none' } }), 'x');
  assert.equal(wrong.status, 'failed');
  assert.match(wrong.error, /no such mode/);
});

test('a model where the program knows session/set_model alone, and none where it has none', async () => {
  const { got, open, say, folder } = await serve({ env: { ACP_SETUP: '{"models":{"currentModelId":"a","availableModels":[{"modelId":"a"},{"modelId":"b"}]}}' } });
  await say(await open(folder, { model: 'b' }), 'x');
  assert.equal(got('session/set_model')[0].params.modelId, 'b');
  const none = await serve();
  assert.match((await none.say(await none.open(none.folder, { model: 'b' }), 'x')).error, /no models/);
});

test('a program that does not read holds nobody up', async () => {
  const { server, open, say, last } = await serve();
  const s = await open(), t = await open();
  await say(s, 'deaf 3000; say now');
  const began = Date.now();
  const long = say(s, `x ${'y'.repeat(4 << 20)}`);
  const other = call(server, 'POST', `sessions/${t}/messages`, { user, json: { text: 'hello' } });
  await eventually(async () => assert.ok((await call(server, 'GET', `sessions/${t}`, { user })).body.running));
  await call(server, 'POST', `sessions/${t}/cancel`, { user, json: {} });
  assert.equal((await call(server, 'GET', `sessions/${t}`, { user })).status, 200);
  assert.ok(Date.now() - began < 2500 * slow, 'the server goes on');
  assert.equal((await long).status, 'done');
  assert.match(await last(s), /y\]$/);
  assert.equal((await other).body.status, 'cancelled');
});

await finish();
