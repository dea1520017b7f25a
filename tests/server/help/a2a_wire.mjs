// SPDX-License-Identifier: Apache-2.0
//
// a2a_wire.mjs: A2A as bytes, without an SDK: one function for each binding, which sends a method of
// 1.0 with parameters in their JSON form and gives {result}, {events} or {error: {reason, code}}.
import { grpc, loader, options, protoDir } from './grpc.mjs';
import { join } from 'node:path';

const INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const enc = encodeURIComponent;
const lines = (text) => text.split('\n\n').filter((e) => e.startsWith('data: ')).map((e) => JSON.parse(e.slice(6)));

// ------------------------------------------------------------------ JSON-RPC

/** The whole of an answer; `opened` is called with its first bytes. */
async function wholeText(answer, opened) {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part, { stream: true });
    opened?.();
  }
  return text;
}

export async function overJsonRpc(s, method, params, { headers = {}, version = '1.0', agent = 'echo', opened } = {}) {
  const answer = await fetch(`${s.url}/a2a/${agent}`, {
    method: 'POST', headers: { 'Content-Type': 'application/json', ...(version ? { 'A2A-Version': version } : {}), ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'x', method, params }) });
  const text = await wholeText(answer, opened), type = answer.headers.get('content-type');
  const all = type.includes('event-stream') ? lines(text) : [JSON.parse(text)];
  const bad = all.find((e) => e.error);
  if (bad) return { error: { code: bad.error.code, reason: bad.error.data?.[0]?.reason, message: bad.error.message } };
  return type.includes('event-stream') ? { events: all.map((e) => e.result) } : { result: all[0].result };
}

// ------------------------------------------------------------------ HTTP+JSON

const query = (o) => {
  const q = new URLSearchParams(Object.entries(o).map(([k, v]) => [k, String(v)])).toString();
  return q ? `?${q}` : '';
};
const rest = ({ id, taskId, ...more } = {}) => ({
  SendMessage: ['POST', '/message:send', more], SendStreamingMessage: ['POST', '/message:stream', more],
  GetTask: ['GET', `/tasks/${enc(id)}${query(more)}`], ListTasks: ['GET', `/tasks${query(id === undefined ? more : { id, ...more })}`],
  CancelTask: ['POST', `/tasks/${enc(id)}:cancel`, more], SubscribeToTask: ['GET', `/tasks/${enc(id)}:subscribe`],
  CreateTaskPushNotificationConfig: ['POST', `/tasks/${enc(taskId)}/pushNotificationConfigs`, id === undefined ? more : { id, ...more }],
  GetTaskPushNotificationConfig: ['GET', `/tasks/${enc(taskId)}/pushNotificationConfigs/${enc(id)}`],
  ListTaskPushNotificationConfigs: ['GET', `/tasks/${enc(taskId)}/pushNotificationConfigs${query(more)}`],
  DeleteTaskPushNotificationConfig: ['DELETE', `/tasks/${enc(taskId)}/pushNotificationConfigs/${enc(id)}`],
  GetExtendedAgentCard: ['GET', `/extendedAgentCard${query(more)}`],
});

export async function overRest(s, method, params = {}, { headers = {}, version = '1.0', agent = 'echo', opened } = {}) {
  const [verb, path, body] = rest(params)[method];
  const answer = await fetch(`${s.url}/a2a/${agent}/v1${path}`, {
    method: verb, headers: { ...(body ? { 'Content-Type': 'application/json' } : {}), ...(version ? { 'A2A-Version': version } : {}), ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}) });
  const text = await wholeText(answer, opened), type = answer.headers.get('content-type') ?? '';
  if (answer.status >= 400) {
    const { error } = JSON.parse(text);
    return { error: { code: answer.status, status: error.status, same: error.code === answer.status,
                      reason: error.details.find((x) => x['@type'] === INFO)?.reason, message: error.message } };
  }
  if (type.includes('event-stream')) return { events: lines(text) };
  return { status: answer.status, type, result: text ? JSON.parse(text) : {} };
}

// ------------------------------------------------------------------ gRPC

