// SPDX-License-Identifier: Apache-2.0
//
// langgraph.mjs: LangGraph (npm @langchain/langgraph) with its savers for SQLite and PostgreSQL. The state
// of the graph is a list of messages, as in its tutorials; `delta` is its experimental channel that stores
// what was added instead of the list. A fork is `updateState` at an old checkpoint, which makes a branch
// in the same thread; a copy takes all checkpoints up to there to another thread, through the saver.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { file, load } from '../../tests/server/help/packages.mjs';
import { folder, postgresBytes, postgresDatabase, sqliteBytes } from './measure.mjs';
import { message, note } from './history.mjs';

const ANOTHER_WAY = 'Another way.';

const versionOf = async (name) => JSON.parse(readFileSync(await file(`${name}/package.json`, 'peers'), 'utf8')).version;

/** on: 'sqlite' or 'postgres'; delta: with the delta channel. */
export async function open(on, { delta = false } = {}) {
  const { MessagesAnnotation, MessagesDeltaValue, StateGraph, StateSchema, START, END } = await load('@langchain/langgraph', 'peers');
  const { AIMessage, HumanMessage } = await load('@langchain/core/messages', 'peers');
  const saverName = `@langchain/langgraph-checkpoint-${on}`;
  const { SqliteSaver, PostgresSaver } = await load(saverName, 'peers');
  const db = on === 'sqlite' ? join(folder('langgraph'), `${delta ? 'delta' : 'plain'}.db`) : postgresDatabase(`langgraph_${delta ? 'delta' : 'plain'}`);
  const saver = on === 'sqlite' ? SqliteSaver.fromConnString(db) : PostgresSaver.fromConnString(db);
  await saver.setup?.();

  const said = (position) => {
    const m = message(position), id = `m${position}`;
    if (m.role === 'user') return new HumanMessage({ id, content: m.text });
    return new AIMessage({ id, content: [
      { type: 'reasoning', reasoning: m.reasoning },
      { type: 'tool_call', id: `c${position}`, name: m.tool.name, args: m.tool.input },
      { type: 'tool_result', tool_call_id: `c${position}`, output: m.tool.output },
      { type: 'text', text: m.text }], response_metadata: { finish_reason: 'stop', tokens: { input: 900, output: 500 } } });
  };
  let answer = null; // what the model of the graph says next
  const state = delta ? new StateSchema({ messages: MessagesDeltaValue }) : MessagesAnnotation;
  const graph = new StateGraph(state).addNode('agent', () => ({ messages: [answer] }))
    .addEdge(START, 'agent').addEdge('agent', END).compile({ checkpointer: saver });
  let threads = 0;
  const thread = (checkpoint_id, id = `t${threads}`) => ({ configurable: { thread_id: id, ...(checkpoint_id ? { checkpoint_id } : {}) } });
  const range = (from, to) => Array.from({ length: to - from }, (_, k) => said(from + k));
  const length = async (config) => (await graph.getState(config)).values.messages?.length ?? 0;

  return {
    version: `${await versionOf('@langchain/langgraph')}, saver ${await versionOf(saverName)}`,
    bytes: () => on === 'sqlite' ? sqliteBytes(db) : postgresBytes(db),
    /** In two steps, so that there is a checkpoint in the middle; a checkpoint a turn would take gigabytes. */
    async seed(name, n) {
      threads++;
      const middle = await graph.updateState(thread(), { messages: range(0, n / 2) }, 'agent');
      await graph.updateState(thread(), { messages: range(n / 2, n) }, 'agent');
      return { id: `t${threads}`, n, middle: middle.configurable.checkpoint_id };
    },
    /** Turn by turn, as an application does. `enough` ends it early: it gives the turns made. */
    async turns(n, enough = () => false) {
      const config = thread(null, `t${++threads}`);
      for (let turn = 0; turn < n; turn++) {
        if (enough(turn)) return turn;
        answer = said(2 * turn + 1);
        await graph.invoke({ messages: [said(2 * turn)] }, config);
      }
      if (await length(config) !== 2 * n) throw new Error(`LangGraph has ${await length(config)} messages after ${n} turns`);
      return n;
    },
    async fork(chat) {
      return { config: await graph.updateState(thread(chat.middle, chat.id), { messages: [new HumanMessage({ content: ANOTHER_WAY })] }, 'agent') };
    },
    /** Without the message that made it. */
    count: async (forked) => (await graph.getState(forked.config)).values.messages.filter((m) => m.content !== ANOTHER_WAY).length,
    /** All checkpoints of a chat up to its middle, to a thread of their own. */
    async copy(chat) {
      const to = `t${++threads}`, all = [];
      for await (const each of saver.list(thread(null, chat.id))) if (each.config.configurable.checkpoint_id <= chat.middle) all.push(each);
      for (const each of all.reverse()) {
        const parent = each.parentConfig?.configurable.checkpoint_id;
        const config = { configurable: { thread_id: to, checkpoint_ns: '', ...(parent ? { checkpoint_id: parent } : {}) } };
        const put = await saver.put(config, each.checkpoint, each.metadata, each.checkpoint.channel_versions);
        const tasks = Map.groupBy ? Map.groupBy(each.pendingWrites ?? [], (w) => w[0]) : groups(each.pendingWrites ?? []);
        for (const [task, writes] of tasks) await saver.putWrites(put, writes.map(([, channel, value]) => [channel, value]), task);
      }
      return { config: thread(null, to) };
    },
    copied: (copy) => length(copy.config),
    /** A chat of n messages, a checkpoint a turn, for copy(); nothing when it was enough before the end. */
    async seedTurns(n, enough) {
      const config = thread(null, `t${++threads}`);
      let middle;
      for (let i = 0; i < n; i += 2) {
        if (enough()) return null;
        const at = await graph.updateState(config, { messages: range(i, i + 2) }, 'agent');
        if (i + 2 <= n / 2) middle = at.configurable.checkpoint_id;
      }
      return { id: config.configurable.thread_id, n, middle };
    },
    readAll: (chat) => length(thread(null, chat.id)),
    async write(chat, writers, each) {
      const config = thread(null, chat.id);
      await Promise.all(Array.from({ length: writers }, async (_, w) => {
        for (let i = 0; i < each; i++) await graph.updateState(config, { messages: [new HumanMessage({ content: note(w, i) })] }, 'agent');
      }));
      return await length(config) - chat.n;
    },
    async close() {
      await saver.end?.();
      saver.db?.close();
    },
  };
}

function groups(writes) {
  const by = new Map();
  for (const write of writes) by.set(write[0], [...(by.get(write[0]) ?? []), write]);
  return by;
}
