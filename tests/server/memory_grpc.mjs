// SPDX-License-Identifier: Apache-2.0
//
// memory_grpc.mjs: memory-service by gRPC, with @grpc/grpc-js: every service, what differs from REST,
// and the same story told through both.
import { test, finish, start, scratch, assert, eventually, ramet, raw, sleep, call as http, slow, newSession,
         append as nativeAppend } from './lib.mjs';
import { client, closeAll, memory, health, reflection, grpc, loader, options, value, struct, plain, plainStruct,
         bytes, uuid, metadata } from './help/grpc.mjs';
import { createHash, randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import net from 'node:net';

const { SystemService, ConversationsService, ConversationMembershipsService: Members, OwnershipTransfersService: Transfers,
        EntriesService, AttachmentsService: Files, SearchService, EventStreamService, AdminEntriesService,
        AdminConversationsService } = memory;
const alice = { Authorization: 'Bearer alice' };
const bob = { Authorization: 'Bearer bob' };
const agent = (user = 'alice', id = 'agent-1') => ({ Authorization: `Bearer ${user}`, 'X-Client-ID': id });
const admins = ['--admins', 'alice', '--auditors', 'charlie', '--indexers', 'dave'];
const begin = async (more = []) => {
  const s = await start({ args: [...admins, ...more] });
  return { s, c: client(s.port) };
};
const ok = async (answer) => {
  const r = await answer;
  assert.equal(r.code, 'OK', `${r.code}: ${r.message}`);
  return r.value;
};
const refused = async (answer, code, text) => {
  const r = await answer;
  assert.equal(r.code, code, `${r.code}: ${r.message} ${JSON.stringify(r.value)}`);
  if (text) assert.ok(text instanceof RegExp ? text.test(r.message) : r.message.includes(text), r.message);
  return r;
};
const say = (text, more = {}) => ({ channel: 'HISTORY', contentType: 'history', content: [value({ role: 'USER', text })], ...more });
const append = (c, id, entry, who = alice) => c.call(EntriesService, 'appendEntry', { conversationId: id, entry }, who);
const texts = (list) => list.map((e) => plain(e.content[0])?.text ?? plain(e.content[0]));
const upload = (c, data, meta = {}, who = alice, size = 32768) => {
  const pieces = [{ metadata: meta }];
  for (let i = 0; i < data.length; i += size) pieces.push({ chunk: data.subarray(i, i + size) });
  return c.send(Files, 'uploadAttachment', pieces, who);
};

// ------------------------------------------------------------------ the same through both

const CODE = { 400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND', 409: 'ABORTED',
               501: 'UNIMPLEMENTED' };
const enc = encodeURIComponent;
const C = (id) => `/v1/conversations/${enc(id)}`;
const query = (o) => {
  const q = new URLSearchParams(Object.entries(o).filter(([, v]) => v !== undefined).map(([k, v]) => [k, String(v)])).toString();
  return q ? `?${q}` : '';
};

function overRest(s) {
  const ask = async (method, path, json, who) => {
    const r = await http(s, method, path, { headers: who, json });
    if (r.status >= 400) return { code: CODE[r.status] ?? r.status, text: r.body.details?.message ?? r.body.error };
    return { code: 'OK', value: r.body ?? {} };
  };
  const list = async (answer, name) => {
    const r = await answer;
    return r.code === 'OK' ? { code: 'OK', value: { [name]: r.value.data, next: r.value.afterCursor, previous: r.value.beforeCursor } } : r;
  };
  return {
    health: (w) => ask('GET', '/v1/health', undefined, w),
    capabilities: (w) => ask('GET', '/v1/capabilities', undefined, w),
    create: (o, w) => ask('POST', '/v1/conversations', o, w),
    get: (id, w) => ask('GET', C(id), undefined, w),
    update: (id, o, w) => ask('PATCH', C(id), o, w),
    list: (o, w) => list(ask('GET', `/v1/conversations${query(o)}`, undefined, w), 'conversations'),
    forks: (id, w) => ask('GET', `${C(id)}/forks`, undefined, w),
    children: (id, o, w) => list(ask('GET', `${C(id)}/children${query(o)}`, undefined, w), 'conversations'),
    append: (id, o, w) => ask('POST', `${C(id)}/entries`, o, w),
    appendMany: async (id, entries, w) => {
      const r = await ask('POST', `${C(id)}/entries`, { entries }, w);
      return r.code === 'OK' ? { code: 'OK', value: { entries: r.value } } : r;
    },
    sync: (id, content, w) => ask('POST', `${C(id)}/entries/sync`, { channel: 'context', contentType: 'ctx', content }, w),
    entries: (id, o, w) => list(ask('GET', `${C(id)}/entries${query(o)}`, undefined, w), 'entries'),
    members: (id, o, w) => list(ask('GET', `${C(id)}/memberships${query(o)}`, undefined, w), 'memberships'),
    share: (id, userId, accessLevel, w) => ask('POST', `${C(id)}/memberships`, { userId, accessLevel }, w),
    level: (id, u, accessLevel, w) => ask('PATCH', `${C(id)}/memberships/${enc(u)}`, { accessLevel }, w),
    unshare: (id, u, w) => ask('DELETE', `${C(id)}/memberships/${enc(u)}`, undefined, w),
    transfers: (o, w) => list(ask('GET', `/v1/ownership-transfers${query(o)}`, undefined, w), 'transfers'),
    transfer: (conversationId, newOwnerUserId, w) => ask('POST', '/v1/ownership-transfers', { conversationId, newOwnerUserId }, w),
    transferGet: (id, w) => ask('GET', `/v1/ownership-transfers/${id}`, undefined, w),
    accept: (id, w) => ask('POST', `/v1/ownership-transfers/${id}/accept`, undefined, w),
    decline: (id, w) => ask('DELETE', `/v1/ownership-transfers/${id}`, undefined, w),
    search: (o, w) => list(ask('POST', '/v1/conversations/search', o, w), 'results'),
    index: (list_, w) => ask('POST', '/v1/conversations/index', { entries: list_ }, w),
    unindexed: (o, w) => list(ask('GET', `/v1/conversations/unindexed${query(o)}`, undefined, w), 'entries'),
    upload: async (data, name, type, w) => {
      const form = new FormData();
      form.append('file', new Blob([data], { type }), name);
      const r = await http(s, 'POST', '/v1/attachments', { headers: w, body: form });
      return r.status < 400 ? { code: 'OK', value: r.body } : { code: CODE[r.status], text: r.body.error };
    },
    fileDelete: (id, w) => ask('DELETE', `/v1/attachments/${id}`, undefined, w),
    fileUrl: async (id, w) => {
      const r = await ask('GET', `/v1/attachments/${id}/download-url`, undefined, w);
      if (r.value) r.value.url = r.value.url.replace(/download\/.*\//, 'download/T/');
      return r;
    },
    adminGet: (id, w) => ask('GET', `/v1/admin/conversations/${enc(id)}`, undefined, w),
    adminList: async (o, w) => { // the message has less
      const r = await list(ask('GET', `/v1/admin/conversations${query(o)}`, undefined, w), 'conversations');
      for (const x of r.value?.conversations ?? []) for (const k of ['metadata', 'forkedAtEntryId', 'forkedAtConversationId']) delete x[k];
      return r;
    },
    adminUpdate: (id, archived, w) => ask('PATCH', `/v1/admin/conversations/${enc(id)}`, { archived }, w),
    adminForks: (id, w) => ask('GET', `/v1/admin/conversations/${enc(id)}/forks`, undefined, w),
    adminMembers: (id, w) => list(ask('GET', `/v1/admin/conversations/${enc(id)}/memberships`, undefined, w), 'memberships'),
    adminChildren: (id, w) => list(ask('GET', `/v1/admin/conversations/${enc(id)}/children`, undefined, w), 'conversations'),
    adminEntries: (id, o, w) => list(ask('GET', `/v1/admin/conversations/${enc(id)}/entries${query(o)}`, undefined, w), 'entries'),
    adminEntry: (id, w) => ask('GET', `/v1/admin/entries/${id}`, undefined, w),
  };
}

/** Enumerations by their words of REST. */
const ENUM = {
  mode: { all: 'ALL', roots: 'ROOTS', 'latest-fork': 'LATEST_FORK' },
  ancestry: (w) => `CONVERSATION_ANCESTRY_FILTER_${w.toUpperCase()}`,
  archived: (w) => `ARCHIVE_FILTER_${w.toUpperCase()}`,
};
const page = (o) => ({ pageToken: o.afterCursor ?? '', pageSize: o.limit ?? 0 });
const some = (o) => Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined));
const entryIn = (o) => some({
  ...o, channel: o.channel?.toUpperCase(), content: o.content?.map(value),
  forkedAtEntryId: o.forkedAtEntryId && bytes(o.forkedAtEntryId), startedByEntryId: o.startedByEntryId && bytes(o.startedByEntryId),
});
const time = (t) => (t ? { seconds: Date.parse(t) / 1000 } : undefined);
const listIn = (o) => some({
  page: page(o), query: o.query, mode: ENUM.mode[o.mode], ancestry: o.ancestry && ENUM.ancestry(o.ancestry),
  archived: o.archived && ENUM.archived(o.archived),
});
const entriesIn = (id, o) => some({
  conversationId: id, channel: o.channel?.toUpperCase(), epochFilter: o.epoch === undefined ? undefined : String(o.epoch),
  page: page(o), forks: o.forks, upToEntryId: o.upToEntryId && bytes(o.upToEntryId), fromSeq: o.fromSeq,
  beforePageToken: o.beforeCursor, tail: o.tail,
});

