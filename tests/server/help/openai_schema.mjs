// SPDX-License-Identifier: Apache-2.0
//
// openai_schema.mjs: JSON schemas of what the OpenAI face answers, strict about required members and
// about members that are not known: valid('response', object) throws with what is wrong.
import { load } from './packages.mjs';

const { default: Ajv } = await load('ajv/dist/2020.js');
const text = { type: 'string' }, int = { type: 'integer' }, bool = { type: 'boolean' };
const orNull = (s) => ({ anyOf: [s, { type: 'null' }] });
const is = (value) => ({ const: value });
const list = (items) => ({ type: 'array', items });
const any = {};
/** An object with exactly these members; those in `may` may be left out. */
const object = (members, may = {}) => ({
  type: 'object', properties: { ...members, ...may }, required: Object.keys(members), additionalProperties: false });
const ref = (name) => ({ $ref: `#/$defs/${name}` });
const id = (prefix) => ({ type: 'string', pattern: `^${prefix}_(x?[0-9a-f]+)(-x?[0-9a-f]+)?(_[1-9][0-9]*)?$` });
const status = { enum: ['in_progress', 'completed', 'incomplete'] };

const usage = object({
  input_tokens: int, input_tokens_details: object({ cached_tokens: int }), output_tokens: int,
  output_tokens_details: object({ reasoning_tokens: int }), total_tokens: int });
const outputText = object({ type: is('output_text'), text, annotations: list(any), logprobs: list(any) });
const reasoningText = object({ type: is('reasoning_text'), text });
const content = { anyOf: [outputText, object({ type: is('input_text'), text }),
  object({ type: is('input_image'), image_url: text, detail: text }), object({ type: is('input_file'), filename: orNull(text), file_url: text }),
  { type: 'object', required: ['type'], properties: { type: { enum: ['refusal', 'input_file', 'input_image'] } } }] };
const item = { anyOf: [
  object({ id: id('msg'), type: is('message'), status, role: { enum: ['user', 'assistant', 'system', 'developer'] }, content: list(content) }),
  object({ id: id('rs'), type: is('reasoning'), summary: list(any), content: list(reasoningText), encrypted_content: orNull(text) }),
  object({ id: id('fc'), type: is('function_call'), status, call_id: text, name: text, arguments: text }),
  object({ id: id('ctc'), type: is('custom_tool_call'), status, call_id: text, name: text, input: text }),
  object({ id: id('out'), type: { enum: ['function_call_output', 'custom_tool_call_output'] }, status, call_id: text, output: any }),
  { type: 'object', required: ['id', 'type'], properties: { id: id('item') } },
] };

const response = object({
  id: id('resp'), object: is('response'), created_at: int, completed_at: orNull(int),
  status: { enum: ['in_progress', 'completed', 'failed', 'incomplete', 'cancelled'] },
  incomplete_details: orNull(object({ reason: { enum: ['max_output_tokens', 'content_filter'] } })),
  error: orNull(object({ code: text, message: text })), model: text, previous_response_id: orNull(id('resp')),
  instructions: orNull(text), output: list(ref('item')), tools: list({ type: 'object' }), tool_choice: any,
  truncation: { enum: ['auto', 'disabled'] }, parallel_tool_calls: bool,
  text: object({ format: { type: 'object', required: ['type'] } }, { verbosity: text }),
  top_p: { type: 'number' }, presence_penalty: { type: 'number' }, frequency_penalty: { type: 'number' },
  top_logprobs: int, temperature: { type: 'number' }, reasoning: object({ effort: orNull(text), summary: orNull(text) }),
  usage: orNull(usage), max_output_tokens: orNull(int), max_tool_calls: orNull(int), store: bool, background: bool,
  service_tier: text, metadata: { type: 'object', additionalProperties: text }, safety_identifier: orNull(text),
  prompt_cache_key: orNull(text),
}, { conversation: object({ id: id('conv') }) });

const event = (type, members) => object({ type: is(type), sequence_number: int, ...members });
const ofItem = { item_id: text, output_index: int };
const ofPart = { ...ofItem, content_index: int };
const events = { oneOf: [
  ...['created', 'in_progress', 'queued', 'completed', 'failed', 'incomplete'].map((s) => event(`response.${s}`, { response: ref('response') })),
  ...['added', 'done'].map((s) => event(`response.output_item.${s}`, { output_index: int, item: ref('item') })),
  ...['added', 'done'].map((s) => event(`response.content_part.${s}`, { ...ofPart, part: { anyOf: [outputText, reasoningText] } })),
  event('response.output_text.delta', { ...ofPart, delta: text, logprobs: list(any) }),
  event('response.output_text.done', { ...ofPart, text, logprobs: list(any) }),
  event('response.reasoning_text.delta', { ...ofPart, delta: text }),
  event('response.reasoning_text.done', { ...ofPart, text }),
  event('response.function_call_arguments.delta', { ...ofItem, delta: text }),
  event('response.function_call_arguments.done', { ...ofItem, name: text, arguments: text }),
  event('response.custom_tool_call_input.delta', { ...ofItem, delta: text }),
  event('response.custom_tool_call_input.done', { ...ofItem, input: text }),
  event('error', { code: text, message: text, param: orNull(text) }),
] };

const chatUsage = object({
  prompt_tokens: int, completion_tokens: int, total_tokens: int,
  prompt_tokens_details: object({ cached_tokens: int, audio_tokens: int }),
  completion_tokens_details: object({ reasoning_tokens: int }) });
const call = object({ id: text, type: is('function'), function: object({ name: text, arguments: text }) }, { index: int });
const finish = { enum: ['stop', 'length', 'tool_calls', 'content_filter'] };
const chat = object({
  id: text, object: is('chat.completion'), created: int, model: text, usage: chatUsage,
  choices: list(object({ index: int, logprobs: orNull(any), finish_reason: finish,
    message: object({ role: is('assistant'), content: orNull(text), refusal: orNull(text) }, { reasoning_content: text, tool_calls: list(call) }) })) });
const chunk = object({
  id: text, object: is('chat.completion.chunk'), created: int, model: text,
  choices: list(object({ index: int, logprobs: orNull(any), finish_reason: orNull(finish),
    delta: object({}, { role: is('assistant'), content: text, reasoning_content: text, tool_calls: list(call) }) })),
}, { usage: orNull(chatUsage) });

const page = (of) => object({ object: is('list'), data: list(of), first_id: orNull(text), last_id: orNull(text), has_more: bool });
const conversation = object({ id: id('conv'), object: is('conversation'), created_at: int, metadata: { type: 'object', additionalProperties: text } });
const $defs = {
  item, response, event: events, chat, chunk, conversation, conversations: page(ref('conversation')), items: page(ref('item')),
  deleted: object({ id: text, object: { enum: ['response', 'conversation.deleted'] }, deleted: is(true) }),
  models: object({ object: is('list'), data: list(ref('model')) }),
  model: object({ id: text, object: is('model'), created: int, owned_by: text }),
  error: object({ error: object({ message: text, type: text, param: orNull(text), code: orNull(text) }) }),
};

const ajv = new Ajv({ strict: false, allErrors: false });
const checks = Object.fromEntries(Object.keys($defs).map((name) => [name, ajv.compile({ $ref: `#/$defs/${name}`, $defs })]));
/** The value, if it has that shape. */
export function valid(name, value) {
  if (!checks[name](value))
    throw new Error(`not a valid ${name}: ${ajv.errorsText(checks[name].errors)}\n${JSON.stringify(value)}`);
  return value;
}
