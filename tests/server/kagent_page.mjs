// SPDX-License-Identifier: Apache-2.0
//
// kagent_page.mjs: kagent's page as a client: the requests that it makes and the shapes that it
// reads. A page keeps what it shows as a list of cards; the live stream and a reload must lead to the
// same list, and before it sends anything it compares that list with the tasks of the session (its
// send guard). Everything here reads kagent's own routes, as the page does.
import { randomUUID as uuid } from 'node:crypto';
import { test, finish, start, call, must, enc, eventually, assert } from './lib.mjs';
import { remotes, startAgent } from './help/a2a.mjs';

const USER = 'admin@kagent.dev';
const meta = (of, key) => of?.metadata?.[`adk_${key}`] ?? of?.metadata?.[`kagent_${key}`];
const texts = (parts) => parts.filter((p) => p.kind === 'text').map((p) => p.text).join('');
const tools = (parts, type) => parts.filter((p) => p.kind === 'data' && meta(p, 'type') === type);
const asks = (parts) => tools(parts, 'function_call').filter((p) => meta(p, 'is_long_running') === true && p.data.name === 'adk_request_confirmation');
const decisionIn = (m) => m.role === 'user' && m.parts.find((p) => p.kind === 'data' && p.data?.decision_type != null)?.data;

/** The card of a question: a form (ask_user), or the approval of one or more calls. */
function questionCard(part, decision) {
  const { originalFunctionCall: of, toolConfirmation } = part.data.args;
  const inner = toolConfirmation?.payload?.hitl_parts;
  const form = of.name === 'ask_user' ? of : inner?.length === 1 && inner[0].originalFunctionCall.name === 'ask_user' ? inner[0].originalFunctionCall : null;
  if (form) return { card: 'form', id: form.id ?? part.data.id, questions: form.args.questions, ...(decision ? { answers: decision.ask_user_answers } : {}) };
  const calls = (inner ?? [{ originalFunctionCall: of }]).map((x) => ({ id: x.originalFunctionCall.id ?? part.data.id, name: x.originalFunctionCall.name, args: x.originalFunctionCall.args }));
  return { card: 'approval', calls, ...(decision ? { decision: decision.decision_type === 'batch' ? decision.decisions : decision.decision_type } : {}) };
}
const callCard = (p) => ({ card: 'call', id: p.data.id, name: p.data.name, args: p.data.args });
const resultCard = (p) => ({ card: 'result', id: p.data.id, response: p.data.response });

/** The cards of a session's tasks, as after a reload. */
function cardsOf(tasks) {
  const cards = [], seen = new Set();
  for (const task of tasks) {
    const history = task.history ?? [];
    for (const [i, m] of history.entries()) {
      if (m.kind !== 'message' || seen.has(m.messageId)) continue;
      seen.add(m.messageId);
      const questions = asks(m.parts);
      if (questions.length) {
        const decision = history.slice(i + 1).map(decisionIn).find(Boolean);
        if (decision) cards.push(...questions.map((p) => questionCard(p, decision)));
        continue;
      }
      if (decisionIn(m)) continue;
      if (m.role === 'user') {
        cards.push({ card: 'user', messageId: m.messageId, text: texts(m.parts), invocation: meta(m, 'invocation_id') });
        continue;
      }
      const made = m.parts.flatMap((p) => (tools([p], 'function_call').length ? [callCard(p)] : tools([p], 'function_response').length ? [resultCard(p)] : []));
      cards.push(...(made.length ? made : [{ card: 'agent', text: texts(m.parts) }]));
    }
  }
  return cards;
}
const tokensOf = (tasks) => tasks.flatMap((t) => t.history ?? []).filter((m) => m.role !== 'user')
  .reduce((n, m) => n + (meta(m, 'usage_metadata')?.totalTokenCount ?? 0), 0);
/** What the send guard knows a card by. */
const known = (c) => (c.card === 'user' ? c.messageId : JSON.stringify([c.card, c.text, c.id, c.name, c.args, c.response, c.questions, c.calls]));

class Page {
  constructor(s, agent = 'echo') {
    Object.assign(this, { s, agent, cards: [], tokens: 0, streaming: '', status: 'ready', asking: null });
  }
  api(method, path, json) {
    return call(this.s, method, `/api${path}${path.includes('?') ? '&' : '?'}user_id=${enc(USER)}`, { json });
  }
  async data(method, path, json) {
    const r = await this.api(method, path, json);
    assert.ok(r.status < 300, `${method} ${path}: ${r.status} ${r.text}`);
    return r.body.data;
  }
  tasks = async () => (await this.data('GET', `/sessions/${enc(this.id)}/tasks`)) ?? [];

