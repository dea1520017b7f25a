// SPDX-License-Identifier: Apache-2.0
//
// claude.mjs: the session functions of Anthropic's agent SDK (npm @anthropic-ai/claude-agent-sdk):
// `forkSession` over transcripts in files, which is what its users have by default, and over its own
// in-memory store. Transcripts are in the form that its program writes, a line a message.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { file, load } from '../../tests/server/help/packages.mjs';
import { folder, folderBytes } from './measure.mjs';
import { message, note } from './history.mjs';

const NAME = '@anthropic-ai/claude-agent-sdk';

/** Results of tools come in the message after the call, as the API wants it. */
function line(sessionId, cwd, position, uuid, parentUuid) {
  const m = message(position), before = position > 1 && position % 2 === 0 ? message(position - 1) : null;
  const common = { parentUuid, isSidechain: false, userType: 'external', cwd, sessionId, version: '2.1.0', gitBranch: '', uuid,
    timestamp: new Date(1.7e12 + position * 1000).toISOString() };
  if (m.role === 'user') {
    const content = [{ type: 'text', text: m.text }];
    if (before) content.unshift({ type: 'tool_result', tool_use_id: `toolu_${position - 1}`, content: before.tool.output });
    return { ...common, type: 'user', message: { role: 'user', content } };
  }
  return { ...common, type: 'assistant', requestId: `req_${position}`, message: { id: `msg_${position}`, type: 'message', role: 'assistant', model: 'none',
    content: [{ type: 'thinking', thinking: m.reasoning, signature: '' }, { type: 'text', text: m.text },
      { type: 'tool_use', id: `toolu_${position}`, name: m.tool.name, input: m.tool.input }],
    stop_reason: 'tool_use', stop_sequence: null, usage: { input_tokens: 900, output_tokens: 500 } } };
}

/** on: 'files' or 'memory'. */
export async function open(on) {
  const sdk = await load(NAME, 'peers');
  const cwd = folder('claude/work'), config = folder('claude/config');
  process.env.CLAUDE_CONFIG_DIR = config;
  const projectKey = cwd.replace(/[^A-Za-z0-9]/g, '-');
  const project = join(config, 'projects', projectKey);
  mkdirSync(project, { recursive: true });
  const store = on === 'memory' ? new sdk.InMemorySessionStore() : null;
  const options = { dir: cwd, ...(store ? { sessionStore: store } : {}) };
  const key = (sessionId) => ({ projectKey, sessionId });

  return {
    version: JSON.parse(readFileSync(await file(`${NAME}/package.json`, 'peers'), 'utf8')).version,
    bytes: store ? undefined : () => folderBytes(project),
    async seed(name, n) {
      const id = randomUUID(), lines = [], uuids = [];
      for (let i = 0; i < n; i++) {
        uuids.push(randomUUID());
        lines.push(line(id, cwd, i, uuids[i], uuids[i - 1] ?? null));
      }
      if (store) await store.append(key(id), lines);
      else writeFileSync(join(project, `${id}.jsonl`), lines.map((l) => `${JSON.stringify(l)}\n`).join(''));
      return { id, n, uuids };
    },
    async fork(chat) {
      const { sessionId } = await sdk.forkSession(chat.id, { ...options, upToMessageId: chat.uuids[chat.n / 2 - 1] });
      return { id: sessionId };
    },
    count: async (forked) => (await sdk.getSessionMessages(forked.id, options)).length,
    readAll: async (chat) => (await sdk.getSessionMessages(chat.id, options)).length,
    /** Files are written by its program alone; the store has a call for it. */
    write: store && (async (chat, writers, each) => {
      await Promise.all(Array.from({ length: writers }, async (_, w) => {
        for (let i = 0; i < each; i++)
          await store.append(key(chat.id), [{ ...line(chat.id, cwd, 0, randomUUID(), chat.uuids.at(-1)), message: { role: 'user', content: note(w, i) } }]);
      }));
      return (await store.load(key(chat.id))).length - chat.n;
    }),
    async close() {},
  };
}
