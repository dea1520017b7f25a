// SPDX-License-Identifier: Apache-2.0
//
// opencode.mjs: the real OpenCode as an agent. What its model was asked proves that a fork, a rewind and an
// edit show it exactly the history that they show to the user, whatever OpenCode's own fork and revert do.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test, finish, RAMET, start, call, must, enc, newSession, eventually, scratch, slow, assert } from './lib.mjs';
import { door, startOpenCode } from './help/opencode.mjs';
import { file } from './help/packages.mjs';

const patience = 30000 * slow;
const at = (session, rest = '') => `sessions/${enc(session)}${rest}`;
const told = (s, session, json) => must(s, 'POST', at(session, '/messages'), { json: typeof json === 'string' ? { text: json } : json });
const say = async (s, session, json) => {
  const done = await told(s, session, json);
  assert.equal(done.status, 'done', JSON.stringify(done));
  return done.entries.filter((e) => e.role === 'assistant').map((e) => e.text.trim()).filter(Boolean).join('|');
};
const entries = async (s, session) => (await must(s, 'GET', at(session, '/entries?limit=1000&versions=false'))).entries;
/** The history as a model is asked it: texts by role, consecutive answers as one. */
const history = async (s, session) => (await entries(s, session)).filter((e) => e.text.trim()).map((e) => [e.role, e.text.trim()]);
const fork = (s, session, json = {}) => must(s, 'POST', at(session, '/fork'), { json });
const trimmed = (turn) => turn.map(([role, text]) => [role, text.trim()]);

/** A server of OpenCode, and one of Ramet whose agent it is. */
async function withOpenCode(run, { args = [], ...options } = {}) {
  const o = await startOpenCode(options);
  if (o.skip) return o;
  try {
    const s = await start({ args: ['--agent', `oc=opencode,url=${o.url}`, ...args] });
    await run(s, o);
    await s.stop();
  } finally {
    await o.stop();
  }
}

/** The model was asked the history that the session shows, then the message. */
async function sawHistory(s, o, session, message) {
  const before = await history(s, session);
  await say(s, session, message);
  assert.deepEqual(trimmed(o.model.seen(message)), [...before, ['user', message]]);
}

const big = (name, run, options) => test(name, () => withOpenCode(run, options), { seconds: 180 });

big('an answer: text, thinking, tools, a to-do list, changed files, usage', async (s, o) => {
  await newSession(s, { id: 'a' });
  const one = await told(s, 'a', 'Hello Grüße 🌱');
  assert.deepEqual(one.entries[1].parts.map((p) => [p.type, p.text.trim()]), [['thinking', 'Let me think.'], ['text', 're: Hello Grüße 🌱']]);
  assert.deepEqual([one.entries[1].usage.input, one.entries[1].usage.output, one.entries[1].author], [11, 5, 'oc']);
  const todo = await told(s, 'a', 'TOOL todowrite {"todos":[{"content":"a step","status":"pending","priority":"high","id":"1"}]}');
  const parts = todo.entries.flatMap((e) => e.parts);
  assert.deepEqual(parts.map((p) => p.type).filter((t) => /tool/.test(t)), ['tool_call', 'tool_result']);
  assert.equal(parts.find((p) => p.type === 'data').data.entries[0].content, 'a step');
  assert.equal(todo.entries.at(-1).text.trim(), 'done');
  const path = join(o.work, 'a.txt');
  const wrote = await told(s, 'a', `TOOL write {"filePath":"${path}","content":"one\\n"}`);
  assert.equal(readFileSync(path, 'utf8'), 'one\n');
  const changes = wrote.entries.flatMap((e) => e.parts).find((p) => p.data?.type === 'files').data.changes;
  assert.deepEqual(changes.map((c) => [c.file, c.additions, c.status]), [['a.txt', 1, 'added']]);
  assert.equal((await o.sessions()).length, 1, 'one inner session');
});