/** What a message says, in the words of REST. */
function said(v, key = '') {
  if (Buffer.isBuffer(v)) return uuid(v);
  if (Array.isArray(v)) return key === 'content' ? v.map(plain) : v.map((x) => said(x));
  if (v && typeof v === 'object') {
    if (v.fields) return plainStruct(v);
    return Object.fromEntries(Object.entries(v).filter(([k]) => !k.startsWith('_')).map(([k, x]) => [k, said(x, k)]));
  }
  return key === 'accessLevel' || key === 'channel' ? v?.toLowerCase() : v;
}

function overGrpc(c) {
  const ask = async (Service, method, message, w) => {
    const r = await c.call(Service, method, message, w);
    return r.code === 'OK' ? { code: 'OK', value: said(r.value) } : { code: r.code, text: r.message };
  };
  const list = async (answer) => {
    const r = await answer;
    if (r.code !== 'OK') return r;
    const { pageInfo, ...rest } = r.value;
    return { code: 'OK', value: { ...rest, next: pageInfo.nextPageToken, previous: pageInfo.previousPageToken } };
  };
  const t = (id) => ({ transferId: bytes(id) });
  return {
    health: (w) => ask(SystemService, 'getHealth', {}, w),
    capabilities: async (w) => {
      const r = await ask(SystemService, 'getCapabilities', {}, w);
      const snake = (o) => Object.fromEntries(Object.entries(o).map(([k, v]) =>
        [k.replace(/[A-Z]/g, (x) => `_${x.toLowerCase()}`), v && typeof v === 'object' ? snake(v) : v]));
      return r.code === 'OK' ? { code: 'OK', value: snake(r.value) } : r;
    },
    create: (o, w) => ask(ConversationsService, 'createConversation', some({ ...o, metadata: o.metadata && struct(o.metadata),
      forkedAtEntryId: o.forkedAtEntryId && bytes(o.forkedAtEntryId) }), w),
    get: (id, w) => ask(ConversationsService, 'getConversation', { conversationId: id }, w),
    update: (id, o, w) => ask(ConversationsService, 'updateConversation',
      some({ conversationId: id, ...o, metadata: o.metadata && struct(o.metadata) }), w),
    list: (o, w) => list(ask(ConversationsService, 'listConversations', listIn(o), w)),
    forks: (id, w) => ask(ConversationsService, 'listForks', { conversationId: id }, w),
    children: (id, o, w) => list(ask(ConversationsService, 'listChildConversations', { conversationId: id, page: page(o) }, w)),
    append: (id, o, w) => ask(EntriesService, 'appendEntry', some({ conversationId: id, entry: entryIn(o), epoch: o.epoch }), w),
    appendMany: (id, entries, w) => ask(EntriesService, 'appendEntries', { conversationId: id, entries: entries.map(entryIn) }, w),
    sync: (id, content, w) => ask(EntriesService, 'syncEntries',
      { conversationId: id, entry: { channel: 'CONTEXT', contentType: 'ctx', content: content.map(value) } }, w),
    entries: (id, o, w) => list(ask(EntriesService, 'listEntries', entriesIn(id, o), w)),
    members: (id, o, w) => list(ask(Members, 'listMemberships', { conversationId: id, page: page(o) }, w)),
    share: (id, userId, l, w) => ask(Members, 'shareConversation', { conversationId: id, userId, accessLevel: l.toUpperCase() }, w),
    level: (id, u, l, w) => ask(Members, 'updateMembership', { conversationId: id, memberUserId: u, accessLevel: l.toUpperCase() }, w),
    unshare: (id, u, w) => ask(Members, 'deleteMembership', { conversationId: id, memberUserId: u }, w),
    transfers: (o, w) => list(ask(Transfers, 'listOwnershipTransfers', { role: o.role?.toUpperCase(), page: page(o) }, w)),
    transfer: (conversationId, newOwnerUserId, w) => ask(Transfers, 'createOwnershipTransfer', { conversationId, newOwnerUserId }, w),
    transferGet: (id, w) => ask(Transfers, 'getOwnershipTransfer', t(id), w),
    accept: (id, w) => ask(Transfers, 'acceptOwnershipTransfer', t(id), w),
    decline: (id, w) => ask(Transfers, 'deleteOwnershipTransfer', t(id), w),
    search: async (o, w) => {
      const r = await ask(SearchService, 'searchConversations',
        { ...some({ query: o.query, limit: o.limit, includeEntry: o.includeEntry, groupByConversation: o.groupByConversation }),
          searchType: [o.searchType ?? []].flat() }, w);
      return r.code === 'OK' ? { code: 'OK', value: { results: r.value.results, next: r.value.nextCursor } } : r;
    },
    index: (entries, w) => ask(SearchService, 'indexConversations',
      { entries: entries.map((e) => ({ ...e, entryId: bytes(e.entryId) })) }, w),
    unindexed: async (o, w) => {
      const r = await ask(SearchService, 'listUnindexedEntries', some({ limit: o.limit, cursor: o.afterCursor }), w);
      return r.code === 'OK' ? { code: 'OK', value: { entries: r.value.entries, next: r.value.cursor } } : r;
    },
    upload: async (data, filename, contentType, w) => {
      const r = await upload(c, data, { filename, contentType }, w);
      return r.code === 'OK' ? { code: 'OK', value: said(r.value) } : { code: r.code, text: r.message };
    },
    fileDelete: (id, w) => ask(Files, 'deleteAttachment', { id }, w),
    fileUrl: async (id, w) => {
      const r = await ask(Files, 'getAttachmentDownloadUrl', { id }, w);
      if (r.value) r.value.url = r.value.url.replace(/download\/.*\//, 'download/T/');
      return r;
    },
    adminGet: (id, w) => ask(AdminConversationsService, 'getConversation', { conversationId: id }, w),
    adminList: (o, w) => list(ask(AdminConversationsService, 'listConversations', some({ ...listIn(o), ownerUserId: o.ownerUserId,
      archivedAfter: time(o.archivedAfter), archivedBefore: time(o.archivedBefore) }), w)),
    adminUpdate: (id, archived, w) => ask(AdminConversationsService, 'updateConversation', { conversationId: id, archived }, w),
    adminForks: (id, w) => ask(AdminConversationsService, 'listForks', { conversationId: id }, w),
    adminMembers: (id, w) => list(ask(AdminConversationsService, 'listMemberships', { conversationId: id }, w)),
    adminChildren: async (id, w) => {
      const r = await list(ask(AdminConversationsService, 'listChildConversations', { conversationId: id }, w));
      if (r.value) { r.value.conversations = r.value.children; delete r.value.children; }
      return r;
    },
    adminEntries: (id, o, w) => list(ask(AdminEntriesService, 'listEntries', entriesIn(id, o), w)),
    adminEntry: (id, w) => ask(AdminEntriesService, 'getEntry', { entryId: bytes(id) }, w),
  };
}

/** Every operation and every kind of refusal, by whichever way. */
async function story(d) {
  const h = (text, more = {}) => ({ channel: 'history', contentType: 'history', content: [{ role: 'USER', text }], ...more });
  await d.health({});
  await d.capabilities(agent());
  await d.capabilities(bob);
  await d.list({}, {});
  await d.create({ title: 'A trip', id: 'trip', metadata: { a: 1.5, b: [1, 'x', null, true] }, agentId: 'planner' }, alice);
  await d.create({ id: 'trip' }, alice);
  await d.create({ id: '  ' }, alice);
  await d.create({ title: 'x'.repeat(501) }, alice);
  await d.get('trip', alice);
  await d.get('none', alice);
  await d.get('trip', bob);
  await d.update('trip', { title: 'Lisbon' }, alice);
  await d.update('trip', { metadata: { c: {} } }, alice);
  await d.update('none', { title: 'x' }, alice);
  const odd = 'a/b %2F ü';
  await d.append(odd, h('odd one'), alice);
  await d.get(odd, alice);
  // entries
  const one = await d.append('trip', h('one', { seq: 1 }), alice);
  const two = await d.append('trip', h('two', { seq: 2, indexedContent: 'zwei' }), agent());
  const three = await d.append('trip', h('three'), alice);
  await d.append('trip', h('again', { seq: 2 }), alice);
  await d.append('trip', { channel: 'context', contentType: 'x', content: [1] }, alice);
  await d.append('trip', { channel: 'journal', contentType: 'step', content: [{ n: 1 }] }, agent());
  await d.append('trip', { channel: 'context', contentType: 'ctx', content: [{ k: 'v' }], epoch: 3 }, agent());
  await d.append('trip', h('x', { userId: 'bob' }), alice);
  await d.append('trip', h('x', { agentId: 'a' }), alice);
  await d.append('trip', { channel: 'history', contentType: 'other', content: [{ role: 'USER', text: 'x' }] }, alice);
  await d.append('trip', { channel: 'history', contentType: 'history', content: [] }, alice);
  await d.append('trip', { channel: 'history', contentType: 'history', content: [{ role: 'NOBODY', text: 'x' }] }, alice);
  await d.append('trip', { contentType: '', content: [1] }, alice);
  await d.append('trip', { contentType: 'any', content: [1, 'two', null, [true], { deep: { er: -0.5 } }] }, alice);
  await d.append('trip', h('x'), bob);
  await d.appendMany('trip', [h('m1'), h('m2', { seq: 9 })], alice);
  await d.appendMany('trip', [], alice);
  await d.entries('trip', {}, alice);
  await d.entries('trip', {}, agent());
  await d.entries('trip', { limit: 2 }, alice);
  await d.entries('trip', { limit: 2, afterCursor: one.id }, alice);
  await d.entries('trip', { limit: 2, beforeCursor: three.id }, alice);
  await d.entries('trip', { limit: 2, tail: true }, alice);
  await d.entries('trip', { upToEntryId: two.id }, alice);
  await d.entries('trip', { fromSeq: 2 }, alice);
  await d.entries('trip', { channel: 'context', epoch: 'all' }, agent());
  await d.entries('trip', { channel: 'journal' }, alice);
  await d.entries('trip', { limit: 1001 }, alice);
  await d.entries('trip', { limit: -1 }, alice);
  await d.entries('trip', { afterCursor: 'x' }, alice);
  await d.entries('trip', { afterCursor: '00000000-0000-7000-8000-000000000000' }, alice);
  await d.entries('trip', { upToEntryId: '00000000-0000-7000-8000-000000000000' }, alice);
  await d.entries('trip', {}, bob);
  await d.entries('none', {}, alice);
  // forks, made by their first entry
  const at = { forkedAtConversationId: 'trip', forkedAtEntryId: two.id };
  await d.append('fork', h('instead', at), alice);
  await d.get('fork', alice);
  await d.entries('fork', {}, alice);
  await d.entries('trip', { forks: 'all' }, alice);
  await d.append('f2', h('x', { forkedAtConversationId: 'none' }), alice);
  await d.append('f2', h('x', { forkedAtConversationId: 'trip', forkedAtEntryId: '00000000-0000-7000-8000-000000000000' }), alice);
  await d.append('f2', h('x', at), bob);
  await d.append('f2', h('x', { ...at, startedByConversationId: 'trip' }), alice);
  await d.get('f2', alice);
  await d.append('blank', h('new', { forkedAtConversationId: 'trip' }), alice);
  await d.create({ id: 'made', ...at }, alice);
  await d.forks('trip', alice);
  await d.forks('fork', alice);
  await d.forks('trip', bob);
  await d.append('child', h('sub', { startedByConversationId: 'trip', startedByEntryId: one.id }), alice);
  await d.append('child2', h('sub', { startedByConversationId: 'trip' }), alice);
  await d.children('trip', {}, alice);
  await d.children('trip', { limit: 1 }, alice);
  await d.children('trip', { afterCursor: 'child' }, alice);
  for (const mode of ['all', 'roots', 'latest-fork', undefined])
    for (const ancestry of ['all', 'roots', 'children']) await d.list({ mode, ancestry }, alice);
  await d.list({ query: 'LISB', mode: 'all' }, alice);
  await d.list({ limit: 2, mode: 'all' }, alice);
  await d.list({ limit: 2, mode: 'all', afterCursor: 'fork' }, alice);
  // the context of a client
  await d.sync('ctx', [], agent());
  await d.sync('ctx', [{ a: 1 }, 'b'], agent());
  await d.sync('ctx', [{ a: 1 }, 'b'], agent());
  await d.sync('ctx', [{ a: 1 }, 'b', 0.25], agent());
  await d.sync('ctx', ['other'], agent());
  await d.sync('ctx', [], agent());
  await d.sync('ctx', ['x'], alice);
  await d.sync('ctx', ['x'], agent('alice', 'agent-2'));
  await d.entries('ctx', { channel: 'context' }, agent());
  // members and transfers
  await d.share('trip', 'bob', 'writer', alice);
  await d.share('trip', 'bob', 'reader', alice);
  await d.share('trip', '', 'reader', alice);
  await d.share('trip', 'eve', 'owner', alice);
  await d.share('trip', 'eve', 'reader', bob);
  await d.append('fork', h('by bob'), bob);
  await d.level('fork', 'bob', 'manager', alice);
  await d.level('trip', 'eve', 'reader', alice);
  await d.level('trip', 'alice', 'reader', bob);
  await d.members('fork', {}, bob);
  await d.members('trip', { limit: 1 }, bob);
  await d.members('trip', { afterCursor: 'alice' }, bob);
  await d.transfer('trip', 'eve', alice);
  await d.transfer('trip', '', alice);
  await d.transfer('trip', 'bob', bob);
  const hand = await d.transfer('trip', 'bob', alice);
  await d.transfer('trip', 'bob', alice);
  await d.transfers({}, bob);
  await d.transfers({ role: 'sender' }, bob);
  await d.transfers({ role: 'recipient' }, bob);
  await d.transferGet(hand.id, alice);
  await d.transferGet(hand.id, agent('eve'));
  await d.decline(hand.id, agent('eve'));
  await d.accept(hand.id, alice);
  await d.accept(hand.id, bob);
  await d.accept(hand.id, bob);
  await d.get('fork', alice);
  const back = await d.transfer('fork', 'alice', bob);
  await d.decline(back.id, alice);
  await d.decline(back.id, alice);
  await d.unshare('trip', 'eve', bob);
  await d.unshare('trip', 'bob', bob);
  // files
  const file = await d.upload(Buffer.from('a map'), 'map.txt', 'text/plain', alice);
  await d.fileUrl(file.id, alice);
  await d.fileUrl(file.id, agent('eve'));
  const withFile = (id) => ({ contentType: 'history', channel: 'history', content: [{ role: 'USER', text: 'see', attachments: [{ attachmentId: id }] }] });
  await d.append('filed', withFile(file.id), alice);
  await d.append('filed-fork', { ...withFile(file.id), forkedAtConversationId: 'filed' }, alice);
  await d.append('elsewhere', withFile(file.id), alice);
  await d.get('elsewhere', alice);
  await d.append('filed', withFile('00000000-0000-7000-8000-000000000000'), alice);
  await d.fileDelete(file.id, alice);
  const loose = await d.upload(Buffer.alloc(100000, 'y'), 'y.bin', 'application/x-y', alice);
  await d.fileDelete(loose.id, bob);
  await d.fileDelete(loose.id, alice);
  await d.fileDelete(loose.id, alice);
  await d.fileDelete('no-uuid', alice);
  // search
  await d.index([{ conversationId: 'trip', entryId: one.id, indexedContent: 'einerlei' }], alice);
  await d.index([{ conversationId: 'trip', entryId: one.id, indexedContent: 'einerlei' }], bob);
  await d.index([{ conversationId: 'trip', entryId: '00000000-0000-7000-8000-000000000000', indexedContent: 'x' }], agent('dave'));
  await d.unindexed({ limit: 2 }, agent('dave'));
  await d.unindexed({}, bob);
  await d.search({ query: 'instead' }, alice);
  await d.search({ query: 'instead', includeEntry: false, groupByConversation: false, searchType: ['fulltext'] }, alice);
  await d.search({ query: '' }, alice);
  await d.search({ query: 'x', searchType: 'wrong' }, alice);
  await d.search({ query: 'x', searchType: ['semantic'] }, alice);
  // administrators
  await d.adminGet('ctx', agent('charlie'));
  await d.adminGet('ctx', bob);
  await d.adminGet('none', alice);
  await d.adminList({ mode: 'all', ownerUserId: 'alice', ancestry: 'all' }, agent('charlie'));
  await d.adminList({}, bob);
  await d.adminForks('trip', agent('charlie'));
  await d.adminMembers('trip', agent('charlie'));
  await d.adminChildren('trip', agent('charlie'));
  await d.adminEntries('trip', {}, agent('charlie', 'agent-9'));
  await d.adminEntries('ctx', { channel: 'context' }, agent('charlie', 'agent-9'));
  await d.adminEntries('trip', {}, bob);
  await d.adminEntry(one.id, agent('charlie'));
  await d.adminEntry('00000000-0000-7000-8000-000000000000', alice);
  await d.adminUpdate('trip', true, agent('charlie'));
  await d.adminUpdate('trip', true, alice);
  const whole = { mode: 'all', ancestry: 'all' }, early = '2021-01-01T00:00:00Z', late = '2080-01-01T00:00:00Z';
  for (const times of [{ archivedAfter: early }, { archivedBefore: early }, { archivedBefore: late }, { archivedAfter: late },
                       { archivedAfter: early, archivedBefore: late, archived: 'include' }, { archivedAfter: early, archived: 'exclude' }])
    await d.adminList({ ...whole, ...times }, alice);
  // an archived tree
  await d.get('fork', alice);
  await d.entries('fork', {}, alice);
  await d.append('fork', h('late'), alice);
  await d.append('late', h('late', at), alice);
  await d.update('fork', { title: 'x' }, alice);
  await d.members('fork', {}, alice);
  await d.transfer('fork', 'bob', bob);
  await d.list({ archived: 'only', mode: 'all', ancestry: 'all' }, alice);
  await d.update('fork', { archived: false }, bob);
  await d.update('fork', { archived: false }, bob);
  await d.list({ archived: 'include', mode: 'all' }, alice);
}

/** Names for ids, no times, nothing that is empty: what both ways must say alike. */
function shown(lines) {
  const ids = new Map();
  const name = (t) => t.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, (id) => {
    if (!ids.has(id)) ids.set(id, `#${ids.size}`);
    return ids.get(id);
  });
  const tidy = (v, key) => {
    if (typeof v === 'string') return name(v);
    if (Array.isArray(v)) return key === 'content' ? JSON.parse(name(JSON.stringify(v))) : v.map((x) => tidy(x));
    if (v && typeof v === 'object')
      return Object.fromEntries(Object.entries(v).filter(([k, x]) => !/At$|^(score|kind)$/.test(k) && x !== '' && x !== null && x !== undefined &&
        x !== false && x !== 0 && !(Array.isArray(x) && !x.length)).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, x]) => [k, tidy(x, k)]));
    return v;
  };
  return lines.map(({ what, code, value: v, text }) => ({ what, code, ...(code === 'OK' ? { value: tidy(v) } : { text: name(text ?? '') }) }));
}