  /** The first message makes the session. */
  async begin(text) {
    this.id = (await this.data('POST', '/sessions', { agent_ref: `kagent/${this.agent}`, name: text.slice(0, 20) })).id;
    return this.send(text);
  }
  /** A reload, or another window. */
  async open(id = this.id) {
    Object.assign(this, { id, cards: [], tokens: 0, streaming: '', asking: null, status: 'ready' });
    assert.ok(await this.data('GET', `/sessions/${enc(id)}`), 'the session exists');
    const tasks = await this.tasks();
    this.cards = cardsOf(tasks);
    this.tokens = tokensOf(tasks);
    for (const t of tasks.filter((x) => x.status.state === 'input-required' && x.status.message)) {
      const questions = asks(t.status.message.parts);
      this.cards.push(...questions.map((p) => questionCard(p)));
      if (questions.length) this.asking = { taskId: t.id, questions: questions.map((p) => questionCard(p)) };
    }
    if (this.asking) this.status = 'input_required';
    return this;
  }
  /** Why the page would not send now; null: it would. */
  async guard() {
    const tasks = await this.tasks();
    const open = tasks.find((t) => ['submitted', 'working', 'input-required'].includes(t.status.state));
    if (open) return `a task is ${open.status.state}`;
    const mine = new Map();
    for (const c of this.cards) mine.set(known(c), (mine.get(known(c)) ?? 0) + 1);
    for (const c of cardsOf(tasks)) {
      if (!mine.get(known(c))) return `the tasks hold what the page does not show: ${known(c)}`;
      mine.set(known(c), mine.get(known(c)) - 1);
    }
    return null;
  }
  async stream(message) {
    const answer = await fetch(`${this.s.url}/api/a2a/kagent/${this.agent}/`, {
      method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', 'X-User-Id': USER },
      body: JSON.stringify({ jsonrpc: '2.0', id: uuid(), method: 'message/stream', params: { message, metadata: {} } }) });
    assert.equal(answer.status, 200);
    const events = [];
    for (const block of (await answer.text()).split('\n\n'))
      for (const line of block.split('\n').filter((l) => l.startsWith('data: '))) {
        const { result, error } = JSON.parse(line.slice(6));
        assert.equal(error, undefined, JSON.stringify(error));
        events.push(result);
        this.take(result);
      }
    return events;
  }
  /** One event of a stream. */
  take(e) {
    if (e.kind === 'task') return;
    const usage = meta(e, 'usage_metadata');
    if (usage) this.pending = usage.totalTokenCount;
    if (e.kind === 'status-update') {
      const m = e.status.message;
      const questions = e.status.state === 'input-required' && m ? asks(m.parts) : [];
      if (questions.length) {
        this.cards.push(...questions.map((p) => questionCard(p)));
        Object.assign(this, { status: 'input_required', asking: { taskId: e.taskId, questions: questions.map((p) => questionCard(p)) } });
        return;
      }
      if (m && m.role !== 'user')
        for (const p of m.parts) {
          if (p.kind === 'text' && e.final) this.cards.push({ card: 'agent', text: p.text, local: true });
          else if (p.kind === 'text') this.streaming += p.text;
          else if (tools([p], 'function_call').length) this.cards.push(callCard(p));
          else if (tools([p], 'function_response').length) this.cards.push(resultCard(p));
        }
      if (e.final) {
        Object.assign(this, { status: 'ready', streaming: '' });
        this.tokens += this.pending ?? 0;
        this.pending = 0;
      }
      return;
    }
    if (!e.lastChunk) return;
    this.streamed = this.streaming;
    this.streaming = '';
    if (texts(e.artifact.parts)) this.cards.push({ card: 'agent', text: texts(e.artifact.parts) });
  }
  /** A message of the user, through the send guard. */
  async send(text) {
    assert.equal(await this.guard(), null);
    const message = { kind: 'message', messageId: uuid(), role: 'user', parts: [{ kind: 'text', text }], contextId: this.id };
    this.cards.push({ card: 'user', messageId: message.messageId, text });
    return this.stream(message);
  }
  /** A decision on the open question. */
  async decide(decision, text) {
    assert.equal(this.status, 'input_required');
    const { taskId } = this.asking;
    Object.assign(this, { asking: null, status: 'thinking' });
    return this.stream({ kind: 'message', messageId: uuid(), role: 'user', contextId: this.id, taskId,
                         parts: [{ kind: 'data', data: decision, metadata: {} }, { kind: 'text', text }] });
  }
  approve = () => this.decide({ decision_type: 'approve' }, 'Approved');
  reject = (reasons) => this.decide({ decision_type: 'reject', ...(reasons ? { rejection_reasons: reasons } : {}) }, 'Rejected');
  batch = (decisions) => this.decide({ decision_type: 'batch', decisions }, 'Decided');
  answer = (...answers) => this.decide({ decision_type: 'approve', ask_user_answers: answers.map((a) => ({ answer: [a].flat() })) }, 'Answered questions');
  /** The seeds' menu: the id that a card of the user carries. */
  async invocation(text) {
    const card = cardsOf(await this.tasks()).find((c) => c.card === 'user' && c.text === text);
    assert.ok(card?.invocation, `the message ${text} names its invocation`);
    return card.invocation;
  }
  async rewind(text) {
    const id = await this.invocation(text);
    const events = await this.stream({ kind: 'message', messageId: uuid(), role: 'user', contextId: this.id, parts: [{ kind: 'text', text: '' }],
                                       metadata: { kagent_rewind_before_invocation_id: id } });
    assert.deepEqual([events[0].kind, events.at(-1).kind, events.at(-1).status.state, events.at(-1).final], ['task', 'status-update', 'completed', true]);
    Object.assign(this, { cards: cardsOf([events[0]]), tokens: tokensOf([events[0]]) });
    return this;
  }
  async fork(text) {
    const made = await this.data('POST', `/sessions/${enc(this.id)}/fork`, { rewind_before_invocation_id: await this.invocation(text) });
    return new Page(this.s, this.agent).open(made.id);
  }
  /** Live and reloaded, the page shows the same, and would send the next message. */
  async agrees() {
    const other = await new Page(this.s, this.agent).open(this.id);
    const settled = (list) => list.filter((c) => !c.local).map((c) => {
      const { decision, answers, invocation, ...rest } = c;
      return void [decision, answers, invocation], rest;
    });
    assert.deepEqual(settled(this.cards), settled(other.cards), 'live and after a reload');
    assert.equal(this.tokens, other.tokens, `tokens: ${JSON.stringify(this.cards.at(-1))}`);
    assert.equal(await this.guard(), null);
    assert.equal(await other.guard(), null);
    return other;
  }
}
const shown = (page) => page.cards.map((c) => (c.card === 'call' || c.card === 'result' ? c.card : c.card === 'form' ? `form ${c.answers?.map((a) => a.answer.join('+')).join('|') ?? 'open'}`
  : c.card === 'approval' ? `approval ${JSON.stringify(c.decision ?? 'open')}` : c.text));