big('a permission is asked and answered, once and not at all', async (s, o) => {
  await newSession(s, { id: 'a' });
  for (const [answer, result] of [['once', /hi there/], ['reject', /reject/i]]) {
    const turn = told(s, 'a', `${answer}: TOOL bash {"command":"echo hi there","description":"say"}`);
    const asked = await eventually(async () => (await must(s, 'GET', at('a'))).running.question ?? assert.fail('nothing is asked'), patience);
    assert.match(asked.text, /bash: echo hi there/);
    assert.deepEqual(asked.options.map((x) => x.id), ['once', 'always', 'reject']);
    const { running } = await must(s, 'GET', at('a'));
    await must(s, 'POST', at('a', `/turns/${running.turn_id}/answer`), { json: { question_id: asked.id, answer } });
    const done = await turn;
    const output = done.entries.flatMap((e) => e.parts).find((p) => p.type === 'tool_result');
    assert.match(JSON.stringify(output), result);
  }
});

big('a turn is cancelled; an error of the model fails it, and the next turn knows what was said', async (s, o) => {
  await newSession(s, { id: 'a' });
  await say(s, 'a', 'one');
  const turn = told(s, 'a', 'HOLD it');
  await eventually(async () => assert.match((await must(s, 'GET', at('a'))).running?.text ?? '', /re:/), patience);
  await must(s, 'POST', at('a', '/cancel'), { json: {} });
  assert.equal((await turn).status, 'cancelled');
  const inner = (await o.sessions())[0].id;
  await eventually(async () => assert.ok(!(await o.call('GET', '/session/status'))[inner]), patience);
  const no = await told(s, 'a', 'FAIL now');
  assert.equal(no.status, 'failed');
  assert.match(JSON.stringify(no), /the model says no/);
  await say(s, 'a', 'and on');
  const seen = o.model.seen('and on');
  assert.equal(seen.length, 1, 'a new inner session');
  assert.match(seen[0][1], /User: one\n\nAssistant: re: one[\s\S]*User: HOLD it[\s\S]*and on$/);
});

big('forks at messages of the user and at answers, a rewind, an edit, a new answer: the model sees what is shown', async (s, o) => {
  await newSession(s, { id: 'a' });
  for (const text of ['one', 'two', 'three']) await sawHistory(s, o, 'a', text);
  assert.equal((await o.sessions()).length, 1);
  const list = await entries(s, 'a');
  const user = await fork(s, 'a', { at: { entry_id: list[2].id, side: 'before' } });
  const answer = await fork(s, 'a', { at: { entry_id: list[3].id, side: 'after' } });
  const head = await fork(s, 'a');
  assert.equal((await o.sessions()).length, 1, 'OpenCode has a fork only when it is used');
  await sawHistory(s, o, user.id, 'from the user');
  await sawHistory(s, o, answer.id, 'from the answer');
  await sawHistory(s, o, head.id, 'from the head');
  for (const id of ['a', user.id, answer.id, head.id]) await sawHistory(s, o, id, `on in ${id}`);
  assert.equal((await o.sessions()).length, 4);
  assert.ok(o.model.asked.every((t) => !/conversation so far/.test(JSON.stringify(t))), 'OpenCode could do all of them');

  await must(s, 'POST', at('a', '/rewind'), { json: { at: { entry_id: list[3].id } } });
  await sawHistory(s, o, 'a', 'rewound');
  await must(s, 'POST', at('a', '/undo'), { json: {} });
  await sawHistory(s, o, 'a', 'undone');
  const edited = await told(s, 'a', { text: 'edited', replace: list[2].id });
  assert.equal(edited.status, 'done');
  assert.deepEqual(trimmed(o.model.seen('edited')), [['user', 'one'], ['assistant', 're: one'], ['user', 'edited']]);
  const again = await must(s, 'POST', at('a', '/regenerate'), { json: {} });
  assert.equal(again.status, 'done', JSON.stringify(again));
  assert.deepEqual(trimmed(o.model.seen('edited')), [['user', 'one'], ['assistant', 're: one'], ['user', 'edited']]);
  await sawHistory(s, o, 'a', 'behind it');
  for (const x of await o.sessions()) assert.equal(x.metadata.ramet.id, x.id, 'each belongs to a session');
});