async function told(driver) {
  const lines = [];
  const d = new Proxy(driver, {
    get: (t, op) => async (...args) => {
      const r = await t[op](...args);
      lines.push({ what: `${op} ${JSON.stringify(args.slice(0, -1)).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '#')}`.slice(0, 200), ...r });
      return r.value ?? {};
    },
  });
  await story(d);
  return shown(lines);
}

/** Where the two say another text, or shape, of the same. */
const SAID_ELSEWHERE = [/must not be blank|entry not found|must be a UUID|"entries" must|entries must|must be an array|exactly 1|role/];

test('the same story through REST and through gRPC', async () => {
  const [s1, s2] = [await start({ args: admins }), await start({ args: admins })];
  const c = client(s2.port);
  const [rest, rpc] = [await told(overRest(s1)), await told(overGrpc(c))];
  assert.equal(rest.length, rpc.length);
  for (const [i, a] of rest.entries()) {
    const b = rpc[i];
    const where = `${i}: ${a.what}`;
    assert.equal(b.code, a.code, `${where}: REST ${JSON.stringify(a)}\ngRPC ${JSON.stringify(b)}`);
    if (a.code === 'OK') assert.deepEqual(b.value, a.value, where);
    else if (!SAID_ELSEWHERE.some((x) => x.test(a.text) || x.test(b.text))) assert.equal(b.text, a.text, where);
  }
  assert.ok(rest.length > 150);
});

