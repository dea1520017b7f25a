// SPDX-License-Identifier: Apache-2.0
//
// a2a_chain.mjs: a remote A2A agent of either generation behind Ramet behind an A2A client of either
// generation, over each binding: text, JSON values, bytes of files and metadata come through equal.
import { test, finish, start, must, enc, assert } from './lib.mjs';
import { all, bindings, client, generations, message, remotes, startAgent, textOf } from './help/a2a.mjs';

const bytes = Buffer.from(Array.from({ length: 700 }, (_, i) => (i * 37) % 256)).toString('base64');
const strange = 'snow ☃, a "quote", \\ and \u{1f600}';
const sent = [
  { kind: 'data', data: { list: [1, -2.5, 'x', null, true, { deep: [[]] }], text: strange, empty: {} }, metadata: { of: 'the part', n: [1] } },
  { kind: 'file', file: { bytes, name: 'some bytes.bin', mimeType: 'application/octet-stream' } },
  { kind: 'file', file: { uri: 'https://example.org/a%20b.png', name: 'b.png', mimeType: 'image/png' }, metadata: { seen: false } },
];
/** What an SDK leaves out or fills in is no difference. */
const tidy = (p) => JSON.parse(JSON.stringify(p, (k, v) => (v === '' || v === undefined ? undefined : v)));
const values = (list) => (list ?? []).flatMap((x) => x.parts ?? []).filter((p) => p.kind !== 'text').map(tidy);

for (const theirs of remotes)
  for (const ours of generations)
    for (const binding of bindings[ours]) {
      const name = `an agent of ${theirs} behind a client of ${ours}, ${binding}`;
      test(name, async () => {
        const agent = await startAgent(theirs);
        const s = await start({ args: ['--agent', `far=a2a,url=${agent.url}`] });
        const c = await client(ours, `${s.url}/a2a/far`, { binding });
        const metadata = { mine: { a: [1, 'two', null] }, flag: true };
        const ask = (more = {}) => message(['parts', ...sent], { metadata, ...more });

        const task = await c.send(ask());
        assert.equal(task.status.state, 'completed', JSON.stringify(task.status));
        const heard = agent.log.at(-1).message;
        assert.deepEqual(heard.parts.slice(1).map(tidy), sent.map(tidy), 'what the agent was sent');
        assert.deepEqual([heard.metadata.mine, heard.metadata.flag], [metadata.mine, metadata.flag]);
        assert.deepEqual(values(task.history.filter((m) => m.role === 'agent')), sent.map(tidy), 'in the history');
        assert.deepEqual(values(task.artifacts), sent.map(tidy), 'in the artifacts');
        assert.equal(textOf(task.artifacts), 'here they are');
        const told = task.history.find((m) => m.role === 'agent' && m.metadata?.told)?.metadata.told;
        assert.deepEqual([told?.mine, told?.flag], [metadata.mine, metadata.flag], 'metadata of the answer');

        const again = await c.get(task.id);
        assert.deepEqual([values(again.history.filter((m) => m.role === 'agent')), values(again.artifacts)], [sent.map(tidy), sent.map(tidy)], 'once more');
        const events = await all(c.stream(ask({ contextId: task.contextId })));
        assert.deepEqual(values(events.filter((e) => e.kind === 'artifact-update').map((e) => e.artifact)), sent.map(tidy), 'on the stream');
        assert.equal(events.at(-1).status.state, 'completed');

        const { entries } = await must(s, 'GET', `sessions/${enc(task.contextId)}/entries?limit=100`);
        assert.deepEqual(entries.slice(0, 5).map((e) => [e.role, e.parts.map((p) => p.type)]),
          [['user', ['text', 'data', 'data', 'file']], ['assistant', ['text']], ['assistant', ['data']], ['assistant', ['data']], ['assistant', ['file']]]);
        await agent.stop();
      });
    }