big('a fork in the middle of an answer, other overlays: the transcript is put before the message', async (s, o) => {
  await newSession(s, { id: 'a' });
  await say(s, 'a', 'TOOL todowrite {"todos":[]}');
  await say(s, 'a', 'my pin is 1234');
  const list = await entries(s, 'a');
  const call = list.find((e) => e.parts.some((p) => p.type === 'tool_result'));
  const b = await fork(s, 'a', { at: { entry_id: call.id } });
  await say(s, b.id, 'middle');
  let seen = o.model.seen('middle');
  assert.equal(seen.length, 1);
  assert.match(seen[0][1], /calls todowrite[\s\S]*result[\s\S]*middle$/);
  assert.doesNotMatch(seen[0][1], /done|1234/);
  await say(s, b.id, 'more');
  assert.equal(o.model.seen('more').length, 3, 'the transcript comes once');
  for (const e of list.filter((x) => /1234/.test(x.text))) await must(s, 'POST', at('a', '/overlays'), { json: { entry_id: e.id, action: 'replace', text: 'a pin' } });
  await say(s, 'a', 'what is it');
  seen = o.model.seen('what is it');
  assert.ok(/a pin/.test(seen[0][1]) && !/1234/.test(JSON.stringify(seen)), JSON.stringify(seen));
});

big('what was done in OpenCode itself: a revert, more messages, a deleted session', async (s, o) => {
  await newSession(s, { id: 'a' });
  for (const text of ['one', 'two', 'three']) await say(s, 'a', text);
  const [inner] = await o.sessions();
  const messages = await o.call('GET', `/session/${inner.id}/message`);
  await o.call('POST', `/session/${inner.id}/revert`, { messageID: messages[2].info.id });
  await sawHistoryAnyhow(s, o, 'a', 'after a revert there');
  assert.equal((await o.call('GET', `/session/${inner.id}/message`)).length, 6, 'what it hid is still there');
  const f = await fork(s, 'a', { at: { entry_id: (await entries(s, 'a'))[1].id } });
  await sawHistory(s, o, f.id, 'a fork of what is reverted');

  const own = (await o.sessions()).find((x) => x.metadata.ramet.session === f.id);
  await o.call('POST', `/session/${own.id}/message`, { parts: [{ type: 'text', text: 'typed there' }] });
  await sawHistory(s, o, f.id, 'not typed there');
  for (const x of await o.sessions()) await o.call('DELETE', `/session/${x.id}`);
  await sawHistoryAnyhow(s, o, f.id, 'all are gone');
});

/** The same where OpenCode's session cannot have it: the transcript has it. */
async function sawHistoryAnyhow(s, o, session, message) {
  const before = await history(s, session);
  await say(s, session, message);
  const seen = o.model.seen(message);
  const text = seen.map((m) => m[1]).join('\n');
  let from = 0;
  for (const [, part] of before) {
    from = text.indexOf(part, from);
    assert.ok(from >= 0, `${part} is missing in ${text}`);
    from += part.length;
  }
}

big('OpenCode is killed in the middle of an answer, and started again', async (s, o) => {
  await newSession(s, { id: 'a' });
  await say(s, 'a', 'one');
  const turn = told(s, 'a', 'HOLD this');
  await eventually(async () => assert.match((await must(s, 'GET', at('a'))).running?.text ?? '', /re:/), patience);
  await o.kill();
  o.model.held.length = 0;
  await o.run();
  const cut = await turn;
  assert.equal(cut.status, 'failed');
  assert.match(JSON.stringify(cut), /in the middle of the answer/);
  await sawHistoryAnyhow(s, o, 'a', 'on it goes');
  const f = await fork(s, 'a', { at: { entry_id: (await entries(s, 'a'))[1].id } });
  await sawHistory(s, o, f.id, 'before that');
});

