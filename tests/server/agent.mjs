// SPDX-License-Identifier: Apache-2.0
//
// agent.mjs: the agents by themselves, without a server around them: build/tests/agent runs turns and
// tells what came, help/model.mjs is the provider.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import net from 'node:net';
import { startModel } from './help/model.mjs';
import { authority } from './help/authority.mjs';
import { test, finish, assert, scratch, sleep, slow, RAMET } from './lib.mjs';

const DRIVER = join(process.env.B ?? dirname(RAMET), 'tests', 'agent');
const said = (events) => events.map((e) => e.delta ?? '').join('');
const end = (events) => events.at(-1);
const user = (text) => ({ role: 'user', text });
const assistant = (text) => ({ role: 'assistant', text });
const turn = (text, more = {}) => ({ history: [user(text)], ...more });

/** Runs turns one after the other in one process; gives the events of each. */
function run(agents, turns, { env = {} } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(DRIVER, agents, { env: { ...process.env, ...env } });
    let out = '', err = '';
    child.stdout.on('data', (d) => (out += d));
    child.stderr.on('data', (d) => (err += d));
    child.stdin.on('error', () => {});
    child.on('error', fail);
    child.on('close', (code) => {
      if (code !== 0) return fail(Object.assign(new Error(`the driver ended with ${code}: ${err}`), { err }));
      if (/Sanitizer|runtime error/.test(err)) return fail(new Error(err));
      const all = [[]];
      for (const line of out.split('\n').filter(Boolean)) {
        const e = JSON.parse(line);
        all.at(-1).push(e);
        if ('end' in e || 'ends' in e) all.push([]);
      }
      all.pop();
      done(all);
    });
    child.stdin.end(turns.map((t) => JSON.stringify(t) + '\n').join(''));
  });
}
const kindsOf = () => new Promise((done) => {
  let out = '';
  const child = spawn(DRIVER, ['--kinds']);
  child.stdout.on('data', (d) => (out += d));
  child.on('close', () => done(JSON.parse(out)));
});
const one = async (agents, t, options) => (await run([agents].flat(), [t], options))[0];

/** A provider, an agent on it (settings as text), and its turns. */
async function withModel(settings, turns, { key, env } = {}) {
  const model = await startModel({ key });
  try {
    const all = await run([`m=openai,url=${model.url},model=m1,backoff_ms=10${settings}`],
                          [turns].flat(), { env });
    return { all, events: all[0], log: model.log };
  } finally {
    await model.stop();
  }
}

// ------------------------------------------------------------------ echo

test('echo says exactly the text, word by word', async () => {
  for (const text of ['Hello there', ' two  spaces\n\nand lines \n', '/unknown command', 'Grüße 🌱', '']) {
    const events = await one([], turn(text));
    assert.equal(said(events), text);
    assert.equal(end(events).end, 'done');
  }
  const words = (await one([], turn('a b c'))).filter((e) => 'delta' in e);
  assert.deepEqual(words.map((e) => e.delta), ['a ', 'b ', 'c']);
  assert.equal(said(await one([], turn('//count 3'))), '/count 3');
});

test('echo answers the last user message, whatever follows it', async () => {
  const events = await one([], { history: [user('one'), assistant('x'), user('two'), assistant('y')] });
  assert.equal(said(events), 'two');
});