const waysToTell = ['message', 'partial', 'artifact', 'repeated', 'chunks', 'last', 'plain'];
for (const theirs of remotes)
  for (const ours of generations)
    for (const binding of bindings[ours])
      test(`metadata of a text: an agent of ${theirs} behind a client of ${ours}, ${binding}`, async () => {
        const agent = await startAgent(theirs);
        const s = await start({ args: ['--agent', `far=a2a,url=${agent.url}`, '--agent', `slow=a2a,url=${agent.url},stream=off`] });
        const metadata = { mine: { a: [1, 'two', null] }, flag: true, text: strange };
        const own = (m) => Object.fromEntries(Object.entries(m?.metadata ?? {}).filter(([k]) => k in metadata));
        for (const name of ['far', 'slow']) {
          const c = await client(ours, `${s.url}/a2a/${name}`, { binding });
          for (const how of waysToTell) {
            const task = await c.send(message(`tell ${how}`, { metadata })), about = `${name} ${how}: ${JSON.stringify(task)}`;
            const heard = agent.log.at(-1).message;
            assert.deepEqual(own(heard), metadata, 'what the agent was sent');
            const [asked, ...answers] = task.history;
            assert.deepEqual(own(asked), metadata, about);
            assert.deepEqual(answers.map((m) => [textOf(m), own(m)]), [[how === 'plain' ? 'heard: plain' : 'one text', metadata]], about);
            if (!['artifact', 'chunks', 'plain'].includes(how)) assert.deepEqual(answers[0].parts[0].metadata, { of: 'the part' }, about);
            const again = await c.get(task.id);
            assert.deepEqual(again.history.map((m) => own(m)), [metadata, metadata], about);
            assert.deepEqual(again.artifacts.map((x) => [textOf(x), own(x)]), [[textOf(answers), metadata]], about);
            const events = await all(c.stream(message(`tell ${how}`, { metadata })));
            const last = events.filter((e) => e.kind === 'artifact-update').at(-1);
            assert.deepEqual([textOf(last.artifact), own(last.artifact)], [textOf(answers), metadata], `stream, ${about}`);
          }
        }
        await agent.stop();
      }, { seconds: 120 });

for (const theirs of remotes)
  for (const ours of generations)
    for (const binding of bindings[ours])
      test(`an answer to a question: an agent of ${theirs} behind a client of ${ours}, ${binding}`, async () => {
        const agent = await startAgent(theirs);
        const s = await start({ args: ['--agent', `far=a2a,url=${agent.url}`] });
        const c = await client(ours, `${s.url}/a2a/far`, { binding });
        const asks = await c.send(message('ask which?', { metadata: { of: 'the question' } }));
        assert.deepEqual([asks.status.state, asks.status.message.metadata.of], ['input-required', 'the question']);
        const metadata = { of: { the: ['answer'] } };
        const task = await c.send(message([...sent, 'green'], { taskId: asks.id, metadata }));
        const heard = agent.log.at(-1).message;
        assert.deepEqual([heard.parts.map(tidy), heard.metadata], [[...sent, { kind: 'text', text: 'green' }].map(tidy), metadata]);
        assert.equal(textOf(task.history.at(-1)), 'answered: green');
        assert.deepEqual(task.history.map((m) => m.metadata?.of), ['the question', 'the question', metadata.of, undefined]);
        await agent.stop();
      });

for (const version of generations)
  test(`${version}: files that are too large for one piece are in the artifacts of a task, behind its text`, async () => {
    const agent = await startAgent(version);
    const s = await start({ args: ['--agent', `far=a2a,url=${agent.url}`] });
    const c = await client(version, `${s.url}/a2a/far`), size = 900_000;
    const { id } = await c.send(message(`files 4 ${size}`, { metadata: { mine: [1] } }));
    const { artifacts } = await c.get(id);
    assert.deepEqual([textOf(artifacts[0]), artifacts[0].metadata], ['files', { mine: [1] }]);
    assert.deepEqual(values(artifacts).map((p) => [p.file.name, p.metadata, Buffer.from(p.file.bytes, 'base64').equals(Buffer.alloc(size, `${p.metadata.n} `))]),
      [0, 1, 2, 3].map((n) => [`f${n}`, { n }, true]));
    assert.equal(artifacts.length, 5);
    await agent.stop();
  });

test('values that are no objects come through 0.3 as the SDK of 1.0 wraps them', async () => {
  const agent = await startAgent('0.3');
  const s = await start({ args: ['--agent', `far=a2a,url=${agent.url}`] });
  const c = await client('1.0', `${s.url}/a2a/far`);
  const list = [[1, 2, { a: 'b' }], 'text', 7, true].map((data) => ({ kind: 'data', data }));
  const task = await c.send(message(['parts', ...list]));
  assert.deepEqual(agent.log[0].message.parts.slice(1).map((p) => [p.data.value, p.metadata]), list.map((p) => [p.data, { data_part_compat: true }]));
  assert.deepEqual(values(task.artifacts), list);
  const old = await client('0.3', `${s.url}/a2a/far`);
  assert.deepEqual(values((await old.get(task.id)).artifacts), list.map((p) => ({ kind: 'data', data: { value: p.data }, metadata: { data_part_compat: true } })));
  await agent.stop();
});

await finish();
