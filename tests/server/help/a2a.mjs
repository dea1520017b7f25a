// SPDX-License-Identifier: Apache-2.0
//
// a2a.mjs: both generations of the A2A SDK behind one set of words, so that a test is written once:
// clients of a server (client), and a remote agent with a memory of its own (startAgent).
// Messages, tasks and events are told in the shape of 0.3; the SDK of 1.x makes its own of them.
import { createServer } from 'node:http';
import { randomUUID as uuid } from 'node:crypto';
import { load } from './packages.mjs';

const sdk = {
  '0.3': { types: await load('a2a-0.3'), client: await load('a2a-0.3/client'), server: await load('a2a-0.3/server'),
           express: await load('a2a-0.3/server/express') },
  '1.0': { types: await load('a2a-1.x'), client: await load('a2a-1.x/client'), server: await load('a2a-1.x/server'),
           express: await load('a2a-1.x/server/express'), grpc: await load('a2a-1.x/client/grpc') },
};
const { default: express } = await load('express');
export const generations = ['0.3', '1.0'];
/** What a remote agent may speak: a version, over JSON-RPC if nothing else is said. */
export const remotes = [...generations, '1.0 HTTP+JSON'];

// ------------------------------------------------------------------ one shape

const upper = (s) => s.toUpperCase().replaceAll('-', '_');
const stateIn = (s) => s.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');

const newPart = ({ kind, file, ...rest }) => (void kind, file ? { ...rest, url: file.uri, raw: file.bytes, filename: file.name, mediaType: file.mimeType } : rest);
const newMessage = ({ kind, role, parts, ...rest }) => (void kind, { ...rest, role: `ROLE_${upper(role)}`, parts: parts.map(newPart) });
const newStatus = ({ state, message, ...rest }) => ({ ...rest, state: `TASK_STATE_${upper(state)}`, ...(message ? { message: newMessage(message) } : {}) });
const newArtifact = ({ parts, ...rest }) => ({ ...rest, parts: parts.map(newPart) });
const newTask = ({ kind, status, history, artifacts, ...rest }) => (void kind, {
  ...rest, status: newStatus(status), ...(history ? { history: history.map(newMessage) } : {}),
  ...(artifacts ? { artifacts: artifacts.map(newArtifact) } : {}) });

const oldPart = ({ text, data, url, raw, filename, mediaType, ...rest }) => ({
  ...rest, ...(text !== undefined ? { kind: 'text', text } : data !== undefined ? { kind: 'data', data }
    : { kind: 'file', file: { uri: url, bytes: raw, name: filename, mimeType: mediaType } }) });
const oldMessage = ({ role, parts = [], ...rest }) => ({ kind: 'message', ...rest, role: stateIn(role.replace('ROLE_', '')), parts: parts.map(oldPart) });
const oldStatus = ({ state, message, ...rest }) => ({ ...rest, state: stateIn(state), ...(message ? { message: oldMessage(message) } : {}) });
const oldArtifact = ({ parts = [], ...rest }) => ({ ...rest, parts: parts.map(oldPart) });
export const oldTask = ({ status, history, artifacts, ...rest }) => ({
  kind: 'task', ...rest, status: oldStatus(status), ...(history ? { history: history.map(oldMessage) } : {}),
  ...(artifacts ? { artifacts: artifacts.map(oldArtifact) } : {}) });
const over = ['completed', 'failed', 'canceled', 'rejected', 'input-required', 'auth-required'];
const oldEvent = (e) => {
  if (e.task) return oldTask(e.task);
  if (e.message) return oldMessage(e.message);
  if (e.statusUpdate) {
    const status = oldStatus(e.statusUpdate.status);
    return { kind: 'status-update', ...e.statusUpdate, status, final: over.includes(status.state) };
  }
  return { kind: 'artifact-update', ...e.artifactUpdate, artifact: oldArtifact(e.artifactUpdate.artifact) };
};

export const message = (text, more = {}) => ({
  kind: 'message', messageId: uuid(), role: 'user', parts: [text].flat().map((t) => (typeof t === 'string' ? { kind: 'text', text: t } : t)), ...more });