test('echo thinks, calls a tool, asks, plans, and counts words', async () => {
  const events = await one([], turn('/plan first; then\n/think hm well\n/tool look {"a": [1, 2]}\n' +
    '/ask who?\n/permit really?\nThat is all.', { answers: ['me', 'allow'] }));
  const kinds = events.map((e) => Object.keys(e)[0]).filter((k, i, all) => k !== all[i - 1]);
  assert.deepEqual(kinds, ['plan', 'thinking', 'tool_call', 'tool_result', 'ask', 'delta', 'ask', 'delta',
                           'usage', 'end']);
  const call = events.find((e) => e.tool_call).tool_call, result = events.find((e) => e.tool_result).tool_result;
  assert.deepEqual([call.name, call.input, result.id], ['look', { a: [1, 2] }, call.id]);
  assert.deepEqual(result.output, { echo: { a: [1, 2] } });
  assert.deepEqual(events.find((e) => e.plan).plan.entries.map((p) => p.content), ['first', 'then']);
  assert.equal(said(events), 'You answered: me\nYou answered: allow\nThat is all.');
  const usage = (await one([], { history: [user('a b'), assistant('c'), user('d e f')] })).at(-2).usage;
  assert.deepEqual([usage.input, usage.output], [6, 3]);
  assert.deepEqual((await one([], turn('/usage 7 8 9'))).at(-2).usage, { input: 7, output: 8, cached: 9, cost: 0 });
});

test('echo: a tool alone tells its result; a failing one, and one with bad input', async () => {
  assert.equal(said(await one([], turn('/tool look {"a":1}'))), 'look answered {"echo":{"a":1}}');
  assert.ok((await one([], turn('/tool fail'))).some((e) => e.tool_error));
  const bad = await one([], turn('/tool look {broken'));
  assert.deepEqual(bad.find((e) => e.tool_call).tool_call.input, {});
  assert.match(JSON.stringify(bad.find((e) => e.tool_error)), /no JSON/);
});

test('echo fails when told, and what came stands', async () => {
  const events = await one([], turn('/fail after 2\none two three'));
  assert.equal(said(events), 'one two ');
  assert.equal(end(events).end, 'failed');
  assert.deepEqual(await one([], turn('/fail it is late')).then((e) => [end(e).end, end(e).message]),
                   ['failed', 'it is late']);
  assert.equal(end(await one([], turn('/fail after 9 short'))).end, 'failed');
});

test('echo is slow when told, by message or by setting, and stops at once', async () => {
  assert.ok(end(await one([], turn('/slow 60 a b c'))).ms >= 115);
  assert.ok(end(await one('e=echo,delay_ms=60', turn('a b c'))).ms >= 115);
  const cut = await one([], turn('/slow 5000 a b c', { cancel_ms: 120 }));
  assert.deepEqual([said(cut), end(cut).end], ['a ', 'cancelled']);
  assert.ok(end(cut).late_ms < 100 * slow, `${end(cut).late_ms} ms`);
});

test('echo in the mood of its settings; many at once', async () => {
  const events = await one('e=echo,think=let me see,tool=look,fail_after=5', turn('a b c d e'));
  assert.ok(events.some((e) => e.thinking) && events.some((e) => e.tool_call));
  assert.equal(said(events), 'a b ');
  assert.deepEqual((await one([], turn('/count 500', { times: 50 })))[0], { ends: [50, 0, 0], texts: 1 });
});

test('echo can be cancelled at every point', async () => {
  const text = '/plan a\n/think hm\n/tool look\n/ask x\none two';
  const whole = await one([], turn(text));
  for (let n = 0; n < whole.length - 1; n++) {
    const events = await one([], turn(text, { cancel_after: n }));
    assert.equal(end(events).end, 'cancelled', `after ${n}`);
    assert.equal(events.length, n + 1);
  }
});

// ------------------------------------------------------------------ configuration