big('OpenCode is not there: the turn fails and says so; a password is sent', async (s, o) => {
  await newSession(s, { id: 'a' });
  const no = await told(s, 'a', 'one');
  assert.match(JSON.stringify(no), /refuses the password/);
  const secret = scratch('password');
  writeFileSync(secret, 'pass word\n');
  const t = await start({ args: ['--agent', `oc=opencode,url=${o.url},password_file=${secret}`] });
  await newSession(t, { id: 'a' });
  assert.equal(await say(t, 'a', 'one'), 're: one');
  await o.kill();
  const gone = await told(t, 'a', 'two');
  assert.equal(gone.status, 'failed');
  assert.match(JSON.stringify(gone), /cannot be reached/);
  await o.run();
  await sawHistoryAnyhow(t, o, 'a', 'three');
}, { password: 'pass word' });

big('a rewind keeps the files, or restores them; what would change is shown first', async (s, o) => {
  await newSession(s, { id: 'a' });
  const path = join(o.work, 'a.txt'), text = () => readFileSync(path, 'utf8');
  const write = (content) => say(s, 'a', `TOOL write {"filePath":"${path}","content":"${content}"}`);
  await write('one');
  const first = (await entries(s, 'a')).at(-1);
  await write('two');
  const shown = () => must(s, 'GET', at('a', `/rewind/files?entry_id=${enc(first.id)}`));
  let before; // OpenCode works out what a turn changed behind its answer
  await eventually(async () => {
    before = await shown();
    assert.deepEqual([before.available, before.changes.map((c) => c.file)], [true, ['a.txt']]);
  }, patience);
  assert.match(before.changes[0].patch, /-one[\s\S]*\+two/);
  assert.equal(text(), 'two', 'showing changes nothing');
  await must(s, 'POST', at('a', '/rewind'), { json: { at: { entry_id: first.id } } });
  assert.equal(text(), 'two', 'keep is the default');
  await must(s, 'POST', at('a', '/undo'), { json: {} });
  await must(s, 'POST', at('a', '/rewind'), { json: { at: { entry_id: first.id }, files: 'restore' } });
  assert.equal(text(), 'one');
  await sawThread(s, o, 'a', 'and on');
  assert.equal(text(), 'one');
  const last = (await entries(s, 'a')).at(-1);
  assert.equal((await must(s, 'GET', at('a', `/rewind/files?entry_id=${enc(last.id)}`))).available, false);
  const no = await call(s, 'POST', at('a', '/rewind'), { json: { at: { entry_id: first.id }, files: 'restore' } });
  assert.deepEqual([no.status, no.body.code], [409, 'no_snapshot'], 'nothing has changed since');
  assert.equal((await entries(s, 'a')).at(-1).id, last.id, 'and the head stays');
});