/** All text of a message, a list of parts or of artifacts. */
export const textOf = (v) => (!v ? '' : Array.isArray(v) ? v.map(textOf).join('') : v.parts ? textOf(v.parts) : v.text ?? '');

// ------------------------------------------------------------------ a client

/** The bindings that a generation has here. */
export const bindings = { '0.3': ['JSONRPC'], '1.0': ['JSONRPC', 'HTTP+JSON', 'GRPC'] };
const transport = (version, binding, fetchImpl, headers) => {
  const { client: c, grpc } = sdk[version];
  if (binding === 'JSONRPC') return new c.JsonRpcTransportFactory({ fetchImpl });
  if (binding === 'HTTP+JSON') return new c.RestTransportFactory({ fetchImpl });
  const made = new grpc.GrpcTransportFactory();
  // What a client says of itself goes as metadata of each call.
  const create = made.create.bind(made);
  made.create = async (...given) => {
    const t = await create(...given);
    for (const name of ['sendMessage', 'sendMessageStream', 'getTask', 'listTasks', 'cancelTask', 'resubscribeTask', 'getExtendedAgentCard', 'createTaskPushNotificationConfig',
      'getTaskPushNotificationConfig', 'listTaskPushNotificationConfig', 'deleteTaskPushNotificationConfig']) {
      const run = t[name].bind(t);
      t[name] = (params, options = {}) => run(params, { ...options, serviceParameters: { ...options.serviceParameters, ...headers } });
    }
    return t;
  };
  return made;
};

/** A client of the SDK at a base address: {card, send, stream, get, list, cancel, resubscribe}. */
export async function client(version, base, { headers = {}, extensions, binding = 'JSONRPC' } = {}) {
  const { client: c, types } = sdk[version];
  const fetchImpl = (url, init = {}) => fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers ?? {})), ...headers } });
  const resolver = new c.DefaultAgentCardResolver({ fetchImpl });
  const factory = new c.ClientFactory({ ...c.ClientFactoryOptions.default, transports: [transport(version, binding, fetchImpl, headers)], cardResolver: resolver, preferredTransports: [binding] });
  const it = await factory.createFromUrl(`${base}/`);
  const options = extensions ? { serviceParameters: c.ServiceParameters.create(c.withA2AExtensions(extensions)) } : undefined;
  if (version === '0.3')
    return {
      card: await it.getAgentCard(), raw: it,
      send: (m, configuration, metadata) => it.sendMessage({ message: m, ...(configuration ? { configuration } : {}), ...(metadata ? { metadata } : {}) }, options),
      stream: (m, configuration) => it.sendMessageStream({ message: m, ...(configuration ? { configuration } : {}) }, options),
      get: (id, historyLength) => it.getTask({ id, ...(historyLength === undefined ? {} : { historyLength }) }, options),
      cancel: (id) => it.cancelTask({ id }, options),
      resubscribe: (id) => it.resubscribeTask({ id }, options),
    };
  const request = (m, { blocking, ...configuration } = {}, metadata) => types.SendMessageRequest.fromJSON({
    message: newMessage(m), metadata, configuration: { ...configuration, ...(blocking === false ? { returnImmediately: true } : {}) } });
  const event = (e) => oldEvent(types.StreamResponse.toJSON(e.payload ? e : { payload: e }));
  async function* events(stream) {
    for await (const e of stream) yield event(e);
  }
  return {
    card: await it.getAgentCard(), raw: it, types,
    send: async (m, configuration, metadata) => {
      const got = await it.sendMessage(request(m, configuration, metadata), options);
      return 'status' in got ? oldTask(types.Task.toJSON(got)) : oldMessage(types.Message.toJSON(got));
    },
    stream: (m, configuration) => events(it.sendMessageStream(request(m, configuration), options)),
    get: async (id, historyLength) => oldTask(types.Task.toJSON(await it.getTask(types.GetTaskRequest.fromJSON({ id, historyLength }), options))),
    list: async (filter) => {
      const got = types.ListTasksResponse.toJSON(await it.listTasks(types.ListTasksRequest.fromJSON(filter), options));
      return { ...got, tasks: (got.tasks ?? []).map(oldTask) };
    },
    cancel: async (id) => oldTask(types.Task.toJSON(await it.cancelTask(types.CancelTaskRequest.fromJSON({ id }), options))),
    resubscribe: (id) => events(it.resubscribeTask(types.SubscribeToTaskRequest.fromJSON({ id }), options)),
  };
}