test('what is wrong with an agent is said by name', async () => {
  const wrong = async (text, pattern, options) => {
    const e = await run([text].flat(), [], options).then(() => null, (error) => error);
    assert.match(e?.err ?? 'it was taken', pattern);
  };
  await wrong('gpt', /NAME=KIND/);
  await wrong('a b=echo', /NAME=KIND/);
  await wrong('gpt=magic', /no kind 'magic'; there are: echo openai/);
  await wrong('gpt=openai,model=m', /agent gpt: url is missing/);
  await wrong('gpt=openai,url=http://h/v1', /model is missing/);
  await wrong('gpt=openai,url=http://h/v1,model=m,colour=red', /no setting 'colour'/);
  await wrong('gpt=openai,url=ftp://h,model=m', /url is 'ftp:\/\/h'/);
  await wrong('gpt=openai,url=http://h/v1,model=m,extra=[]', /extra is '\[\]'; it must be a JSON object/);
  await wrong('gpt=openai,url=http://h/v1,model=m,idle_s=-1', /idle_s is '-1'/);
  await wrong('gpt=openai,url=http://h/v1,model=m,retries=many', /retries is 'many'/);
  await wrong('gpt=openai,url=http://h/v1,model=m,temperature=warm', /temperature is 'warm'/);
  await wrong('gpt=openai,url=http://h/v1,model=m,cache=x', /cache is 'x'/);
  await wrong('gpt=openai,url=https://h/v1,model=m,ca_file=/no/such/file', /ca_file is '\/no\/such\/file'; it must be a file/);
  await wrong(`gpt=openai,url=https://h/v1,model=m,ca_file=${new URL(import.meta.url).pathname}`, /ca_file is .*; it must be a file/);
  await wrong('gpt=openai,url=http://h/v1,model=m,key=$NO_SUCH_KEY', /the environment has no NO_SUCH_KEY/);
  await wrong('gpt=openai,url=http://h/v1,model=m,key=$BAD', /^agent gpt: key holds a character/,
              { env: { BAD: 'secret\tthing' } });
  await wrong('e=echo,delay_ms=1,delay_ms=2', /delay_ms is given twice/);
  await wrong('e=echo,think="open', /the value of think/);
  await wrong(['e=echo', 'e=echo'], /one of that name already/);
  await wrong('echo=openai,url=http://h,model=m', /kept for the kind echo/);
  await wrong(['--default', 'x', 'e=echo'], /default agent is 'x'/);
});

test('values are quoted and escaped', async () => {
  for (const [text, want] of [["'a, \"b\" \\n = c'", 'a, "b" \\n = c'], ['"a, \\"b\\"\\nc"', 'a, "b"\nc'],
                              ['a\\, b=c', 'a, b=c'], ["it's", "it's"]]) {
    const events = await one(`e=echo,think=${text},delay_ms=0`, turn('x'));
    assert.equal(events.map((e) => e.thinking ?? '').join(''), want);
  }
});

// ------------------------------------------------------------------ openai

test('openai streams words, and the tokens used', async () => {
  const { events, log } = await withModel('', turn('hello you', { cache_key: 'root-1' }));
  assert.deepEqual(events.filter((e) => e.delta).map((e) => e.delta), ['You ', 'said: ', 'hello ', 'you']);
  assert.equal(end(events).end, 'done');
  assert.equal(events.at(-2).usage.output, 4);
  assert.equal(log[0].raw, '{"model":"m1","stream":true,"stream_options":{"include_usage":true},' +
    '"prompt_cache_key":"root-1","messages":[{"role":"user","content":"hello you"}]}');
  assert.equal(log[0].headers['content-type'], 'application/json');
  assert.equal(log[0].headers.authorization, undefined);
});

test('openai: settings and those of the session are in the request', async () => {
  const { log } = await withModel(',system="Be brief, please",temperature=0.10,max_tokens=99,cache=user,' +
    'usage=off,extra=\'{"top_k":4,"max_tokens":null,"messages":[],"stream":false}\'',
    [turn('a', { cache_key: 'k' }),
     turn('a', { session: { model: 'm2', options: { temperature: 1, system: 'Own', seed: 5, other: 1 } } })]);
  assert.equal(log[0].raw, '{"model":"m1","stream":true,"user":"k","temperature":0.10,"top_k":4,' +
    '"messages":[{"role":"system","content":"Be brief, please"},{"role":"user","content":"a"}]}');
  assert.equal(log[1].raw, '{"model":"m2","stream":true,"temperature":1,"top_k":4,"seed":5,' +
    '"messages":[{"role":"system","content":"Own"},{"role":"user","content":"a"}]}');
});