test('Ramet is killed: between turns, in a turn, in a fork; nothing is left over, nothing is there twice', async () => {
  const o = await startOpenCode();
  if (o.skip) return o;
  const d = await door(() => o.url);
  const db = scratch('store.db');
  const again = () => start({ db, args: ['--agent', `oc=opencode,url=${d.url}`] });
  const killed = async (s) => {
    s.child.kill('SIGKILL');
    await s.end;
    return again();
  };
  try {
    let s = await again();
    await newSession(s, { id: 'a' });
    for (const text of ['one', 'two', 'three']) await say(s, 'a', text);
    s = await killed(s);
    await sawHistory(s, o, 'a', 'four');
    assert.equal((await o.sessions()).length, 1, 'the inner session is found again');

    const { id } = await fork(s, 'a', { at: { entry_id: (await entries(s, 'a'))[3].id } });
    const held = d.hold((q) => /\/fork/.test(q.url));
    call(s, 'POST', at(id, '/messages'), { json: { text: 'in the fork' } }).catch(() => {});
    const copy = JSON.parse(await held);
    s.child.kill('SIGKILL');
    await s.end;
    d.open();
    assert.equal((await o.sessions()).length, 2, 'a copy that nobody knows');
    s = await again();
    await eventually(async () => assert.equal((await o.sessions()).length, 1, 'it is gone with the next start'), patience);
    await eventually(async () => assert.equal((await must(s, 'GET', at(id, '/entries'))).entries.length, 5), patience);
    const list = await entries(s, id);
    await must(s, 'POST', at(id, '/rewind'), { json: { at: { entry_id: list[3].id } } });
    await sawHistory(s, o, id, 'in the fork again');
    const left = await o.sessions();
    assert.ok(left.every((x) => x.id !== copy.id));
    assert.deepEqual(left.map((x) => x.metadata.ramet.session).sort(), ['a', id].sort());
    assert.ok(left.every((x) => !x.metadata.ramet.forking && x.metadata.ramet.id === x.id));

    call(s, 'POST', at('a', '/messages'), { json: { text: 'HOLD it' } }).catch(() => {});
    await eventually(async () => assert.match((await must(s, 'GET', at('a'))).running?.text ?? '', /re:/), patience);
    s = await killed(s);
    o.model.release();
    const [inner] = left.filter((x) => x.metadata.ramet.session === 'a');
    await eventually(async () => assert.ok(!(await o.call('GET', '/session/status'))[inner.id]), patience);
    await must(s, 'POST', at('a', '/rewind'), { json: { at: { entry_id: (await entries(s, 'a')).findLast((e) => e.text.trim() === 're: four').id } } });
    await sawHistory(s, o, 'a', 'five');
    await s.stop();
  } finally {
    await o.stop();
    d.stop();
  }
}, { seconds: 180 });

// ------------------------------------------------------------------ a sandbox with OpenCode in it

const sandbox = (s) => must(s, 'GET', '/api/v2/sandboxes/work/forks');
const prompt = (o, id, text) => o.call('POST', `/session/${id}/message`, { parts: [{ type: 'text', text }] });

/** A sandbox that is linked to a server of OpenCode, after it was used there: `run(s, o, again)`. */
function linked(name, run, options = {}) {
  test(name, async () => {
    const o = await startOpenCode(options);
    if (o.skip) return o;
    const db = scratch('store.db');
    try {
      const seed = await o.call('POST', '/session', { title: 'From OpenCode', metadata: { mine: 1 } });
      for (const text of ['one', 'TOOL todowrite {"todos":[]}', 'three']) await prompt(o, seed.id, text);
      execFileSync(RAMET, ['sandbox', 'add', 'work', '--opencode', o.url, '--db', db]);
      const again = () => start({ db });
      const s = await again();
      const first = await eventually(async () => {
        const { rootSessions } = await sandbox(s);
        assert.equal(rootSessions.length, 1);
        assert.equal((await history(s, rootSessions[0])).at(-1)[1], 're: three');
        return rootSessions[0];
      }, patience);
      await run({ s, o, seed: seed.id, first, again });
    } finally {
      await o.stop();
    }
  }, { seconds: 180 });
}

