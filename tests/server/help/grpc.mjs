// SPDX-License-Identifier: Apache-2.0
//
// grpc.mjs: a client of the gRPC services, made from proto/ by @grpc/proto-loader: calls as
// promises, streams as lists, UUIDs and values of protobuf as JavaScript has them.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from './packages.mjs';

export const grpc = (await load('@grpc/grpc-js')).default;
export const loader = (await load('@grpc/proto-loader')).default;

export const protoDir = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'proto');
export const options = { longs: Number, enums: String, defaults: true, oneofs: true, arrays: true,
                         includeDirs: [protoDir] };
const read = (file) => grpc.loadPackageDefinition(loader.loadSync(join(protoDir, file), options));
export const memory = read('memory/v1/memory.proto').memory.v1;
export const health = read('grpc/health/v1/health.proto').grpc.health.v1;
export const reflection = read('grpc/reflection/v1/reflection.proto').grpc.reflection.v1;

export const code = Object.fromEntries(Object.entries(grpc.status).filter(([, v]) => typeof v === 'number').map(([k, v]) => [v, k]));
export const bytes = (uuid) => Buffer.from(uuid.replaceAll('-', ''), 'hex');
export const uuid = (b) => (b?.length ? b.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') : undefined);

/** A JavaScript value as google.protobuf.Value, and back. */
export function value(v) {
  if (v === null) return { nullValue: 'NULL_VALUE' };
  if (typeof v === 'number') return { numberValue: v };
  if (typeof v === 'string') return { stringValue: v };
  if (typeof v === 'boolean') return { boolValue: v };
  if (Array.isArray(v)) return { listValue: { values: v.map(value) } };
  return { structValue: struct(v) };
}
export const struct = (o) => ({ fields: Object.fromEntries(Object.entries(o).map(([k, v]) => [k, value(v)])) });
export function plain(v) {
  if (!v || !v.kind || v.kind === 'nullValue') return null;
  if (v.kind === 'structValue') return plainStruct(v.structValue);
  if (v.kind === 'listValue') return v.listValue.values.map(plain);
  return v[v.kind];
}
export const plainStruct = (s) => (s ? Object.fromEntries(Object.entries(s.fields).map(([k, v]) => [k, plain(v)])) : undefined);

export function metadata(who = {}) {
  const m = new grpc.Metadata();
  for (const [k, v] of Object.entries(who)) for (const one of [v].flat()) m.add(k.toLowerCase(), one);
  return m;
}

const open = new Set();
/** Clients of a server at a port: call(Service, 'method', message, who, options). */
export function client(port, more = {}) {
  const clients = new Map();
  const of = (Service) => {
    if (!clients.has(Service)) {
      const c = new Service(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), more);
      clients.set(Service, c);
      open.add(c);
    }
    return clients.get(Service);
  };
  return {
    of,
    /** {code, value, message, headers, trailers} */
    call: (Service, method, message, who = {}, o = {}) => new Promise((done) => {
      let headers, trailers, result;
      const c = of(Service)[method](message, metadata(who), o, (e, v) => {
        result = e ? { code: code[e.code], message: e.details } : { code: 'OK', value: v };
        if (e) done({ ...result, headers, trailers: e.metadata });
      });
      c.on('metadata', (m) => (headers = m));
      c.on('status', (s) => {
        trailers = s.metadata;
        setImmediate(() => done({ ...result, headers, trailers }));
      });
    }),
    /** All that a stream of answers gives: {code, list}. */
    all: (Service, method, message, who = {}, o = {}) => new Promise((done) => {
      const list = [];
      const c = of(Service)[method](message, metadata(who), o);
      c.on('data', (d) => list.push(d));
      c.on('error', () => {});
      c.on('status', (s) => done({ code: code[s.code], message: s.details, list }));
    }),
    /** A stream that is open: {list, status, cancel(), until(test)}. */
    listen: (Service, method, message, who = {}, o = {}) => {
      const c = of(Service)[method](message, metadata(who), o);
      const s = { list: [], status: null, call: c, cancel: () => c.cancel() };
      c.on('data', (d) => s.list.push(d));
      c.on('error', () => {});
      c.on('metadata', (m) => (s.headers = m));
      s.ended = new Promise((done) => c.on('status', (st) => { s.status = code[st.code]; done(s.status); }));
      return s;
    },
    /** Sends messages (of a list, or as they come), gives {code, value}. */
    send: (Service, method, messages, who = {}, o = {}) => new Promise((done) => {
      const c = of(Service)[method](metadata(who), o, (e, v) =>
        done(e ? { code: code[e.code], message: e.details } : { code: 'OK', value: v }));
      c.on('error', () => {});
      (async () => {
        for await (const m of messages) if (!c.write(m)) await new Promise((go) => { c.once('drain', go); setTimeout(go, 1000); });
        c.end();
      })();
    }),
    close: () => { for (const c of clients.values()) { open.delete(c); c.close(); } },
  };
}
/** A suite that ends with connections open would not end. */
export const closeAll = () => { for (const c of open) c.close(); open.clear(); };