test('openai: the key comes from the environment, is sent, and is not shown', async () => {
  const env = { MODEL_TEST_KEY: 'sk-right' };
  const good = await withModel(',key=$MODEL_TEST_KEY', turn('a'), { key: 'sk-right', env });
  assert.equal(end(good.events).end, 'done');
  const bad = await withModel(',key=sk-wrong-one', turn('a'), { key: 'sk-right' });
  assert.equal(end(bad.events).end, 'failed');
  assert.match(end(bad.events).message, /answered 401: Incorrect API key/);
  assert.doesNotMatch(end(bad.events).message, /sk-wrong/);
  const late = await withModel(',key=sk-right', turn('!error who is sk-right?'), { key: 'sk-right' });
  assert.match(end(late.events).message, /error: who is \*\*\*\*\*\*\*\*\?/);
  assert.equal(bad.log.length, 1);
});

test('openai: the base of the API, with a slash behind it, or the whole address', async () => {
  const model = await startModel();
  for (const end of ['', '/', '//', '/chat/completions', '/chat/completions/'])
    assert.equal(said(await one(`m=openai,url=${model.url}${end},model=m`, turn('a'))), 'You said: a', end);
  await model.stop();
});

test('openai: thinking by both names', async () => {
  for (const name of ['think', 'reasoning']) {
    const { events } = await withModel('', turn(`!${name} hm well | so be it`));
    assert.equal(events.map((e) => e.thinking ?? '').join(''), 'hm well');
    assert.equal(said(events), 'so be it');
  }
});

test('openai: tool calls are told whole, and end the turn', async () => {
  const { events, log } = await withModel('', turn('!tools look {"city": "Graz", "n": [1,2]}; now; bad {"x":'));
  const calls = events.filter((e) => e.tool_call).map((e) => e.tool_call);
  assert.deepEqual(calls.map((c) => [c.name, c.input]),
                   [['look', { city: 'Graz', n: [1, 2] }], ['now', {}], ['bad', '{"x":']]);
  assert.equal(new Set(calls.map((c) => c.id)).size, 3);
  assert.equal(end(events).end, 'done');
  assert.equal(log.length, 1);
});

test('openai: with tool_calls=ask the user gives the results, and the model goes on', async () => {
  const { events, log } = await withModel(',tool_calls=ask',
    turn('!tools look {"city":"Graz"}; now', { answers: ['rain', 'noon'], cache_key: 'k' }));
  assert.deepEqual(events.filter((e) => e.tool_result).map((e) => e.tool_result.output), ['rain', 'noon']);
  assert.equal(said(events), 'The tools said: rain, noon');
  assert.equal(end(events).end, 'done');
  assert.equal(log.length, 2);
  assert.ok(log[1].raw.startsWith(log[0].raw.slice(0, -2)));
  const usage = events.at(-2).usage;
  assert.ok(usage.cached > 0 && usage.input > usage.cached);
});

test('openai: refused requests carry what the provider said; only some are tried again', async () => {
  for (const [status, tries] of [[400, 1], [401, 1], [403, 1], [404, 1], [422, 1], [408, 3], [429, 3], [500, 3],
                                 [502, 3], [503, 3]]) {
    const { events, log } = await withModel('', turn(`!status ${status}`));
    assert.deepEqual(events.map((e) => [e.end, e.message]),
                     [['failed', `the provider answered ${status}: the model says ${status}`]]);
    assert.equal(log.length, tries, `${status}`);
  }
});

test('openai: 429 and 500, then fine: one answer, nothing doubled', async () => {
  for (const status of [429, 500]) {
    const { events, log } = await withModel('', turn(`!status ${status} 2`));
    assert.equal(said(events), `You said: !status ${status} 2`);
    assert.equal(end(events).end, 'done');
    assert.equal(log.length, 3);
    assert.equal(log[0].raw, log[2].raw);
  }
});