linked('sessions of OpenCode are read in, continued on both sides, and forked, once each', async ({ s, o, seed, first, again }) => {
  const list = await entries(s, first);
  assert.deepEqual(list.map((e) => e.role), ['user', 'assistant', 'user', 'assistant', 'assistant', 'tool', 'assistant', 'user', 'assistant']);
  assert.deepEqual(list[1].parts.map((p) => p.type), ['thinking', 'text']);
  assert.equal((await must(s, 'GET', at(first))).title, 'From OpenCode');
  assert.doesNotMatch(JSON.stringify(list), /msg_|ses_|prt_/, 'its ids stay there');
  assert.equal((await o.call('GET', `/session/${seed}`)).metadata.mine, 1, 'what else was in its metadata is kept');

  await sawThread(s, o, first, 'from here');
  assert.equal((await o.sessions()).length, 1, 'in the same session of OpenCode');
  await prompt(o, seed, 'from there');
  await eventually(async () => assert.equal((await history(s, first)).at(-1)[1], 're: from there'), patience);
  await sawThread(s, o, first, 'here again');
  const f = await fork(s, first, { at: { entry_id: (await entries(s, first)).find((e) => e.text === 'three').id, side: 'before' } });
  await sawThread(s, o, f.id, 'in a fork');
  assert.equal((await sandbox(s)).forks.length, 1);

  const theirs = await o.call('POST', `/session/${seed}/fork`, {});
  await prompt(o, theirs.id, 'in their fork');
  const id = await eventually(async () => {
    const { forks } = await sandbox(s);
    assert.equal(forks.length, 2);
    const found = forks.find((x) => x.id !== f.id);
    assert.equal((await history(s, found.id)).at(-1)[1], 're: in their fork');
    return found.id;
  }, patience);
  const there = await entries(s, id), here = await entries(s, first);
  assert.deepEqual(there.slice(0, here.length).map((e) => e.id), here.map((e) => e.id), 'what they share is shared');
  await sawThread(s, o, id, 'and on in it');
  const before = await sandbox(s), counts = (await entries(s, first)).length;
  await s.stop();
  await prompt(o, seed, 'while nobody looked');
  const t = await again();
  await eventually(async () => assert.equal((await history(t, first)).at(-1)[1], 're: while nobody looked'), patience);
  const after = await sandbox(t);
  assert.deepEqual([after.rootSessions, after.forks.map((x) => x.id)], [before.rootSessions, before.forks.map((x) => x.id)]);
  assert.equal((await entries(t, first)).length, counts + 2);
  await t.stop();
});

linked('an edit and a new answer in OpenCode are branches here; a revert is a rewind', async ({ s, o, seed, first }) => {
  const messages = await o.call('GET', `/session/${seed}/message`);
  const last = messages.findLast((m) => m.info.role === 'user').info.id;
  await o.call('POST', `/session/${seed}/revert`, { messageID: last });
  await eventually(async () => assert.equal((await history(s, first)).at(-1)[1], 'done'), patience);
  await o.call('POST', `/session/${seed}/unrevert`);
  await eventually(async () => assert.equal((await history(s, first)).at(-1)[1], 're: three'), patience);
  await o.call('POST', `/session/${seed}/revert`, { messageID: last });
  await prompt(o, seed, 'three, edited');
  await eventually(async () => assert.equal((await history(s, first)).at(-1)[1], 're: three, edited'), patience);
  const edited = (await o.call('GET', `/session/${seed}/message`)).findLast((m) => m.info.role === 'user').info.id;
  await o.call('POST', `/session/${seed}/revert`, { messageID: edited });
  await prompt(o, seed, 'three, edited');
  const branches = await eventually(async () => {
    const r = await must(s, 'GET', `/api/v2/sandboxes/work/sessions/${first}/branches`);
    assert.ok(r.branches.some((b) => b.branchType === 'auto-regenerate'), JSON.stringify(r));
    return r.branches;
  }, patience);
  assert.ok(branches.some((b) => b.branchType === 'auto-edit'));
  const texts = await Promise.all(branches.map(async (b) => b.entryId));
  assert.equal(new Set(texts).size, branches.length, 'no version is there twice');
  await s.stop();
});

linked('OpenCode goes and comes back; Ramet is killed in a turn, and its answer is brought in', async ({ s, o, first, again }) => {
  await o.kill();
  await o.run();
  call(s, 'POST', at(first, '/messages'), { json: { text: 'HOLD it' } }).catch(() => {});
  await eventually(async () => assert.match((await must(s, 'GET', at(first))).running?.text ?? '', /re:/), patience);
  s.child.kill('SIGKILL');
  await s.end;
  o.model.release();
  const t = await again();
  await eventually(async () => assert.deepEqual((await history(t, first)).slice(-2), [['user', 'HOLD it'], ['assistant', 're: HOLD it']]), patience);
  await sawThread(t, o, first, 'it goes on');
  assert.equal((await o.sessions()).length, 1);
  assert.equal((await sandbox(t)).rootSessions.length, 1);
  await t.stop();
});