// ------------------------------------------------------------------ what gRPC has of its own

test('a page of entries ends early by its size, from either end', async () => {
  const { c } = await begin();
  const n = 12, all = Array.from({ length: n }, (_, i) => i);
  for (const i of all) await ok(append(c, 'long', say(`${i} ${'x'.repeat(400000)}`)));
  const page = (o) => ok(c.call(EntriesService, 'listEntries', { conversationId: 'long', ...o }, alice));
  const numbers = (p) => texts(p.entries).map((t) => parseInt(t));
  const forward = [];
  for (let pageToken; ; ) {
    const p = await page({ page: { pageSize: 1000, ...(pageToken ? { pageToken } : {}) } });
    assert.ok(p.entries.length > 0 && p.entries.length < n);
    forward.push(...numbers(p));
    if (!(pageToken = p.pageInfo.nextPageToken)) break;
  }
  assert.deepEqual(forward, all);
  const tail = await page({ tail: true, page: { pageSize: 1000 } });
  assert.ok(tail.entries.length > 0 && tail.entries.length < n);
  assert.deepEqual(numbers(tail), all.slice(-tail.entries.length), 'the newest are there');
  assert.notEqual(tail.pageInfo.previousPageToken, '');
});

test('one port tells gRPC and HTTP apart; a second one is for gRPC alone', async () => {
  const { s, c } = await begin(['--grpc', '127.0.0.1:0']);
  const own = Number(/gRPC: 127\.0\.0\.1:(\d+)/.exec(await eventually(() => { assert.match(s.out, /gRPC: /); return s.out; }))[1]);
  const d = client(own);
  await ok(append(d, 'a', say('by its own port')));
  assert.deepEqual(texts((await ok(c.call(EntriesService, 'listEntries', { conversationId: 'a' }, alice))).entries), ['by its own port']);
  assert.equal((await http(s, 'GET', '/v1/conversations/a', { headers: alice })).status, 200);
  const open = async () => Number(/^ramet_http_connections (\d+)/m.exec((await http(s, 'GET', '/metrics', { user: 'alice' })).text)?.[1]);
  const before = await open();
  // HTTP/1.1 is not heard there, and a client that sends nothing harms nobody.
  assert.equal(await raw(own, 'GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n'), '');
  const [silent, slowly] = [net.connect(s.port, '127.0.0.1'), net.connect(s.port, '127.0.0.1')];
  slowly.write('P');
  assert.equal((await http(s, 'GET', '/healthz')).status, 200);
  const got = new Promise((done) => slowly.once('data', (b) => done(String(b))));
  await sleep(30);
  slowly.write('OST /v1/conversations HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n');
  assert.match(await got, /^HTTP\/1.1 401/);
  silent.destroy();
  slowly.destroy();
  // What begins like HTTP/2 and is not ends by itself.
  assert.doesNotMatch(await raw(s.port, 'PRI * HTTP/9.9\r\n\r\nnonsense that goes on and on\r\n\r\n'), /HTTP\/1/);
  // Connections are counted, and forgotten when they end.
  await eventually(async () => assert.equal(await open(), before));
  const more = client(s.port, { 'grpc.use_local_subchannel_pool': 1 });
  await ok(more.call(SystemService, 'getHealth', {}));
  await eventually(async () => assert.equal(await open(), before + 1));
  more.close();
  await eventually(async () => assert.equal(await open(), before));
});

test('auth local: a second address must be loopback, too; and addresses are checked', async () => {
  for (const [address, text] of [['0.0.0.0:0', /loopback/], ['nonsense', /grpc is 'nonsense'/], ['127.0.0.1:x', /grpc is/]]) {
    const r = await ramet(['serve', '--listen', '127.0.0.1:0', '--grpc', address, '--db', scratch('x')]);
    assert.notEqual(r.code, 0);
    assert.match(r.err, text);
  }
});

test('who asks: metadata, request ids, credentials', async () => {
  const { c } = await begin(['--trusted-clients', 'app-*']);
  const list = (who) => c.call(ConversationsService, 'listConversations', {}, who);
  await refused(list({}), 'UNAUTHENTICATED', 'missing credentials');
  await refused(list({ 'x-client-id': 'agent' }), 'UNAUTHENTICATED');
  await refused(list({ authorization: 'Basic YTpi' }), 'UNAUTHENTICATED');
  await refused(list({ 'x-api-key': 'key' }), 'UNAUTHENTICATED', 'user authentication required');
  await ok(append(c, 'a', say('for carol'), { 'x-api-key': 'app-1', 'x-user-id': 'carol' }));
  assert.equal((await ok(c.call(ConversationsService, 'getConversation', { conversationId: 'a' }, { authorization: 'Bearer carol' }))).ownerUserId, 'carol');
  await refused(c.call(ConversationsService, 'getConversation', { conversationId: 'a' }, { ...alice, 'x-user-id': 'carol' }), 'PERMISSION_DENIED');
  await refused(list({ 'x-api-key': 'app-1', 'x-user-id': ['carol', 'dave'] }), 'INVALID_ARGUMENT');
  await ok(list({ ...alice, 'x-user-id': ['carol', 'dave'] })); // not trusted: not looked at
  const named = await c.call(ConversationsService, 'getConversation', { conversationId: 'none' }, { ...alice, 'x-request-id': 'my.id-1_' });
  assert.deepEqual([named.code, named.headers.get('x-request-id'), named.trailers.get('x-request-id')], ['NOT_FOUND', ['my.id-1_'], ['my.id-1_']]);
  const made = await c.call(SystemService, 'getHealth', {}, { 'x-request-id': 'not fine' });
  assert.match(made.headers.get('x-request-id')[0], /^[0-9a-f-]{36}$/);
  assert.deepEqual(made.headers.get('x-request-id'), made.trailers.get('x-request-id'));
});