test('openai: Retry-After is honoured, up to a limit', async () => {
  const soon = await withModel('', turn('!after 429 1'));
  assert.equal(end(soon.events).end, 'done');
  assert.ok(end(soon.events).ms >= 1000);
  const late = await withModel(',retry_after_s=2', turn('!after 429 60'));
  assert.match(end(late.events).message, /429: slow down/);
  assert.ok(end(late.events).ms < 900 * slow);
  const cut = await withModel('', turn('!after 429 20', { cancel_ms: 200 }));
  assert.equal(end(cut.events).end, 'cancelled');
  assert.ok(end(cut.events).late_ms < 100 * slow);
});

test('openai: a stream that stops is a failed answer, and what came stands', async () => {
  for (const [mood, pattern] of [['stop 2', /^the stream ended early$/],
                                 ['reset 2', /^the stream ended early: the connection was closed/],
                                 ['error oops', /stopped with an error: oops/],
                                 ['garbled', /1 chunk of the stream could not be read/],
                                 ['length', /limit of tokens/], ['filter', /content filter/]]) {
    const { events, log } = await withModel('', turn(`!${mood}`));
    assert.equal(end(events).end, 'failed', mood);
    assert.match(end(events).message, pattern);
    assert.ok(said(events).startsWith('You said: '), mood);
    assert.equal(log.length, 1, 'after the first byte nothing is tried again');
  }
  const none = await withModel('', turn('!stop 0'));
  assert.deepEqual([end(none.events).message, none.log.length], ['the stream ended early', 1]);
});

test('openai: rubbish between chunks, CRLF, no [DONE], no last line end, no stream at all', async () => {
  for (const mood of ['rubbish', 'nodone', 'noline', 'whole', 'hang']) {
    const { events } = await withModel('', turn(`!${mood}`));
    assert.equal(said(events), `You said: !${mood}`);
    assert.equal(end(events).end, 'done', mood);
    assert.ok(end(events).ms < 1000 * slow, mood);
  }
});

test('openai: lines and answers are bounded', async () => {
  assert.match(end((await withModel('', turn('!long'))).events).message, /a line of the stream is over 1 MiB/);
  const big = await withModel('', turn('!bytes 300'));
  assert.equal(said(big.events).length, Math.floor(300 * 1024 / 5) * 5);
});

test('openai: time limits for the first byte, between bytes, and in all', async () => {
  const cases = [[',first_byte_s=0.3', '!slow 5000', /did not answer: nothing came within 0.3 s/],
                 [',first_byte_s=0.3', '!silent 5000', /the stream ended early: nothing came within 0.3 s/],
                 [',idle_s=0.3', '!pause 5000', /the stream ended early: nothing came for 0.3 s/],
                 [',timeout_s=0.5', '!count 1000 50', /the stream ended early: the turn took over 0.5 s/]];
  for (const [settings, text, pattern] of cases) {
    const { events, log } = await withModel(settings, turn(text));
    assert.equal(end(events).end, 'failed');
    assert.match(end(events).message, pattern);
    assert.ok(end(events).ms < 1500 * slow, `${text}: ${end(events).ms} ms`);
    assert.equal(log.length, 1);
  }
});

test('openai: a time limit for connecting', async () => {
  const mute = net.createServer((c) => c.on('error', () => {})); // it takes the connection, and never says hello
  await new Promise((done) => mute.listen(0, '127.0.0.1', done));
  const settings = `m=openai,url=https://127.0.0.1:${mute.address().port}/v1,model=m,connect_s=0.3`;
  const [once, again] = await Promise.all([one(`${settings},retries=0`, turn('a')), one(`${settings},retries=1,backoff_ms=10`, turn('a'))]);
  for (const [events, least] of [[once, 300], [again, 600]]) {
    assert.match(end(events).message, /cannot be reached: Timeout/);
    assert.ok(end(events).ms >= least && end(events).ms < least + 1000 * slow, `${end(events).ms} ms`);
  }
  mute.close();
});