linked('what is erased, or gone for good, here is removed from OpenCode', async ({ s, o, seed, first, again }) => {
  await newSession(s, { id: 'secret', sandbox: 'work' });
  assert.equal((await must(s, 'GET', at('secret'))).agent.name, 'opencode-work', 'sessions of the sandbox are answered by it');
  await say(s, 'secret', 'my pin is 1234');
  await newSession(s, { id: 'other', sandbox: 'work' });
  await say(s, 'other', 'nothing special');
  const three = (await entries(s, first)).find((e) => e.text === 'three');
  for (const e of await entries(s, 'secret')) await must(s, 'POST', 'erase', { json: { entry: { session_id: 'secret', entry_id: e.id } } });
  await must(s, 'POST', 'erase', { json: { entry: { session_id: first, entry_id: three.id } } });
  await s.stop();
  const t = await again();
  await eventually(async () => {
    const all = await o.sessions();
    assert.deepEqual(all.map((x) => x.metadata.ramet.session).sort(), [first, 'other'].sort());
    assert.doesNotMatch(JSON.stringify(await o.call('GET', `/session/${seed}/message`)), /"three"/);
  }, patience);
  await say(t, 'secret', 'and now');
  assert.doesNotMatch(JSON.stringify(o.model.seen('and now')), /1234/);
  await t.stop();
});

// ------------------------------------------------------------------ OpenCode's routes, with its own client