/** Everything that a stream gives; `until` may end it early. */
export async function all(stream, until = () => false) {
  const got = [];
  for await (const e of stream) {
    got.push(e);
    if (until(e)) break;
  }
  return got;
}

// ------------------------------------------------------------------ a remote agent

const wait = (ms) => new Promise((go) => setTimeout(go, ms));

/**
 * An agent that remembers what it was told, by context. A message is answered by its first word:
 *   recall      everything that it knows in this context, as JSON
 *   slow N …    the words, N ms apart, until it is cancelled
 *   ask …       asks that, and tells what was answered
 *   confirm […] asks with ADK's confirmations (a JSON array of function calls)
 *   fail …      fails with that
 *   tool        calls a tool, as ADK tells it, and says "done"
 *   plain …     answers with a message, without a task
 *   parts       gives back all parts of the message but its own word, in a message and in an artifact
 *   files N B   says "files", with the metadata of the message, and gives N files of B bytes
 *   adk         answers as ADK's agents do: each text in partial messages and then whole, with metadata
 *               and tokens, a tool between them, the last text once more as an artifact
 *   tell HOW    says text with the metadata of the message: in a message (of a status, or `plain`), in
 *               `partial` ones and then a whole one, in the `last` status, in an artifact, in its `chunks`
 * and anything else with "heard: " and the text. `style`: "artifact" tells words as chunks of an
 * artifact, "status" as messages of statuses and then once more as an artifact, as kagent's do.
 */