test('openai: a server that is not there is tried again, then told', async () => {
  const closed = await new Promise((done) => {
    const s = net.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => done(port)); });
  });
  const events = await one(`m=openai,url=http://127.0.0.1:${closed}/v1,model=m,backoff_ms=100`, turn('a'));
  assert.match(end(events).message, /cannot be reached/);
  assert.ok(end(events).ms >= 300);
  const unknown = await one('m=openai,url=http://no-such-host.invalid/v1,model=m,retries=0', turn('a'));
  assert.match(end(unknown).message, /cannot be reached/);
});

test('openai: a server that says nothing, or no HTTP, or closes at once', async () => {
  for (const [answer, pattern] of [['', /cannot be reached|ended early/], ['what?\r\n\r\n', /cannot be reached|early/],
                                   ['HTTP/1.1 200 OK\r\n\r\n', /ended early/],
                                   ['HTTP/1.1 307 Go\r\nLocation: /v1/elsewhere\r\nContent-Length: 0\r\n\r\n', /answered 307/],
                                   ['HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"choices":', /could not be read/],
                                   ['HTTP/1.1 400 Bad\r\nContent-Length: 9999999\r\n\r\n<html>' + 'x'.repeat(200000), /answered 400$/]]) {
    let n = 0;
    const server = net.createServer((c) => { n++; c.on('error', () => {}); c.once('data', () => c.end(answer)); });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const events = await one(`m=openai,url=http://127.0.0.1:${server.address().port}/v1,model=m,retries=1,backoff_ms=5`,
                             turn('a'));
    server.close();
    assert.equal(end(events).end, 'failed');
    assert.match(end(events).message, pattern);
    assert.equal(n, 1, JSON.stringify(answer));
  }
});

test('openai can be cancelled at every point, within 100 ms', async () => {
  const texts = ['!count 5', '!tools a {"x":1}; b {}', '!think a b | c'];
  for (const text of texts) {
    const whole = (await withModel('', turn(text))).events;
    const { all } = await withModel('', whole.slice(0, -2).map((_, n) => turn(text, { cancel_after: n })));
    all.forEach((events, n) => {
      assert.equal(end(events).end, 'cancelled', `${text} after ${n}`);
      assert.equal(events.length, n + 1);
    });
  }
  for (const [text, ms] of [['!slow 5000', 150], ['!silent 5000', 150], ['!pause 5000', 150], ['!count 1000 20', 150],
                            ['!after 500 9', 100]]) {
    const { events, log } = await withModel('', turn(text, { cancel_ms: ms }));
    assert.equal(end(events).end, 'cancelled', text);
    assert.ok(end(events).late_ms < 100 * slow, `${text}: ${end(events).late_ms} ms`);
    await sleep(20);
    assert.ok(!log[0].whole || text.startsWith('!after'), 'the provider sees that nobody listens');
  }
});

test('openai: connections are kept; many turns at once', async () => {
  const { all, log } = await withModel('', [turn('a'), turn('!stop 1'), turn('b'), turn('!status 400'), turn('c')]);
  assert.equal(all.length, 5);
  assert.equal(new Set(log.map((l) => l.connection)).size, 1);
  const many = await withModel('', turn('!count 200', { times: 40 }));
  assert.deepEqual(many.events[0], { ends: [40, 0, 0], texts: 1 });
});

test('openai: a connection that the provider has closed meanwhile is made anew', async () => {
  const model = await startModel({ keepAlive: 1 });
  const all = await run([`m=openai,url=${model.url},model=m,retries=0`],
                        [turn('a'), turn('/slow 1500 x y', { agent: 'echo' }), turn('b')]);
  await model.stop();
  assert.equal(said(all[2]), 'You said: b', end(all[2]).message);
  assert.equal(new Set(model.log.map((l) => l.connection)).size, 2);
});