test('the client of OpenCode: sessions, messages, prompts, forks, reverts, events', async () => {
  const sdk = await file('@opencode-ai/sdk/dist/client.js').then((f) => import(pathToFileURL(f))).catch((e) => ({ skip: `@opencode-ai/sdk is not installed: ${e.message.split('\n')[0]}` }));
  if (sdk.skip) return sdk;
  const s = await start();
  await must(s, 'POST', 'sandboxes', { json: { id: 'work' } });
  const client = sdk.createOpencodeClient({ baseUrl: `${s.url}/api/v2/sandboxes/work/opencode` });
  const got = async (promise) => {
    const r = await promise;
    assert.ok(!r.error, JSON.stringify(r.error));
    return r.data;
  };
  const events = [];
  const { stream } = await client.event.subscribe();
  (async () => { for await (const e of stream) events.push(e); })().catch(() => {});
  await eventually(() => assert.equal(events[0]?.type, 'server.connected'), patience);

  const made = await got(client.session.create({ body: { title: 'Trip', metadata: { mine: 1 } } }));
  assert.match(made.id, /^ses_/);
  const path = { id: made.id };
  const text = (t) => ({ parts: [{ type: 'text', text: t }] });
  const one = await got(client.session.prompt({ path, body: text('one') }));
  assert.deepEqual([one.info.role, one.info.sessionID, one.parts[0].text], ['assistant', made.id, 'one']);
  await got(client.session.prompt({ path, body: text('/tool look {"at":"sky"}\ntwo') }));
  const user = await got(client.session.prompt({ path, body: { ...text('three'), noReply: true } }));
  assert.equal(user.info.role, 'user');
  const messages = await got(client.session.messages({ path }));
  assert.deepEqual(messages.map((m) => m.info.role), ['user', 'assistant', 'user', 'assistant', 'user']);
  assert.equal(messages[1].info.parentID, messages[0].info.id);
  const tool = messages[3].parts.find((p) => p.type === 'tool');
  assert.deepEqual([tool.tool, tool.state.status, tool.state.input], ['look', 'completed', { at: 'sky' }]);
  assert.deepEqual(messages.map((m) => m.info.id).toSorted(), messages.map((m) => m.info.id), 'ids sort as they follow');
  assert.equal((await got(client.session.messages({ path, query: { limit: 2 } }))).length, 2);
  assert.deepEqual(await got(client.session.message({ path: { id: made.id, messageID: messages[3].info.id } })), messages[3]);

  const fork = await got(client.session.fork({ path, body: { messageID: messages[2].info.id } }));
  assert.deepEqual((await got(client.session.messages({ path: { id: fork.id } }))).map((m) => m.parts[0].text), ['one', 'one']);
  const list = await got(client.session.list());
  assert.deepEqual(list.map((x) => x.id).sort(), [made.id, fork.id].sort());
  assert.deepEqual((await got(client.session.children({ path }))).map((x) => x.id), [fork.id]);
  const pod = (rest) => must(s, 'GET', `/api/v2/sandboxes/work/sessions/${enc(fork.id)}${rest}`);
  assert.equal((await pod('/fork-info')).fork.parentSessionId, list.find((x) => x.id === made.id).slug, 'its lineage is recorded');
  const both = await must(s, 'POST', `/api/v2/sandboxes/work/opencode/session/${made.id}/fork`, { json: { messageId: messages[3].info.id } });
  assert.equal((await got(client.session.messages({ path: { id: both.id } }))).length, 3);
  const none = await client.session.fork({ path, body: { messageID: 'msg_000000000000000000000000zz' } });
  assert.equal(none.response.status, 404);
  assert.equal((await got(client.session.list())).length, 3, 'nothing was made');

  const reverted = await got(client.session.revert({ path, body: { messageID: messages[3].info.id } }));
  assert.equal(reverted.revert.messageID, messages[2].info.id, 'with the message that it answers');
  assert.equal((await got(client.session.messages({ path }))).length, 2);
  const dead = await got(client.session.fork({ path, body: {} }));
  assert.equal((await got(client.session.messages({ path: { id: dead.id } }))).length, 2, 'nothing comes back to life');
  assert.equal((await got(client.session.unrevert({ path }))).revert, undefined);
  assert.equal((await got(client.session.messages({ path }))).length, 5);
  await got(client.session.revert({ path, body: { messageID: messages[2].info.id } }));
  await got(client.session.prompt({ path, body: text('another way') }));
  assert.equal((await must(s, 'GET', `/api/v2/sandboxes/work/sessions/${enc(made.id)}/branches`)).branches.length, 2, 'what was left is a branch');
  assert.equal((await call(s, 'POST', `/api/v2/sandboxes/work/opencode/session/${made.id}/revert`, { json: {} })).status, 400);

  await got(client.session.promptAsync({ path, body: text('/slow 20000 a b') }));
  await eventually(async () => assert.ok((await got(client.session.status()))[made.id]), patience);
  assert.equal(await got(client.session.abort({ path })), true);
  await eventually(async () => assert.ok(!(await got(client.session.status()))[made.id]), patience);
  const last = (await got(client.session.messages({ path }))).at(-1);
  assert.equal(last.info.error.name, 'MessageAbortedError');
  assert.equal((await got(client.session.update({ path, body: { title: 'Journey' } }))).title, 'Journey');
  assert.deepEqual((await got(client.session.get({ path }))).metadata, { mine: 1 });
  await got(client.session.delete({ path: { id: fork.id } }));
  assert.equal((await client.session.get({ path: { id: fork.id } })).response.status, 404);
  await eventually(() => {
    const types = new Set(events.map((e) => e.type));
    for (const t of ['session.created', 'session.updated', 'session.deleted', 'message.updated', 'message.part.updated']) assert.ok(types.has(t), `${t}: ${[...types]}`);
  }, patience);
  assert.equal((await call(s, 'GET', `/api/v2/sandboxes/work/opencode/session/${made.id}`, { user: 'eve' })).status, 404);
  await s.stop();
}, { seconds: 120 });

/** As sawHistory(), where tools were called: what the users and the assistants said. */
async function sawThread(s, o, session, message) {
  const said = (list) => list.filter(([role, text]) => role !== 'tool' && text.trim()).map(([role, text]) => [role, text.trim()]);
  const before = said(await history(s, session));
  await say(s, session, message);
  assert.deepEqual(said(o.model.seen(message)), [...before, ['user', message]]);
}

await finish();