class Executor {
  constructor(version, style) {
    Object.assign(this, { version, style, memory: new Map(), stopped: new Set(), log: [], asked: new Map() });
  }
  publish(bus, event) {
    const { server, types } = sdk[this.version];
    if (this.version === '0.3') return bus.publish(event);
    const { kind, final, ...rest } = event;
    void final;
    if (kind === 'task') bus.publish(server.AgentEvent.task(types.Task.fromJSON(newTask(event))));
    else if (kind === 'message') bus.publish(server.AgentEvent.message(types.Message.fromJSON(newMessage(event))));
    else if (kind === 'status-update')
      bus.publish(server.AgentEvent.statusUpdate(types.TaskStatusUpdateEvent.fromJSON({ ...rest, status: newStatus(rest.status) })));
    else bus.publish(server.AgentEvent.artifactUpdate(types.TaskArtifactUpdateEvent.fromJSON({ ...rest, artifact: newArtifact(rest.artifact) })));
  }
  execute = async (context, bus) => {
    const { types } = sdk[this.version];
    const user = this.version === '0.3' ? context.userMessage : oldMessage(types.Message.toJSON(context.userMessage));
    const { taskId, contextId } = context, parts = user.parts.map((p) => p.text ?? JSON.stringify(p.data ?? p.file));
    this.log.push({ contextId, taskId, message: user });
    const known = this.memory.get(contextId) ?? this.memory.set(contextId, []).get(contextId);
    known.push(...parts);
    const say = (e) => this.publish(bus, { taskId, contextId, ...e });
    const agentMessage = (list, metadata) => ({ kind: 'message', messageId: uuid(), role: 'agent', contextId, taskId, parts: list, ...(metadata ? { metadata } : {}) });
    const status = (state, m, final = over.includes(state)) => say({ kind: 'status-update', final, status: { state, timestamp: new Date().toISOString(), ...(m ? { message: m } : {}) } });
    const text = (user.parts[0].text === 'parts' ? parts[0] : parts.at(-1)) ?? '', [word, ...rest] = text.split(' ');
    const answered = this.asked.get(taskId);
    if (word === 'plain' || text === 'tell plain') {
      this.publish(bus, agentMessage([{ kind: 'text', text: `heard: ${rest.join(' ')}` }], user.metadata));
      return bus.finished();
    }
    if (!context.task)
      this.publish(bus, { kind: 'task', id: taskId, contextId, status: { state: 'submitted', timestamp: new Date().toISOString() }, history: [user] });
    else if (this.version === '1.0') bus.publish(sdk['1.0'].server.AgentEvent.task(context.task));
    status('working');
    if (word === 'fail') {
      status('failed', agentMessage([{ kind: 'text', text: rest.join(' ') }]));
      return bus.finished();
    }
    if (word === 'ask' && !answered) {
      this.asked.set(taskId, rest.join(' '));
      status('input-required', agentMessage([{ kind: 'text', text: rest.join(' ') }], user.metadata));
      return bus.finished();
    }
    if (word === 'confirm' && !answered) {
      this.asked.set(taskId, 'confirm');
      status('input-required', agentMessage(JSON.parse(rest.join(' ')).map((data) => ({ kind: 'data', data, metadata: { adk_type: 'function_call', adk_is_long_running: true } }))));
      return bus.finished();
    }
    if (word === 'tool')
      for (const [type, data] of [['function_call', { id: 'c1', name: 'look', args: { at: 'sky' } }], ['function_response', { id: 'c1', name: 'look', response: { result: 'blue' } }]])
        status('working', agentMessage([{ kind: 'data', data, metadata: { adk_type: type } }]));
    if (word === 'parts') {
      const rest = user.parts.filter((p) => p.kind !== 'text');
      status('working', agentMessage([{ kind: 'text', text: 'here they are' }, ...rest], { told: user.metadata ?? null }));
      say({ kind: 'artifact-update', append: false, lastChunk: true, artifact: { artifactId: 'p', parts: [{ kind: 'text', text: 'here they are' }, ...rest] } });
      status('completed');
      return bus.finished();
    }
    if (word === 'adk') {
      const about = (n) => ({ kagent_author: 'far', kagent_invocation_id: 'e-1', adk_partial: false, kagent_usage_metadata: { promptTokenCount: n, candidatesTokenCount: 1, totalTokenCount: n + 3 } });
      const whole = (said, n) => {
        for (const piece of [said.slice(0, 3), said.slice(3)]) status('working', agentMessage([{ kind: 'text', text: piece }], { adk_partial: true, kagent_author: 'far' }));
        status('working', agentMessage([{ kind: 'text', text: said }], about(n)));
      };
      whole('Let me look.', 5);
      for (const [type, data] of [['function_call', { id: 'c1', name: 'look', args: {} }], ['function_response', { id: 'c1', name: 'look', response: { result: 'blue' } }]])
        status('working', agentMessage([{ kind: 'data', data, metadata: { adk_type: type } }], { kagent_author: 'far' }));
      whole('It is blue.', 9);
      say({ kind: 'artifact-update', append: false, lastChunk: true, artifact: { artifactId: 'a', parts: [{ kind: 'text', text: 'It is blue.' }] } });
      status('completed');
      return bus.finished();
    }
    if (word === 'files') {
      status('working', agentMessage([{ kind: 'text', text: 'files' }], user.metadata));
      for (let i = 0; i < Number(rest[0]); i++)
        say({ kind: 'artifact-update', append: false, lastChunk: true, artifact: { artifactId: `f${i}`, parts: [{ kind: 'file', file: { bytes: Buffer.alloc(Number(rest[1]), `${i} `).toString('base64'), name: `f${i}` }, metadata: { n: i } }] } });
      status('completed');
      return bus.finished();
    }
    if (word === 'tell') {
      const { metadata } = user, [how] = rest, said = (text, more = metadata) => agentMessage([{ kind: 'text', text, metadata: { of: 'the part' } }], more);
      const artifact = (text, more) => say({ kind: 'artifact-update', append: false, lastChunk: true, ...more, artifact: { artifactId: 'a', parts: [{ kind: 'text', text }], ...(more?.metadata ? { metadata } : {}) } });
      if (how === 'message') status('working', said('one text'));
      if (how === 'partial') {
        for (const piece of ['one ', 'text']) status('working', agentMessage([{ kind: 'text', text: piece }], { adk_partial: true }));
        status('working', said('one text'));
      }
      if (how === 'artifact') artifact('one text', { metadata });
      if (how === 'repeated') {
        status('working', said('one text'));
        artifact('one text');
      }
      if (how === 'chunks') {
        artifact('one ', { lastChunk: false, metadata });
        artifact('te', { append: true, lastChunk: false });
        artifact('xt', { append: true });
      }
      status('completed', how === 'last' ? said('one text') : undefined);
      return bus.finished();
    }
    const reply = answered ? `answered: ${text}` : word === 'recall' ? JSON.stringify(known) : word === 'tool' ? 'done'
      : word === 'slow' ? rest.slice(1).join(' ') : `heard: ${text}`;
    const pieces = word === 'recall' ? [reply] : reply.match(/\S+\s*/g) ?? [reply];
    for (const [i, piece] of pieces.entries()) {
      if (word === 'slow') await wait(Number(rest[0]));
      if (this.stopped.has(taskId)) {
        status('canceled');
        return bus.finished();
      }
      if (this.style === 'status') status('working', agentMessage([{ kind: 'text', text: piece }], { adk_partial: true }));
      else say({ kind: 'artifact-update', append: i > 0, lastChunk: i === pieces.length - 1, artifact: { artifactId: 'a', parts: [{ kind: 'text', text: piece }] } });
    }
    if (this.style === 'status') {
      status('working', agentMessage([{ kind: 'text', text: reply }]));
      say({ kind: 'artifact-update', append: false, lastChunk: true, artifact: { artifactId: 'a', parts: [{ kind: 'text', text: reply }] } });
    }
    known.push(reply);
    await this.onAnswer?.({ taskId, contextId, user: { ...user, taskId, contextId }, answer: agentMessage([{ kind: 'text', text: reply }]) });
    status('completed');
    bus.finished();
  };
  cancelTask = async (taskId) => {
    this.stopped.add(taskId);
  };
}