test('a conversation: text, tools, thoughts, plans, tokens; live and reloaded', async () => {
  const page = new Page(await start());
  await page.begin('hello');
  await page.agrees();
  for (const text of ['/think hm\nyes', '/plan a; b\n/think hm\nplanned', 'before', '/tool look {"a":1}\nafter', '/think x\n/tool look {"a":2}\n/tool look {"a":3}\nboth', '/fail 1 too bad', 'on'])
    await page.send(text), await page.agrees();
  assert.deepEqual(shown(page).slice(0, 4), ['hello', 'hello', '/think hm\nyes', 'yes'], 'no thoughts');
  const counted = page.tokens;
  await page.send('/usage 10 5\ncounted');
  assert.equal(page.tokens, counted + 15);
  await page.agrees();
  const tasks = await page.tasks();
  assert.ok(tasks.flatMap((t) => t.history).every((m) => m.parts.length && m.parts.some((p) => p.kind !== 'text' || p.text)), 'no empty messages');
  assert.ok(tasks.flatMap((t) => t.history).every((m) => m.metadata.kagent_invocation_id), 'every message names its invocation');
});

test('the send guard: a task that works or asks, and a message from another window', async () => {
  const s = await start(), page = new Page(s);
  await page.begin('one');
  const other = await new Page(s).open(page.id);
  await other.send('from elsewhere');
  assert.match(await page.guard(), /does not show/);
  await page.open();
  const slow = page.send(`/slow 30 ${'w '.repeat(60)}`);
  await eventually(async () => assert.match(await other.guard(), /is working/));
  await slow;
  await page.agrees();
  await page.send('/ask what?');
  assert.match(await page.guard(), /input-required/);
  await page.answer('this');
  await page.agrees();
});

