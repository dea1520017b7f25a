// SPDX-License-Identifier: Apache-2.0
//
// history.mjs: the conversation that every peer stores: a user's question (one part), then an answer
// of an agent (five parts: the start of a step, reasoning, a tool call with its result, text, the end of
// the step), in turns. That is three parts and some 2.3 KB of text a message on average.
//
// The same position has the same words in every peer and in every run.

const QUESTION_BYTES = 300, REASONING_BYTES = 400, TOOL_BYTES = 2048, ANSWER_BYTES = 1536;
const WORDS = 50000;

/** A small generator of numbers in [0, 1) with a seed (mulberry32). */
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const SYLLABLES = ['ra', 'met', 'lo', 'si', 'ten', 'ka', 'vu', 'mor', 'eb', 'na', 'di', 'pol', 'is', 'gar', 'he', 'u'];
/** The word of a rank: common ones are short. */
function word(rank) {
  let text = '';
  for (let left = rank + 1; left > 0; left = Math.floor(left / 16)) text += SYLLABLES[left % 16];
  return text;
}

/** Text of exactly so many bytes; the ranks of its words follow Zipf's law, as in natural language. */
function prose(next, bytes) {
  let text = '';
  while (text.length < bytes) text += `${word(Math.floor(WORDS ** next()) - 1)} `;
  return text.slice(0, bytes - 1) + '.';
}

/** The message at a position, counted from 0: {role, text} or {role, reasoning, tool, text}. */
export function message(position) {
  const next = random(position + 1);
  if (position % 2 === 0) return { role: 'user', text: prose(next, QUESTION_BYTES) };
  return {
    role: 'assistant',
    reasoning: prose(next, REASONING_BYTES),
    tool: { name: 'read', input: { path: `src/${word(position)}.c`, limit: 200 }, output: prose(next, TOOL_BYTES) },
    text: prose(next, ANSWER_BYTES),
  };
}

/** What a writer appends when many write to one session. */
export const note = (writer, i) => `Note ${i} of writer ${writer}: ${prose(random(writer * 1000 + i), 200)}`;