test('tokens: the same identities as by REST', async () => {
  const { s, c } = await begin(['--auth', 'tokens']);
  const token = JSON.parse((await ramet(['token', 'create', '--user', 'alice', '--db', s.db, '--json'])).out).secret;
  await refused(c.call(ConversationsService, 'listConversations', {}, alice), 'UNAUTHENTICATED');
  await ok(append(c, 'a', say('x'), { authorization: `Bearer ${token}` }));
  assert.equal((await ok(c.call(ConversationsService, 'getConversation', { conversationId: 'a' }, { 'x-api-key': token }))).ownerUserId, 'alice');
});

test('what differs from REST: rules of HISTORY, sync, pages, blank ids, malformed bytes', async () => {
  const { c } = await begin();
  const no = (entry, text, who) => refused(append(c, 'a', entry, who), 'INVALID_ARGUMENT', text);
  await no(say('x', { contentType: 'History' }), "History channel entries must use 'history' or 'history/<subtype>' as the contentType");
  await no(say('x', { content: [value(1), value(2)] }), 'History channel entries must contain exactly 1 content object');
  for (const role of [undefined, 'user', 'SYSTEM', 1])
    await no(say('x', { content: [value(role === undefined ? { text: 'x' } : { role, text: 'x' })] }),
      "History channel content must have a 'role' field with value 'USER' or 'AI'");
  await ok(append(c, 'a', say('', { contentType: 'history/x', content: [value({ role: 'AI' })] }))); // no text needed here
  await ok(append(c, 'a', { contentType: 'ANY', content: [value('x'), value(1)] }));
  await no({ contentType: 'any', content: [] });
  await refused(c.call(EntriesService, 'appendEntry', { conversationId: 'a' }, alice), 'INVALID_ARGUMENT', 'entry is required');
  const sync = (entry, who = agent()) => c.call(EntriesService, 'syncEntries', { conversationId: 'ctx', entry }, who);
  await refused(sync({ channel: 'HISTORY', contentType: 'x', content: [] }), 'INVALID_ARGUMENT', 'CONTEXT');
  await refused(sync({ contentType: 'x', content: [] }), 'INVALID_ARGUMENT', 'CONTEXT');
  await refused(sync({ channel: 'CONTEXT', contentType: 'x', content: [] }, alice), 'INVALID_ARGUMENT', 'client id');
  const none = await ok(sync({ channel: 'CONTEXT', contentType: 'x' }));
  assert.deepEqual([none._epoch, none.noOp, none.epochIncremented, none._entry], [undefined, true, false, undefined]);
  const first = await ok(sync({ channel: 'CONTEXT', contentType: 'x', content: [value(1)] }));
  assert.deepEqual([first.epoch, first.noOp, first.epochIncremented, plain(first.entry.content[0])], [1, false, true, 1]);
  const entries = (o, who = alice) => c.call(EntriesService, 'listEntries', { conversationId: 'a', ...o }, who);
  await refused(entries({ channel: 'CONTEXT' }), 'PERMISSION_DENIED');
  await refused(entries({ agentId: 'x' }), 'INVALID_ARGUMENT', 'client id');
  await ok(entries({ agentId: 'x' }, agent()));
  await refused(entries({ page: { pageToken: 'x' } }), 'INVALID_ARGUMENT');
  await refused(entries({ page: { pageSize: -1 } }), 'INVALID_ARGUMENT', 'limit must be between 1 and 1000');
  await refused(entries({ page: { pageSize: 1001 } }), 'INVALID_ARGUMENT');
  await refused(entries({ upToEntryId: Buffer.from('short') }), 'INVALID_ARGUMENT', 'up_to_entry_id must be a UUID of 16 bytes');
  await refused(entries({ conversationId: ' ' }), 'INVALID_ARGUMENT', 'conversationId');
  await refused(entries({ conversationId: '' }), 'INVALID_ARGUMENT', 'conversationId');
  await refused(entries({ channel: 77 }), 'INVALID_ARGUMENT', 'channel');
  assert.equal((await ok(entries({ forks: 'ALL' }))).entries.length, 2);
  const info = (await ok(entries({ page: { pageSize: 1 } }))).pageInfo;
  assert.equal(info.previousPageToken, '');
  assert.match(info.nextPageToken, /^[0-9a-f-]{36}$/);
  await refused(c.call(Transfers, 'getOwnershipTransfer', { transferId: Buffer.alloc(3) }, alice), 'INVALID_ARGUMENT', 'transfer_id');
  await refused(c.call(Transfers, 'getOwnershipTransfer', {}, alice), 'INVALID_ARGUMENT');
  await refused(c.call(Transfers, 'getOwnershipTransfer', { transferId: bytes(randomUUID()) }, alice), 'NOT_FOUND');
  const shared = await ok(c.call(Members, 'shareConversation', { conversationId: 'a', userId: 'bob' }, alice));
  assert.equal(shared.accessLevel, 'READER'); // UNSPECIFIED is reader
  await ok(c.call(ConversationsService, 'updateConversation', { conversationId: 'a', archived: true, title: 'not this' }, alice));
  const got = await ok(c.call(ConversationsService, 'getConversation', { conversationId: 'a' }, alice));
  assert.deepEqual([got.archived, got.title], [true, '']);
  await refused(c.call(AdminConversationsService, 'listConversations', { archivedAfter: { nanos: -1 } }, alice), 'INVALID_ARGUMENT', 'archived_after');
});

test('the channel context is the context view, by gRPC as by REST', async () => {
  const { s, c } = await begin();
  const d = overGrpc(c), w = agent();
  const contents = async (o) => (await d.entries('x', { channel: 'context', ...o }, w)).value.entries.map((e) => e.content);
  for (const content of [['a'], ['pin 1234'], ['long']])
    assert.equal((await d.append('x', { channel: 'context', contentType: 'ctx', content }, w)).code, 'OK');
  assert.deepEqual(await contents({}), [['a'], ['pin 1234'], ['long']]);
  const { entries } = (await http(s, 'GET', '/ramet/v1/sessions/x/entries', { headers: alice })).body;
  for (const json of [{ entry_id: entries[1].id, action: 'hide' }, { entry_id: entries[2].id, action: 'replace', text: 'short' }]) {
    const r = await http(s, 'POST', '/ramet/v1/sessions/x/overlays', { headers: { ...alice, 'Content-Type': 'application/json' }, body: JSON.stringify(json) });
    assert.equal(r.status, 201, r.text);
  }
  const rest = (await overRest(s).entries('x', { channel: 'context' }, w)).value.entries.map((e) => e.content);
  for (const o of [{}, { tail: true }, { epoch: 'all' }, { forks: 'all' }]) {
    const got = await contents(o);
    assert.deepEqual(got, rest, JSON.stringify(o));
    assert.deepEqual([got.length, got[0], got[1][0].text], [2, ['a'], 'short'], JSON.stringify(o));
  }
  const same = await d.sync('x', rest.flat(), w);
  assert.deepEqual([same.code, same.value.noOp], ['OK', true], JSON.stringify(same));
});

test('numbers, texts and depth in content are as they were', async () => {
  const { s, c } = await begin();
  const odd = { whole: 1, large: 9007199254740991, small: -5e-324, third: 1 / 3, tenth: 0.1, big: 1e300, minus: -0, nul: 'a\0b', uni: 'ü€😀',
                'key\0 "q"': [], empty: {}, none: null, yes: true, no: false };
  await ok(append(c, 'a', { contentType: 'x', content: [value(odd)] }));
  assert.deepEqual(plain((await ok(c.call(EntriesService, 'listEntries', { conversationId: 'a' }, alice))).entries[0].content[0]), odd);
  const rest = (await http(s, 'GET', '/v1/conversations/a/entries', { headers: alice })).body.data[0];
  assert.deepEqual(rest.content, [odd]);
  assert.match((await http(s, 'GET', '/v1/conversations/a/entries', { headers: alice })).text, /"tenth":0\.1,.*"whole":1|"whole":1,.*"tenth":0\.1,/);
  await refused(append(c, 'a', { contentType: 'x', content: [value(NaN)] }), 'INVALID_ARGUMENT', 'finite');
  let deep = 1;
  for (let i = 0; i < 24; i++) deep = i % 2 ? [deep] : { d: deep }; // the client takes no more
  await ok(append(c, 'deep', { contentType: 'x', content: [value(deep)] }));
  assert.deepEqual(plain((await ok(c.call(EntriesService, 'listEntries', { conversationId: 'deep' }, alice))).entries[0].content[0]), deep);
  // Deeper than that by REST; what this client does not take, it says itself.
  const far = JSON.parse(`${'['.repeat(100)}1${']'.repeat(100)}`);
  assert.equal((await http(s, 'POST', '/v1/conversations/far/entries', { headers: alice, json: { contentType: 'x', content: [far] } })).status, 201);
  assert.equal((await bare(c, '/memory.v1.EntriesService/ListEntries', Buffer.from([10, 3, 102, 97, 114]))).code, 'OK');
});

/** Bytes that no generated client sends. */
const bare = (c, path, message, who = alice) => new Promise((done) => {
  c.of(SystemService).makeUnaryRequest(path, (x) => x, (x) => x, message, (() => {
    const m = new grpc.Metadata();
    for (const [k, v] of Object.entries(who)) m.add(k.toLowerCase(), v);
    return m;
  })(), (e, v) => done(e ? { code: Object.keys(grpc.status).find((k) => grpc.status[k] === e.code), message: e.details } : { code: 'OK', value: v }));
});