const root = grpc.loadPackageDefinition(loader.loadSync(join(protoDir, 'a2a/v1/a2a.proto'), { ...options, defaults: false, arrays: false, oneofs: false }));
export const Service = root.lf.a2a.v1.A2AService;
const clients = new Map();
const clientOf = (s) => clients.get(s.url) ?? clients.set(s.url, new Service(`127.0.0.1:${s.port}`, grpc.credentials.createInsecure())).get(s.url);

// google.protobuf.Value, Struct and Timestamp have a JSON form of their own, which proto-loader does not know.
const anyIn = (v) => (v === null ? { nullValue: 0 } : typeof v === 'number' ? { numberValue: v } : typeof v === 'string' ? { stringValue: v }
  : typeof v === 'boolean' ? { boolValue: v } : Array.isArray(v) ? { listValue: { values: v.map(anyIn) } } : { structValue: structIn(v) });
const structIn = (o) => ({ fields: Object.fromEntries(Object.entries(o).map(([k, v]) => [k, anyIn(v)])) });
const anyOut = (v) => ('stringValue' in v ? v.stringValue : 'numberValue' in v ? v.numberValue : 'boolValue' in v ? v.boolValue
  : 'listValue' in v ? (v.listValue.values ?? []).map(anyOut) : 'structValue' in v ? structOut(v.structValue) : null);
const structOut = (s) => Object.fromEntries(Object.entries(s.fields ?? {}).map(([k, v]) => [k, anyOut(v)]));
const into = (v, key) => {
  if (key === 'metadata' || key === 'params') return structIn(v);
  if (key === 'data') return anyIn(v);
  if (key === 'raw') return Buffer.from(v, 'base64');
  if (/imestamp/.test(key ?? '')) return { seconds: Math.floor(Date.parse(v) / 1000), nanos: (Date.parse(v) % 1000) * 1e6 };
  if (Array.isArray(v)) return v.map((x) => into(x));
  if (v && typeof v === 'object') return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, into(x, k)]));
  return v;
};
const outof = (v, key) => {
  if ((key === 'metadata' || key === 'params') && v.fields !== undefined) return structOut(v);
  if (key === 'data') return anyOut(v);
  if (key === 'timestamp') return new Date(Number(v.seconds) * 1000 + (v.nanos ?? 0) / 1e6).toISOString();
  if (Buffer.isBuffer(v)) return v.toString('base64');
  if (Array.isArray(v)) return v.map((x) => outof(x));
  if (v && typeof v === 'object')
    return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, outof(x, k)]));
  return v;
};
const code = Object.fromEntries(Object.entries(grpc.status).filter(([, v]) => typeof v === 'number').map(([k, v]) => [v, k]));
function failure(e) {
  const [bin] = e.metadata?.get('grpc-status-details-bin') ?? [];
  // A packed google.rpc.Status: the reason is the first field of the ErrorInfo that follows its type.
  const reason = bin?.toString('latin1').match(new RegExp(`${INFO}\\x12.{1,2}\\n.([A-Z_]+)\\x12`, 's'))?.[1];
  return { error: { code: code[e.code], reason, message: e.details } };
}

export function overGrpc(s, method, params = {}, { headers = {}, version = '1.0', agent = 'echo', opened } = {}) {
  const m = new grpc.Metadata();
  for (const [k, v] of Object.entries({ ...(version ? { 'a2a-version': version } : {}), ...headers })) m.add(k.toLowerCase(), v);
  const message = { ...into(params), ...(agent === null ? {} : { tenant: params.tenant ?? agent }) };
  const c = clientOf(s), name = method[0].toLowerCase() + method.slice(1);
  return new Promise((done) => {
    if (!/Streaming|Subscribe/.test(method)) {
      c[name](message, m, (e, v) => done(e ? failure(e) : { result: outof(v) }));
      return;
    }
    const events = [], stream = c[name](message, m);
    stream.on('data', (e) => { events.push(outof(e)); opened?.(); });
    stream.on('error', (e) => done(failure(e)));
    stream.on('end', () => done({ events }));
  });
}

export const over = { JSONRPC: overJsonRpc, 'HTTP+JSON': overRest, GRPC: overGrpc };