/** {url, log, calls, executor, breakNext(), stop()} of one of the `remotes`; executor.onAnswer is called
 * before a task is completed, breakNext() cuts the next stream after its third event. */
export async function startAgent(remote, { style = 'artifact', streaming = true, tenant } = {}) {
  const [version, protocolBinding = 'JSONRPC'] = remote.split(' '), calls = [];
  const { server, express: ex, types } = sdk[version];
  const executor = new Executor(version, style);
  const app = express(), http = createServer(app);
  await new Promise((go) => http.listen(0, '127.0.0.1', go));
  const base = `http://127.0.0.1:${http.address().port}/agent`, url = `${base}/rpc`;
  let cut = 0;
  const card = { name: 'Memory', description: 'remembers', version: '1', capabilities: { streaming, pushNotifications: false },
                 defaultInputModes: ['text'], defaultOutputModes: ['text'],
                 skills: [{ id: 'chat', name: 'Chat', description: 'chats', tags: ['chat'] }] };
  const whole = version === '0.3' ? { ...card, protocolVersion: '0.3.0', url, preferredTransport: 'JSONRPC' }
    : types.AgentCard.fromJSON({ ...card, supportedInterfaces: [{ url: 'grpc.invalid:443', protocolBinding: 'GRPC', protocolVersion: '1.0' }, { url, protocolBinding, protocolVersion: '1.0', tenant }] });
  const requestHandler = new server.DefaultRequestHandler(whole, new server.InMemoryTaskStore(), executor);
  app.use('/agent/rpc', (req, res, next) => {
    calls.push(`${req.method} ${req.url}`);
    if (cut > 0) {
      cut--;
      const write = res.write.bind(res);
      let n = 0;
      res.write = (chunk, ...more) => {
        const went = write(chunk, ...more);
        if (String(chunk).includes('data:') && ++n === 3) setImmediate(() => res.destroy());
        return went;
      };
    }
    next();
  }, (protocolBinding === 'JSONRPC' ? ex.jsonRpcHandler : ex.restHandler)({ requestHandler, userBuilder: ex.UserBuilder.noAuthentication }));
  app.use('/agent/.well-known/agent-card.json', ex.agentCardHandler({ agentCardProvider: requestHandler }));
  return { url: base, log: executor.log, calls, executor, breakNext: () => (cut = 1),
           stop: () => new Promise((go) => { http.close(go); http.closeAllConnections(); }) };
}