test('malformed messages are refused; what is not there is UNIMPLEMENTED', async () => {
  const { c } = await begin();
  const get = '/memory.v1.ConversationsService/GetConversation';
  for (const [bytes_, text] of [[[0x0a, 5, 65], 'cut off'], [[0x0a], 'cut off'], [[0x0b, 0x0c], 'no field'], [[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 'cut off'],
                                [[0x0a, 2, 0xff, 0xfe], 'UTF-8'], [[0x0a, 3, 65, 0, 65], 'UTF-8']])
    await refused(bare(c, get, Buffer.from(bytes_)), 'INVALID_ARGUMENT', text);
  await refused(bare(c, get, Buffer.from([0x9a, 6, 1, 65, 0x0a, 1, 65])), 'NOT_FOUND'); // an unknown field is passed over
  // Values in values without end, and very many of them: neither takes the server down.
  let nest = Buffer.alloc(0);
  const varint = (n) => { const out = []; for (; n > 127; n = Math.floor(n / 128)) out.push((n % 128) | 128); out.push(n); return Buffer.from(out); };
  const field = (tag, b) => Buffer.concat([Buffer.from([tag]), varint(b.length), b]);
  for (let i = 0; i < 20000; i++) nest = i < 600 ? field(0x32, field(0x0a, nest)) : Buffer.concat([nest]);
  const entry = (content) => field(0x12, Buffer.concat([field(0x22, Buffer.from('x')), content]));
  const path = '/memory.v1.EntriesService/AppendEntry';
  await refused(bare(c, path, Buffer.concat([field(0x0a, Buffer.from('a')), entry(field(0x2a, nest))])), 'INVALID_ARGUMENT', 'deep');
  await refused(bare(c, path, Buffer.concat([field(0x0a, Buffer.from('a')), entry(Buffer.alloc(2 << 20, Buffer.from([0x2a, 0])))])), 'INVALID_ARGUMENT', 'too many');
  for (const p of ['/memory.v1.MemoriesService/PutMemory', '/memory.v1.ResponseRecorderService/IsEnabled', '/memory.v1.AdminCheckpointService/GetCheckpoint',
                   '/memory.v1.EntriesService/Nothing', '/nothing', '/memory.v1.EntriesService'])
    await refused(bare(c, p, Buffer.alloc(0)), 'UNIMPLEMENTED');
});

test('limits: the size of a message, of metadata, packed messages', async () => {
  const { s, c } = await begin(['--body-max', '100000', '--header-max', '8192']);
  await ok(append(c, 'a', say('x'.repeat(90000))));
  await refused(append(c, 'a', say('x'.repeat(200000))), 'RESOURCE_EXHAUSTED');
  await refused(c.call(SystemService, 'getHealth', {}, { 'x-large': 'y'.repeat(20000) }), 'RESOURCE_EXHAUSTED');
  const packed = client(s.port, { 'grpc.default_compression_algorithm': 2, 'grpc.use_local_subchannel_pool': 1 });
  await refused(append(packed, 'a', say('x'.repeat(5000))), 'UNIMPLEMENTED');
  await ok(append(c, 'a', say('still there')));
});

test('deadlines and cancelling', async () => {
  const { s, c } = await begin();
  const started = Date.now();
  const r = await c.all(EventStreamService, 'subscribeEvents', {}, alice, { deadline: Date.now() + 300 });
  assert.equal(r.code, 'DEADLINE_EXCEEDED');
  assert.ok(Date.now() - started < 3000 * slow);
  await refused(c.call(EntriesService, 'appendEntry', { conversationId: 'late', entry: say('x') }, alice, { deadline: Date.now() - 1000 }), 'DEADLINE_EXCEEDED');
  await refused(c.call(ConversationsService, 'getConversation', { conversationId: 'late' }, alice), 'NOT_FOUND');
  const streams = async () => Number(/^ramet_live_streams (\d+)/m.exec((await http(s, 'GET', '/metrics', { user: 'alice' })).text)?.[1] ?? NaN);
  const one = c.listen(EventStreamService, 'subscribeEvents', {}, alice);
  await eventually(() => assert.ok(one.headers));
  await eventually(async () => assert.equal(await streams(), 1));
  one.cancel();
  assert.equal(await one.ended, 'CANCELLED');
  await eventually(async () => {
    await ok(append(c, 'a', say('wakes what is gone')));
    assert.equal(await streams(), 0);
  });
});

test('files: streams both ways', async () => {
  const { s, c } = await begin(['--attachment-max', '3000000']);
  const data = Buffer.alloc(2_500_000);
  for (let i = 0; i < data.length; i += 4) data.writeUInt32LE((i * 2654435761) >>> 0, i);
  const sha = createHash('sha256').update(data).digest('hex');
  const up = await ok(upload(c, data, { filename: 'ünï "x".bin', contentType: 'application/x-test', expiresIn: 'PT2H' }));
  assert.deepEqual([up.size, up.sha256, up.status, up.filename, up.contentType, up.href],
    [data.length, sha, 'ready', 'ünï "x".bin', 'application/x-test', `/v1/attachments/${up.id}`]);
  assert.ok(Math.abs(Date.parse(up.expiresAt) - Date.now() - 7200e3) < 60e3);
  const info = await ok(c.call(Files, 'getAttachment', { id: up.id }, alice));
  assert.deepEqual([info.id, info.size, info.sha256, info.status, info._entryId], [up.id, data.length, sha, 'ready', undefined]);
  const down = async (id, who) => c.all(Files, 'downloadAttachment', { id }, who);
  const got = await down(up.id, alice);
  assert.equal(got.code, 'OK');
  assert.equal(got.list[0].payload, 'metadata');
  assert.equal(got.list[0].metadata.filename, 'ünï "x".bin');
  assert.ok(got.list.slice(1).every((m) => m.payload === 'chunk' && m.chunk.length <= 32768));
  assert.ok(Buffer.concat(got.list.slice(1).map((m) => m.chunk)).equals(data));
  assert.equal((await http(s, 'GET', `/v1/attachments/${up.id}`, { headers: alice })).status, 200);
  assert.equal((await down(up.id, bob)).code, 'PERMISSION_DENIED');
  assert.equal((await down(randomUUID(), alice)).code, 'NOT_FOUND');
  assert.equal((await down('x', alice)).code, 'INVALID_ARGUMENT');
  assert.equal((await down('', alice)).code, 'INVALID_ARGUMENT');
  const entry = await ok(append(c, 'a', { contentType: 'history', content: [value({ role: 'USER', attachments: [{ attachmentId: up.id }] })] }));
  const linked = await ok(c.call(Files, 'getAttachment', { id: up.id }, alice));
  assert.deepEqual([uuid(linked.entryId), linked.expiresAt], [uuid(entry.id), '']);
  await refused(c.call(Files, 'deleteAttachment', { id: up.id }, alice), 'ABORTED');
  const empty = await ok(upload(c, Buffer.alloc(0), { filename: 'nothing' }));
  assert.deepEqual([empty.size, empty.contentType], [0, 'application/octet-stream']);
  const none = await down(empty.id, alice);
  assert.deepEqual([none.code, none.list.length], ['OK', 1]);
  // what is wrong with uploads
  const send = (list, who = alice) => c.send(Files, 'uploadAttachment', list, who);
  await refused(send([{ chunk: Buffer.from('x') }]), 'INVALID_ARGUMENT', 'metadata');
  await refused(send([{ metadata: {} }, { metadata: {} }]), 'INVALID_ARGUMENT', 'once');
  await refused(send([]), 'INVALID_ARGUMENT');
  await refused(send([{ metadata: { expiresIn: 'PT25H' } }, { chunk: Buffer.from('x') }]), 'INVALID_ARGUMENT', 'expiresIn');
  await refused(send([{ metadata: {} }, { chunk: Buffer.from('x') }], {}), 'UNAUTHENTICATED');
  await refused(upload(c, Buffer.alloc(3_100_000)), 'RESOURCE_EXHAUSTED');
  await refused(c.call(Files, 'createAttachmentFromUrl', { sourceUrl: 'ftp://x/' }, alice), 'INVALID_ARGUMENT', 'sourceUrl');
  // one that the server fetches: not from here
  const asked = await ok(c.call(Files, 'createAttachmentFromUrl', { sourceUrl: `${s.url}/healthz`, filename: 'f' }, alice));
  assert.deepEqual([asked.status, asked.sourceUrl, asked.filename], ['downloading', `${s.url}/healthz`, 'f']);
  await eventually(async () => assert.equal((await ok(c.call(Files, 'getAttachment', { id: asked.id }, alice))).status, 'failed'));
  assert.equal((await down(asked.id, alice)).code, 'FAILED_PRECONDITION');
});

test('a client that is killed in mid-upload leaves nothing, and harms nobody', async () => {
  const { s, c } = await begin();
  const stored = async () => JSON.parse((await ramet(['stat', '--db', s.db, '--json'])).out).attachments;
  // One of another process, which goes without a word.
  const child = spawn(process.execPath, ['--input-type=module', '-e', `
    import { client, memory, metadata } from ${JSON.stringify(new URL('./help/grpc.mjs', import.meta.url).href)};
    const up = client(${s.port}).of(memory.AttachmentsService).uploadAttachment(metadata({ authorization: 'Bearer alice' }), () => {});
    up.on('error', () => {});
    up.write({ metadata: { filename: 'half' } });
    for (let i = 0; i < 40; i++) up.write({ chunk: Buffer.alloc(32768, i) });
    setInterval(() => up.write({ chunk: Buffer.alloc(1000) }), 10);
    console.log('on its way');`], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((done) => child.stdout.once('data', done));
  await eventually(async () => assert.match((await http(s, 'GET', '/metrics', { user: 'alice' })).text, /^ramet_grpc_calls 1$/m));
  await sleep(100);
  child.kill('SIGKILL');
  // A socket that goes away without a word: half of a message, then nothing.
  const gone = net.connect(s.port, '127.0.0.1');
  gone.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
  await sleep(30);
  gone.destroy();
  await ok(append(c, 'a', say('the server goes on')));
  await eventually(async () => assert.match((await http(s, 'GET', '/metrics', { user: 'alice' })).text, /^ramet_grpc_calls 0$/m));
  await eventually(async () => assert.equal(await stored(), 0));
  // This client ends its stream before it resets it: what was sent may count as all, until it expires.
  const up = c.of(Files).uploadAttachment(metadata(alice), () => {});
  const over = new Promise((done) => up.on('status', (st) => done(st.code)));
  up.on('error', () => {});
  up.write({ metadata: { filename: 'half' } });
  for (let i = 0; i < 20; i++) up.write({ chunk: Buffer.alloc(32768, i) });
  await sleep(100);
  up.cancel();
  assert.equal(await over, grpc.status.CANCELLED);
  await eventually(async () => assert.match((await http(s, 'GET', '/metrics', { user: 'alice' })).text, /^ramet_grpc_calls 0$/m));
});

test('first appends of the same id at once: one conversation, all entries', async () => {
  const { c } = await begin();
  await ok(append(c, 'root', say('first')));
  const all = await Promise.all([...Array(16).keys()].map((i) => append(c, 'new', say(`n${i}`, { forkedAtConversationId: 'root' }))));
  assert.ok(all.every((r) => r.code === 'OK'), JSON.stringify(all.map((r) => r.message)));
  const list = await ok(c.call(EntriesService, 'listEntries', { conversationId: 'new' }, alice));
  assert.deepEqual(texts(list.entries).sort(), [...Array(16).keys()].map((i) => `n${i}`).sort());
  const forks = await ok(c.call(ConversationsService, 'listForks', { conversationId: 'root' }, alice));
  assert.deepEqual(forks.conversationIds.sort(), ['new', 'root']);
});

test('many calls on many connections at once', async () => {
  const { s, c } = await begin();
  const clients = [...Array(8)].map(() => client(s.port, { 'grpc.use_local_subchannel_pool': 1 }));
  const n = 320;
  const answers = await Promise.all([...Array(n).keys()].map((i) => append(clients[i % 8], `m${i % 20}`, say(`${i}`))));
  assert.ok(answers.every((r) => r.code === 'OK'));
  let seen = 0;
  for (let i = 0; i < 20; i++)
    seen += (await ok(c.call(EntriesService, 'listEntries', { conversationId: `m${i}`, page: { pageSize: 1000 } }, alice))).entries.length;
  assert.equal(seen, n);
  clients.forEach((x) => x.close());
});

test('events: live, replayed, of some conversations, content, and a server that stops', async () => {
  const { s, c } = await begin();
  const open = async (o, who = alice) => {
    const e = c.listen(EventStreamService, 'subscribeEvents', o, who);
    await eventually(() => assert.ok(e.headers || e.status));
    return e;
  };
  const all = await open({});
  const other = await open({}, bob);
  const only = await open({ conversationIds: ['b'], kinds: ['entry'], detail: 'full' });
  await ok(append(c, 'a', say('one')));
  const b = await ok(append(c, 'b', say('two')));
  await ok(append(c, 'a', { channel: 'CONTEXT', contentType: 'x', content: [value(1)] }, agent()));
  const seen = (e) => e.list.map((m) => [m.event, m.kind, JSON.parse(m.data).conversation]);
  await eventually(() => assert.deepEqual(seen(all), [['created', 'conversation', 'a'], ['created', 'entry', 'a'],
    ['created', 'conversation', 'b'], ['created', 'entry', 'b']]));
  await eventually(() => assert.equal(only.list.length, 1));
  const data = JSON.parse(only.list[0].data);
  assert.deepEqual([data.conversation, data.entry, data.entry_role], ['b', uuid(b.id), 'USER']);
  assert.deepEqual(data.content, [{ role: 'USER', text: 'two' }]);
  assert.deepEqual(other.list, []);
  const again = await open({ afterCursor: all.list[1].cursor });
  await eventually(() => assert.deepEqual(seen(again), seen(all).slice(2)));
  const whole = await open({ afterCursor: 'start', entryChannels: ['context'], kinds: ['entry'] }, agent());
  await eventually(() => assert.deepEqual(whole.list.map((m) => JSON.parse(m.data).entry_channel), ['context']));
  const bad = await open({ afterCursor: 'nonsense' });
  assert.equal(await bad.ended, 'INVALID_ARGUMENT');
  assert.equal(await (await open({}, {})).ended, 'UNAUTHENTICATED');
  const ends = [all, only, again].map((e) => e.ended);
  await s.stop();
  for (const e of await Promise.all(ends)) assert.equal(e, 'UNAVAILABLE');
});

test('events of everybody, for administrators and auditors, by both ways', async () => {
  const { s, c } = await begin();
  const open = (o, who) => c.listen(EventStreamService, 'subscribeEvents', { scope: 'EVENT_SCOPE_ADMIN', ...o }, who);
  const live = open({ justification: 'a test' }, agent('charlie', 'agent-9'));
  await eventually(() => assert.ok(live.headers));
  await ok(append(c, 'a', say('hers')));
  await ok(append(c, 'b', say('his'), bob));
  await ok(append(c, 'b', { channel: 'CONTEXT', contentType: 'x', content: [value(1)] }, agent('bob')));
  const seen = (list) => list.map((m) => { const d = JSON.parse(m.data); return [m.kind, d.conversation, d.entry_channel]; });
  const both = [['conversation', 'a', undefined], ['entry', 'a', 'history'], ['conversation', 'b', undefined], ['entry', 'b', 'history']];
  await eventually(() => assert.deepEqual(seen(live.list), both));
  const old = open({ afterCursor: 'start' }, alice);
  await eventually(() => assert.deepEqual(seen(old.list), both));
  // Channels of other clients, when they are asked for.
  const context = open({ afterCursor: 'start', kinds: ['entry'], entryChannels: ['context'] }, alice);
  await eventually(() => assert.deepEqual(seen(context.list), [['entry', 'b', 'context']]));
  const one = open({ afterCursor: 'start', conversationIds: ['b'], kinds: ['conversation'] }, alice);
  await eventually(() => assert.deepEqual(seen(one.list), [['conversation', 'b', undefined]]));
  // Who asks for what he may see gets no more, administrator or not.
  const own = c.listen(EventStreamService, 'subscribeEvents', { afterCursor: 'start', scope: 'EVENT_SCOPE_AUTHORIZED' }, alice);
  await eventually(() => assert.deepEqual(seen(own.list), both.slice(0, 2)));
  assert.equal(await open({}, bob).ended, 'PERMISSION_DENIED');
  assert.equal(await open({}, {}).ended, 'UNAUTHENTICATED');
  assert.equal(await open({ afterCursor: 'nonsense' }, alice).ended, 'INVALID_ARGUMENT');

  const path = '/v1/admin/events?after=start&justification=test';
  const stop = new AbortController();
  const r = await fetch(s.url + path, { headers: { Authorization: 'Bearer charlie' }, signal: stop.signal });
  assert.equal(r.status, 200);
  let text = '';
  const frames = () => text.split('\n\n').filter((f) => f.startsWith('data: ')).map((f) => JSON.parse(f.slice(6)));
  for await (const piece of r.body) {
    text += Buffer.from(piece).toString();
    if (text.endsWith('\n\n') && frames().length >= both.length) break;
  }
  stop.abort();
  assert.deepEqual(frames().map((f) => [f.kind, f.data.conversation, f.data.entry_channel]), both);
  assert.deepEqual(frames().map((f) => f.cursor), old.list.map((m) => m.cursor));
  assert.equal((await http(s, 'GET', path, { headers: bob })).status, 403);
  assert.equal((await http(s, 'GET', '/v1/admin/events?after=odd', { headers: alice })).status, 400);
});

test('a stranger is told of conversations, and of no session of another face, by both ways', async () => {
  const { s, c } = await begin();
  const made = await http(s, 'POST', '/ramet/v1/sessions', { headers: alice, json: { visibility: 'private' } });
  const file = await http(s, 'POST', '/ramet/v1/attachments?name=a', { headers: alice, body: 'x' });
  assert.deepEqual([made.status, file.status], [201, 201]);
  const { id } = made.body;
  await ok(overGrpc(c).append('talk', { channel: 'history', contentType: 'history', content: [{ role: 'USER', text: 'x' }] }, alice));
  for (const way of [overRest(s), overGrpc(c)])
    for (const ask of ['get', 'forks', 'entries', 'members', 'children']) {
      const at = (x) => (ask === 'get' || ask === 'forks' ? way[ask](x, bob) : way[ask](x, {}, bob));
      assert.equal((await at(id)).code, 'NOT_FOUND', ask);
      assert.equal((await at('talk')).code, 'PERMISSION_DENIED', ask);
      assert.equal((await way.fileDelete(file.body.id, bob)).code, 'NOT_FOUND');
    }
});

test('administrators: when conversations were archived', async () => {
  const { s, c } = await begin();
  const archive = (id, archived = true) => ok(c.call(ConversationsService, 'updateConversation', { conversationId: id, archived }, alice));
  const nextSecond = async () => {
    const second = Math.floor(Date.now() / 1000) + 1;
    await sleep(second * 1000 - Date.now() + 20);
    return second;
  };
  for (const id of ['one', 'two', 'never', 'native']) await ok(append(c, id, say(id)));
  await archive('one');
  const first = await nextSecond();
  await archive('two');
  assert.equal((await http(s, 'PATCH', 'sessions/native', { user: 'alice', json: { archived: true } })).status, 200);
  const second = await nextSecond();
  // What is archived already keeps its time, whatever else is changed.
  assert.equal((await http(s, 'PATCH', 'sessions/native', { user: 'alice', json: { archived: true, title: 'T' } })).status, 200);
  const at = (seconds) => new Date(seconds * 1000).toISOString();
  const list = async (after, before, archived) => {
    const rpc = await ok(c.call(AdminConversationsService, 'listConversations', some({ mode: 'ALL', archived: archived && ENUM.archived(archived),
      archivedAfter: after && { seconds: after }, archivedBefore: before && { seconds: before } }), alice));
    const rest = await http(s, 'GET', `/v1/admin/conversations${query({ mode: 'all', archived, archivedAfter: after && at(after),
      archivedBefore: before && at(before) })}`, { headers: alice });
    const ids = rpc.conversations.map((x) => x.id).sort();
    assert.deepEqual(rest.body.data.map((x) => x.id).sort(), ids);
    return ids;
  };
  assert.deepEqual(await list(first), ['native', 'two']);
  assert.deepEqual(await list(undefined, first), ['one']);
  assert.deepEqual(await list(first, second, 'include'), ['native', 'two']);
  assert.deepEqual(await list(second), []);
  assert.deepEqual(await list(1, second, 'exclude'), []);
  assert.deepEqual(await list(undefined, undefined, 'include'), ['native', 'never', 'one', 'two']);
  await archive('one', false);
  await archive('one');
  assert.deepEqual(await list(second), ['one']);
  assert.equal((await http(s, 'GET', '/v1/admin/conversations?archivedAfter=soon', { headers: alice })).status, 400);
});

test('administrators find an entry of another face by the id that is shown', async () => {
  const { s, c } = await begin();
  await newSession(s, { id: 'native' }, { user: 'bob' });
  await nativeAppend(s, 'native', [{ id: 'msg_1', role: 'user', text: 'first' }, { id: 'msg_2', role: 'user', text: 'second' }], { user: 'bob' });
  const shown_ = (await ok(c.call(EntriesService, 'listEntries', { conversationId: 'native' }, bob))).entries;
  const get = (id, who = agent('charlie')) => c.call(AdminEntriesService, 'getEntry', { entryId: id }, who);
  for (const e of shown_) {
    assert.match(uuid(e.id), /^.{14}8/);
    assert.deepEqual(await ok(get(e.id)), e);
    const rest = await http(s, 'GET', `/v1/admin/entries/${uuid(e.id).toUpperCase()}`, { headers: alice });
    assert.deepEqual([rest.status, rest.body.id, rest.body.conversationId], [200, uuid(e.id), 'native']);
  }
  await refused(get(shown_[0].id, bob), 'PERMISSION_DENIED');
  // The place is right, what is said of the entry is not; a branch, and a place, that are not there.
  const wrong = (i, bits) => { const id = Buffer.from(shown_[0].id); id[i] ^= bits; return id; };
  for (const id of [wrong(15, 1), wrong(1, 1), wrong(7, 0xf0)]) {
    await refused(get(id), 'NOT_FOUND', 'entry not found');
    assert.equal((await http(s, 'GET', `/v1/admin/entries/${uuid(id)}`, { headers: alice })).status, 404);
  }
  assert.ok((await http(s, 'DELETE', 'sessions/native', { user: 'bob' })).status < 300);
  await refused(get(shown_[0].id), 'NOT_FOUND');
});

test('health, once and watched', async () => {
  const { s, c } = await begin();
  const check = (service) => c.call(health.Health, 'check', { service });
  for (const name of ['', 'memory.v1.EntriesService', 'grpc.health.v1.Health', 'grpc.reflection.v1.ServerReflection'])
    assert.equal((await ok(check(name))).status, 'SERVING');
  await refused(check('memory.v1.Nothing'), 'NOT_FOUND');
  const watch = c.listen(health.Health, 'watch', { service: '' });
  const unknown = c.listen(health.Health, 'watch', { service: 'x' });
  await eventually(() => assert.deepEqual([watch.list, unknown.list].map((l) => l.map((m) => m.status)), [['SERVING'], ['SERVICE_UNKNOWN']]));
  unknown.cancel();
  assert.equal(await unknown.ended, 'CANCELLED');
  await s.stop();
  assert.equal(await watch.ended, 'UNAVAILABLE');
});

test('reflection: a client is made of what the server tells', async () => {
  const { s, c } = await begin();
  const v1alpha = grpc.makeGenericClientConstructor({
    serverReflectionInfo: { ...reflection.ServerReflection.service.ServerReflectionInfo, path: '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo' },
  });
  for (const Service of [reflection.ServerReflection, v1alpha]) {
    const stream = c.of(Service).serverReflectionInfo();
    const answers = [];
    stream.on('data', (d) => answers.push(d));
    stream.on('error', () => {});
    const over = new Promise((done) => stream.on('status', done));
    stream.write({ listServices: '' });
    stream.write({ fileContainingSymbol: 'memory.v1.EntriesService' });
    stream.write({ fileByFilename: 'google/protobuf/struct.proto' });
    for (const symbol of ['memory.v1.EntriesService.AppendEntry', 'memory.v1.Channel', 'memory.v1.Entry.content', 'grpc.health.v1.HealthCheckResponse.ServingStatus'])
      stream.write({ fileContainingSymbol: symbol });
    stream.write({ fileContainingSymbol: 'memory.v1.Nothing' });
    stream.write({ allExtensionNumbersOfType: 'memory.v1.Entry' });
    stream.write({ fileContainingExtension: { containingType: 'memory.v1.Entry', extensionNumber: 1 } });
    stream.write({});
    stream.end();
    assert.equal((await over).code, 0);
    assert.deepEqual(answers.map((a) => a.messageResponse), ['listServicesResponse', ...Array(6).fill('fileDescriptorResponse'), 'errorResponse',
      'allExtensionNumbersResponse', 'errorResponse', 'errorResponse']);
    const names = answers[0].listServicesResponse.service.map((x) => x.name);
    for (const name of ['memory.v1.EntriesService', 'memory.v1.AdminConversationsService', 'memory.v1.EventStreamService', 'grpc.health.v1.Health',
                        'grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection']) assert.ok(names.includes(name), name);
    assert.equal(answers[7].errorResponse.errorCode, grpc.status.NOT_FOUND);
    assert.equal(answers[1].originalRequest.fileContainingSymbol, 'memory.v1.EntriesService');
    // A FileDescriptorSet is its files behind tag 1.
    const files = answers[1].fileDescriptorResponse.fileDescriptorProto;
    const set = Buffer.concat(files.flatMap((f) => { const n = []; let v = f.length; for (; v > 127; v >>= 7) n.push((v & 127) | 128); n.push(v); return [Buffer.from([10, ...n]), f]; }));
    const made = grpc.loadPackageDefinition(loader.loadFileDescriptorSetFromBuffer(set, options)).memory.v1;
    const got = await ok(c.call(made.SystemService, 'getHealth', {}));
    assert.equal(got.status, 'ok');
    // Every method that is told is there.
    for (const [name, type] of Object.entries(made).filter(([, t]) => t.service))
      for (const m of Object.values(type.service)) {
        if (m.requestStream || m.responseStream) continue;
        const r = await c.call(type, m.originalName, {}, {});
        assert.notEqual(r.code, 'UNIMPLEMENTED', `${name}.${m.originalName}`);
      }
  }
  assert.ok(s.pid);
});

process.on('exit', closeAll);
await finish();
