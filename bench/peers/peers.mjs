// SPDX-License-Identifier: Apache-2.0
//
// peers.mjs: the list of what is compared. `turnsOnly`: only its size after many turns is measured.

export const PEERS = [
  { key: 'ramet-sqlite', name: 'Ramet, SQLite', module: 'ramet', on: 'sqlite' },
  { key: 'ramet-postgres', name: 'Ramet, PostgreSQL', module: 'ramet', on: 'postgres' },
  { key: 'sql-sqlite', name: 'copy in SQL, SQLite', module: 'sql', on: 'sqlite' },
  { key: 'sql-postgres', name: 'copy in SQL, PostgreSQL', module: 'sql', on: 'postgres' },
  { key: 'opencode', name: 'OpenCode', module: 'opencode' },
  { key: 'langgraph-sqlite', name: 'LangGraph, SQLite', module: 'langgraph', on: 'sqlite' },
  { key: 'langgraph-postgres', name: 'LangGraph, PostgreSQL', module: 'langgraph', on: 'postgres' },
  { key: 'claude-files', name: 'Claude Agent SDK, files', module: 'claude', on: 'files' },
  { key: 'claude-memory', name: 'Claude Agent SDK, memory', module: 'claude', on: 'memory' },
  { key: 'langgraph-delta-sqlite', name: 'LangGraph, delta channel, SQLite', module: 'langgraph', on: 'sqlite', options: { delta: true }, turnsOnly: true },
  { key: 'langgraph-delta-postgres', name: 'LangGraph, delta channel, PostgreSQL', module: 'langgraph', on: 'postgres', options: { delta: true }, turnsOnly: true },
];

export const nameOf = (key) => PEERS.find((peer) => peer.key === key).name;

/** How much is measured. Sizes and turns are in messages and in turns of two messages. */
export const FULL = { sizes: [10, 100, 1000, 5000, 10000], rounds: 21, forks: 100, forksOf: 1000, turns: [100, 500, 2000], writers: 16, each: 25 };
export const QUICK = { sizes: [10, 100], rounds: 3, forks: 20, forksOf: 100, turns: [20, 50], writers: 16, each: 5 };