test('a form is asked, answered, and stands in the history', async () => {
  const page = new Page(await start());
  await page.begin('/ask which colour?\n/tool look {}\nthanks');
  assert.deepEqual([page.status, page.asking.questions[0].questions], ['input_required', [{ question: 'which colour?' }]]);
  const again = await new Page(page.s).open(page.id);
  assert.deepEqual([again.status, again.asking], ['input_required', page.asking], 'a reload asks the same');
  await again.answer(['green', 'blue']);
  assert.equal(again.status, 'ready');
  const after = await again.agrees();
  assert.deepEqual(shown(after), ['/ask which colour?\n/tool look {}\nthanks', 'form green+blue', 'You answered: green, blue', 'call', 'result', 'thanks']);
  await again.send('and on');
  await again.agrees();
  // The native API has both as entries, and answers a question that the page then shows as answered.
  const native = (await must(page.s, 'GET', `sessions/${page.id}/entries?versions=false`, { user: USER })).entries;
  assert.deepEqual(native.slice(0, 4).map((e) => [e.role, e.text]).slice(1, 3), [['assistant', 'which colour?'], ['user', 'Answered questions']]);
  const asked = again.send('/ask native?\nok');
  await asked;
  const { running } = await must(page.s, 'GET', `sessions/${page.id}`, { user: USER });
  await must(page.s, 'POST', `sessions/${page.id}/turns/${running.turn_id}/answer`, { user: USER, json: { question_id: running.question.id, answer: 'from there' } });
  await eventually(async () => assert.equal((await must(page.s, 'GET', `sessions/${page.id}`, { user: USER })).running, null));
  assert.deepEqual(shown(await again.open()).slice(-2), ['form from there', 'You answered: from there\nok']);
});

test('an approval: confirmed, rejected, in a batch', async () => {
  const page = new Page(await start());
  await page.begin('/permit really?\nend');
  assert.deepEqual(page.asking.questions[0].calls.map((c) => c.args.question), ['really?']);
  await page.approve();
  assert.deepEqual(shown(await page.agrees()), ['/permit really?\nend', 'approval "approve"', 'You answered: allow\nend']);
  await page.send('/permit again?\nend');
  await page.reject();
  assert.deepEqual(shown(await page.agrees()).slice(-2), ['approval "reject"', 'You answered: deny\nend']);
  await page.send('/permit a batch?\nend');
  const [{ calls: [{ id }] }] = page.asking.questions;
  await page.batch({ [id]: 'reject' });
  assert.deepEqual(shown(await page.agrees()).slice(-2), [`approval {"${id}":"reject"}`, 'You answered: deny\nend']);
});