test('openai over TLS: whole answers from whom is known, not a word to anybody else', async () => {
  const ours = authority(scratch('ours')), others = authority(scratch('others'));
  const agent = (model, more = '') => `m=openai,url=${model.url},model=m,key=k${more}`;
  const known = await startModel({ tls: ours.sign('IP:127.0.0.1'), key: 'k' });
  const all = await run([agent(known, `,ca_file=${ours.file}`)],
                        [turn('!count 3000'), turn('!tools look {"a":1}'), turn('!stop 2'), turn('!count 1000 20', { cancel_ms: 150 }), turn('b')]);
  assert.deepEqual(all.map((events) => end(events).end), ['done', 'done', 'failed', 'cancelled', 'done']);
  assert.equal(said(all[0]), Array.from({ length: 3000 }, (_, i) => i + 1).join(' '));
  assert.equal(said(all[4]), 'You said: b');
  assert.ok(end(all[3]).late_ms < 100 * slow, `${end(all[3]).late_ms} ms`);
  assert.equal(known.log.length, 5);
  assert.ok(known.log.every((r) => r.version === '2.0'), 'HTTP/2, as providers speak it');

  const elsewhere = await startModel({ tls: ours.sign('DNS:elsewhere.test'), key: 'k' });
  for (const [model, more, pattern] of [
    [known, '', /cannot be trusted, and was sent nothing: .*certificate/i], // the system does not know it
    [known, `,ca_file=${others.file}`, /cannot be trusted, and was sent nothing: .*certificate/i],
    [elsewhere, `,ca_file=${ours.file}`, /cannot be trusted, and was sent nothing: .*127\.0\.0\.1/]]) {
    const before = model.log.length;
    const events = await one(agent(model, more), turn('a secret'));
    assert.equal(end(events).end, 'failed');
    assert.match(end(events).message, pattern);
    assert.equal(events.length, 1);
    assert.equal(model.log.length, before, 'nothing was sent');
  }
  // nor to one that does not speak TLS
  const plain = await startModel();
  assert.match(end(await one(agent({ url: plain.url.replace('http:', 'https:') }, `,ca_file=${ours.file},retries=0`), turn('a'))).message, /cannot be reached/);
  assert.equal(plain.log.length, 0);
  await Promise.all([known.stop(), elsewhere.stop(), plain.stop()]);
});

// ------------------------------------------------------------------ what the model is sent

const call = (id, name, input = {}) => ({ role: 'assistant', parts: [{ type: 'tool_call', id, name, input }] });
const result = (id, output, more = {}) => ({ role: 'tool', parts: [{ type: 'tool_result', id, output, ...more }] });

test('openai: a history becomes the messages that the API has', async () => {
  const history = [
    { role: 'system', text: 'S' }, user('one'),
    { role: 'assistant', parts: [{ type: 'thinking', text: 'secret' }, { type: 'text', text: 'Let me look.' }] },
    call('c1', 'look', { city: 'Graz' }), call('c2', 'now.at/home'), result('c1', { rain: true }), result('c2', 'late', { is_error: true }),
    assistant('It rains.'),
    { role: 'user', parts: [{ type: 'text', text: 'And this?' }, { type: 'file', url: 'https://x.org/a.png' },
                            { type: 'file', attachment_id: 'att-1', name: 'b.pdf', media_type: 'application/pdf' },
                            { type: 'data', data: { k: 1 } }] },
    call('c3', 'look'), user('never mind'), result('c9', 'lost')];
  const { log, events } = await withModel('', { history });
  assert.equal(end(events).end, 'done', end(events).message);
  const f = (id, name, args) => ({ id, type: 'function', function: { name, arguments: args } });
  assert.deepEqual(log[0].body.messages, [
    { role: 'system', content: 'S' }, { role: 'user', content: 'one' },
    { role: 'assistant', content: 'Let me look.',
      tool_calls: [f('c1', 'look', '{"city":"Graz"}'), f('c2', 'now_at_home', '{}')] },
    { role: 'tool', tool_call_id: 'c1', content: '{"rain":true}' },
    { role: 'tool', tool_call_id: 'c2', content: 'Error: late' },
    { role: 'assistant', content: 'It rains.' },
    { role: 'user', content: [{ type: 'text', text: 'And this?' }, { type: 'image_url', image_url: { url: 'https://x.org/a.png' } },
                              { type: 'text', text: '[file b.pdf (application/pdf)]' }, { type: 'text', text: '{"k":1}' }] },
    { role: 'assistant', content: null, tool_calls: [f('c3', 'look', '{}')] },
    { role: 'tool', tool_call_id: 'c3', content: '(no result: the call was not run)' },
    { role: 'user', content: 'never mind' }, { role: 'user', content: 'Result of a tool: lost' }]);
});

