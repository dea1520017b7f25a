// SPDX-License-Identifier: Apache-2.0
// The text that connects a model: a flag of `ramet serve`, or lines of its configuration file.
export type Nearby = { name: string; url: string; models: string[] };

const PLAIN = /^[\w.:/@+-]+$/;

/** For a shell; a model's name with other characters is quoted for the setting and for the shell. */
export const flagLine = (url: string, model: string): string => {
  if (PLAIN.test(model)) return `ramet serve --agent local=openai,url=${url},model=${model}`;
  const inner = `local=openai,url=${url},model=${JSON.stringify(model)}`;
  return `ramet serve --agent '${inner.replace(/'/g, "'\\''")}'`;
};

export const fileLines = (url: string, model: string): string => `[agent local]
kind  = openai
url   = ${url}
model = ${PLAIN.test(model) ? model : JSON.stringify(model)}`;