for (const version of ['0.3', '1.0'])
  test(`confirmations of a remote agent of ${version} pass through whole, both ways`, async () => {
    const remote = await startAgent(version);
    const s = await start({ args: ['--agent', `far=a2a,url=${remote.url}`] });
    const page = new Page(s, 'far');
    const confirm = (id, name, args, payload) => ({ id: `confirm-${id}`, name: 'adk_request_confirmation',
      args: { originalFunctionCall: { id, name, args }, toolConfirmation: { hint: `may ${name} run?`, confirmed: false, ...(payload ? { payload } : {}) } } });
    const given = () => remote.log.at(-1).message.parts.find((p) => p.kind === 'data').data;
    const asked = async (calls) => {
      const text = `confirm ${JSON.stringify(calls)}`;
      const events = await (page.id ? page.send(text) : page.begin(text));
      assert.deepEqual(asks(events.at(-1).status.message.parts).map((p) => p.data), calls, 'as the agent sent them');
      const [task] = (await page.tasks()).slice(-1);
      assert.deepEqual(asks(task.status.message.parts).map((p) => p.data), calls, 'and after a reload');
    };
    await asked([confirm('c1', 'drop', { table: 'a' })]);
    await page.approve();
    assert.deepEqual(given(), { decision_type: 'approve' });
    await page.agrees();
    await asked([confirm('c2', 'drop', { table: 'b' }), confirm('c3', 'keep', { table: 'c' })]);
    const decision = { decision_type: 'batch', decisions: { c2: 'reject', c3: 'approve' }, rejection_reasons: { c2: 'not that one' } };
    await page.decide(decision, 'Decided');
    assert.deepEqual(given(), decision);
    assert.deepEqual((await page.agrees()).cards.filter((c) => c.card === 'approval').map((c) => c.decision), ['approve', decision.decisions, decision.decisions]);
    await asked([confirm('c4', 'ask_user', { questions: [{ question: 'which?', choices: ['x', 'y'], multiple: true }, { question: 'why?' }] })]);
    await page.answer(['x', 'y'], 'because');
    assert.deepEqual(given().ask_user_answers, [{ answer: ['x', 'y'] }, { answer: ['because'] }]);
    await page.agrees();
    await asked([confirm('c5', 'helper', {}, { subagent_name: 'helper', hitl_parts: [{ id: 'c6', originalFunctionCall: { id: 'c6', name: 'drop', args: { table: 'd' } } }] })]);
    await page.reject({ c6: 'never' });
    assert.deepEqual(given(), { decision_type: 'reject', rejection_reasons: { c6: 'never' } });
    await page.agrees();
    // A client of the native API answers in words.
    for (const [calls, answer, expected] of [
      [[confirm('c7', 'drop', {})], 'approve', { decision_type: 'approve' }],
      [[confirm('c8', 'ask_user', { questions: [{ question: 'a?' }, { question: 'b?' }] })], 'one\ntwo', { decision_type: 'approve', ask_user_answers: [{ answer: ['one'] }, { answer: ['two'] }] }]]) {
      await asked(calls);
      const { running } = await must(s, 'GET', `sessions/${page.id}`, { user: USER });
      await must(s, 'POST', `sessions/${page.id}/turns/${running.turn_id}/answer`, { user: USER, json: { question_id: running.question.id, answer } });
      await eventually(async () => assert.equal((await must(s, 'GET', `sessions/${page.id}`, { user: USER })).running, null));
      assert.deepEqual(given(), expected);
      await page.open();
    }
    await remote.stop();
  });

for (const version of remotes)
  test(`a remote agent of ${version} that answers as ADK's do: texts, tools and tokens, live and reloaded`, async () => {
    const remote = await startAgent(version);
    const s = await start({ args: ['--agent', `far=a2a,url=${remote.url}`] });
    const page = new Page(s, 'far');
    await page.begin('adk');
    assert.deepEqual([shown(page), page.tokens], [['adk', 'Let me look.', 'call', 'result', 'It is blue.'], 8 + 12]);
    await page.agrees();
    const { own } = await must(s, 'GET', `sessions/${page.id}/usage`, { user: USER });
    assert.deepEqual([own.input, own.output], [5 + 9, 3 + 3]);
    const history = (await page.tasks()).flatMap((t) => t.history);
    assert.deepEqual(history.filter((m) => texts(m.parts) && m.role === 'agent').map((m) => m.metadata.kagent_author), ['far', 'far']);
    assert.equal(new Set(history.map((m) => meta(m, 'invocation_id'))).size, 1, 'the invocation is ours');
    await page.send('adk');
    await page.agrees();
    await page.rewind('adk');
    await page.send('adk');
    assert.equal(shown(await page.agrees()).length, 5);
    await remote.stop();
  });

test('rewind, fork, undo: the menu finds what to send, live and after a reload', async () => {
  const page = new Page(await start());
  await page.begin('one');
  for (const text of ['two', '/ask three?\nend']) await page.send(text);
  await page.answer('yes');
  await page.send('four');
  const fork = await page.fork('four');
  assert.deepEqual(shown(fork), ['one', 'one', 'two', 'two', '/ask three?\nend', 'form yes', 'You answered: yes\nend']);
  await fork.send('five');
  await fork.agrees();
  await page.rewind('/ask three?\nend');
  assert.deepEqual(shown(page), ['one', 'one', 'two', 'two']);
  await page.agrees();
  await page.send('instead');
  await page.agrees();
  const nested = await fork.fork('five');
  await nested.rewind('two');
  await nested.send('six');
  assert.deepEqual(shown(await nested.agrees()), ['one', 'one', 'six', 'six']);
  await nested.data('POST', `/sessions/${nested.id}/undo`);
  assert.equal(shown(await nested.open()).includes('You answered: yes\nend'), true);
  await nested.send('seven');
  await nested.agrees();
  await page.agrees();
});

await finish();