test('openai: a fork sends the same bytes as its parent up to the fork, and hits its cache', async () => {
  const start = [user('one two three four five'), assistant('six seven'), call('c1', 'look'), result('c1', 'x')];
  const { log, all } = await withModel('', [
    { history: [...start, user('go on')], cache_key: 'root' },
    { history: [...start, user('go elsewhere')], cache_key: 'root' },
    { history: [...start, user('go on'), assistant('You said: go on'), user('more')], cache_key: 'root' },
    { history: [...start, user('go on')], cache_key: 'other' }]);
  const shared = log[0].raw.indexOf('{"role":"user","content":"go on"}');
  assert.equal(log[1].raw.slice(0, shared), log[0].raw.slice(0, shared));
  assert.ok(log[2].raw.startsWith(log[0].raw.slice(0, -2)));
  const cached = all.map((events) => events.at(-2).usage.cached);
  assert.ok(cached[0] === 0 && cached[1] > 0 && cached[2] > cached[1] && cached[3] === 0, `${cached}`);
});

test('openai: whatever the history, the provider takes the request', async () => {
  let seed = 7;
  const dice = (n) => ((seed = (seed * 1103515245 + 12345) % 2147483648) >> 12) % n;
  const long = 'an-id-that-is-longer-than-the-forty-characters-that-the-api-takes';
  const ids = ['a', 'b', 'c', long];
  const part = () => [{ type: 'text', text: 't' }, { type: 'thinking', text: 'h' },
                      { type: 'tool_call', id: ids[dice(4)], name: ['x', 'é.y', ''][dice(3)] || 'z', input: [{}, 'text', [1], null][dice(4)] },
                      { type: 'tool_result', id: ids[dice(4)], output: ['o', { a: 1 }, null][dice(3)] },
                      { type: 'file', attachment_id: 'f' }, { type: 'file', url: 'data:image/png;base64,AAAA' },
                      { type: 'data', data: 1 }][dice(7)];
  const histories = Array.from({ length: 1000 }, () => Array.from({ length: dice(12) }, () => ({
    role: ['user', 'assistant', 'tool', 'system', 'assistant'][dice(5)],
    ...(dice(3) ? { parts: Array.from({ length: dice(4) }, part) } : { text: ['word', ''][dice(2)] }) })));
  const { all } = await withModel('', histories.map((h) => ({ history: [...h, user('fine')] })));
  all.forEach((events, i) =>
    assert.equal(end(events).end, 'done', `${end(events).message}: ${JSON.stringify(histories[i])}`));
});

// ------------------------------------------------------------------ the page

test('docs/agents.md names every setting with its default, every command, every kind', async () => {
  const page = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8');
  const kinds = await kindsOf();
  for (const [kind, settings] of Object.entries(kinds)) {
    const [, part] = new RegExp(`\n## ${kind}\n([^]*?)(\n## |$)`).exec(page) ?? [];
    assert.ok(part, kind);
    const [, table] = /\| setting \| default \|[^\n]*\n\|[-|]*\n([^]*?)\n\n/.exec(`${part}\n\n`);
    const rows = table.split('\n').map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')));
    assert.deepEqual(Object.fromEntries(rows.map(([, name, value]) => [name, value])), settings);
  }
  const source = readFileSync(new URL('../../src/agent/echo/echo.c', import.meta.url), 'utf8');
  const commands = [...source.matchAll(/\{"(\/\w+)", command_/g)].map(([, name]) => name);
  assert.ok(commands.length >= 10);
  for (const name of commands) assert.match(page, new RegExp(`\n\\| \`${name}[ \`]`), name);
});

await finish();
