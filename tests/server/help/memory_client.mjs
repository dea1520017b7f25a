// SPDX-License-Identifier: Apache-2.0
//
// memory_client.mjs: a typed client of memory-service, written from its contract: one method an
// operation, and the shape of every answer, which each answer is held to: no key that is not there,
// none too many, every value of its type. An error is a MemoryError with its envelope.
import assert from 'node:assert/strict';

const uuid = (v) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(v);
const time = (v) => typeof v === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(v) && !Number.isNaN(Date.parse(v));
const string = (v) => typeof v === 'string';
const bool = (v) => typeof v === 'boolean';
const int = (v) => Number.isSafeInteger(v);
const object = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
const nullable = (type) => (v) => v === null || type(v);
const oneOf = (...words) => (v) => words.includes(v);
const list = (type) => (v) => Array.isArray(v) && v.every((x) => fits(type, x));
const level = oneOf('owner', 'manager', 'writer', 'reader');

// A key with "?" may be left out.
const summary = {
  id: string, title: string, ownerUserId: string, 'agentId?': string, metadata: object, 'forkedAtEntryId?': uuid,
  'forkedAtConversationId?': string, 'startedByConversationId?': string, 'startedByEntryId?': uuid,
  createdAt: time, updatedAt: time, archived: bool, accessLevel: level,
};
const child = {
  id: string, title: string, ownerUserId: string, createdAt: time, updatedAt: time, archived: bool, accessLevel: level,
  'startedByConversationId?': string, 'startedByEntryId?': uuid,
};
const entry = {
  id: uuid, conversationId: string, 'userId?': string, 'clientId?': string, 'agentId?': string,
  channel: oneOf('history', 'context', 'journal'), 'epoch?': int, 'seq?': (v) => int(v) && v >= 0 && v <= 4294967295,
  contentType: string, content: Array.isArray, 'indexedContent?': string, 'indexedAt?': time, createdAt: time,
};
const option = { conversationId: string, 'entryId?': uuid, title: string, 'preview?': string, createdAt: time };
const attachment = {
  id: uuid, href: string, contentType: string, filename: nullable(string), size: nullable(int), sha256: nullable((v) => /^[0-9a-f]{64}$/.test(v)),
  expiresAt: time, status: oneOf('uploading', 'downloading', 'ready', 'failed'), 'sourceUrl?': string,
};
const page = (type) => ({ data: list(type), afterCursor: nullable(string) });
export const shapes = {
  Conversation: { ...summary, 'hasResponseInProgress?': bool },
  AdminConversation: { ...summary, 'hasResponseInProgress?': bool, 'clientId?': string },
  ConversationList: page(summary),
  ChildList: page(child),
  Entry: entry,
  EntryList: { ...page(entry), beforeCursor: nullable(string) },
  Sync: { epoch: nullable(int), noOp: bool, epochIncremented: bool, 'entry?': entry },
  ForkNavigation: { conversationIds: list(string), forkPoints: list({ entryId: uuid, options: list(option) }) },
  Membership: { conversationId: string, userId: string, accessLevel: level, createdAt: time },
  MembershipList: page({ conversationId: string, userId: string, accessLevel: level, createdAt: time }),
  Transfer: { id: uuid, conversationId: string, fromUserId: string, toUserId: string, createdAt: time },
  TransferList: page({ id: uuid, conversationId: string, fromUserId: string, toUserId: string, createdAt: time }),
  Attachment: attachment,
  DownloadUrl: { url: string, expiresIn: int, 'status?': string },
  SearchResults: page({
    conversationId: string, conversationTitle: string, entryId: uuid, score: Number.isFinite, kind: string, highlights: string, 'entry?': entry,
  }),
  Indexed: { indexed: int },
  Unindexed: page({ conversationId: string, entry }),
  Health: { status: oneOf('ok') },
  Error: { code: string, error: string, requestId: string, 'details?': object },
};

function fits(shape, v) {
  if (typeof shape === 'function') return shape(v);
  if (!object(v)) return false;
  const names = Object.keys(shape);
  return names.every((n) => (n.endsWith('?') ? !(n.slice(0, -1) in v) || fits(shape[n], v[n.slice(0, -1)]) : n in v && fits(shape[n], v[n])))
    && Object.keys(v).every((k) => k in shape || `${k}?` in shape);
}

export class MemoryError extends Error {
  constructor(status, body) {
    super(`${status} ${JSON.stringify(body)}`);
    Object.assign(this, { status, code: body.code, error: body.error, details: body.details });
  }
}

const query = (o = {}) => {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(o)) for (const each of [v].flat()) if (each !== undefined) q.append(k, each);
  return q.size ? `?${q}` : '';
};

export class MemoryClient {
  /** @param {string} url @param {{user?: string, client?: string, key?: string}} who */
  constructor(url, { user, client, key } = {}) {
    this.url = url;
    this.headers = {
      ...(user && { Authorization: `Bearer ${user}` }), ...(client && { 'X-Client-ID': client }), ...(key && { 'X-API-Key': key }),
    };
  }
  async ask(shape, want, method, path, body) {
    const form = body instanceof FormData;
    const r = await fetch(this.url + path, {
      method, headers: { ...this.headers, ...(body === undefined || form ? {} : { 'Content-Type': 'application/json' }) },
      body: body === undefined || form ? body : JSON.stringify(body),
    });
    const text = await r.text();
    const got = text ? JSON.parse(text) : undefined;
    assert.ok(!/conversationGroupId|conversation_group_id/.test(text), text);
    if (r.status >= 400) {
      assert.ok(fits(shapes.Error, got), `${method} ${path}: an error is not ${text}`);
      assert.equal(got.requestId, r.headers.get('x-request-id'));
      throw new MemoryError(r.status, got);
    }
    assert.ok([want].flat().includes(r.status), `${method} ${path}: ${r.status} ${text}`);
    if (shape) assert.ok(fits(shapes[shape] ?? shape, got), `${method} ${path}: this is no ${shape}: ${text}`);
    else assert.equal(text, '', `${method} ${path}`);
    return got;
  }
  at(id) { return `/v1/conversations/${encodeURIComponent(id)}`; }
  health() { return this.ask('Health', 200, 'GET', '/v1/health'); }
  listConversations(q) { return this.ask('ConversationList', 200, 'GET', `/v1/conversations${query(q)}`); }
  createConversation(body) { return this.ask('Conversation', body.forkedAtConversationId ? 200 : 201, 'POST', '/v1/conversations', body); }
  getConversation(id) { return this.ask('Conversation', 200, 'GET', this.at(id)); }
  adminGetConversation(id) { return this.ask('AdminConversation', 200, 'GET', `/v1/admin/conversations/${encodeURIComponent(id)}`); }
  updateConversation(id, body) { return this.ask('Conversation', 200, 'PATCH', this.at(id), body); }
  listEntries(id, q) { return this.ask('EntryList', 200, 'GET', `${this.at(id)}/entries${query(q)}`); }
  appendEntry(id, body) { return this.ask('Entry', 201, 'POST', `${this.at(id)}/entries`, body); }
  appendEntries(id, body) { return this.ask(list(entry), 201, 'POST', `${this.at(id)}/entries`, body); }
  syncEntries(id, body) { return this.ask('Sync', 200, 'POST', `${this.at(id)}/entries/sync`, body); }
  listForks(id) { return this.ask('ForkNavigation', 200, 'GET', `${this.at(id)}/forks`); }
  adminListForks(id) { return this.ask('ForkNavigation', 200, 'GET', `/v1/admin/conversations/${encodeURIComponent(id)}/forks`); }
  listChildren(id, q) { return this.ask('ChildList', 200, 'GET', `${this.at(id)}/children${query(q)}`); }
  listMemberships(id, q) { return this.ask('MembershipList', 200, 'GET', `${this.at(id)}/memberships${query(q)}`); }
  share(id, userId, accessLevel) { return this.ask('Membership', 201, 'POST', `${this.at(id)}/memberships`, { userId, accessLevel }); }
  updateMembership(id, user, accessLevel) { return this.ask('Membership', 200, 'PATCH', `${this.at(id)}/memberships/${encodeURIComponent(user)}`, { accessLevel }); }
  deleteMembership(id, user) { return this.ask(null, 204, 'DELETE', `${this.at(id)}/memberships/${encodeURIComponent(user)}`); }
  listTransfers(q) { return this.ask('TransferList', 200, 'GET', `/v1/ownership-transfers${query(q)}`); }
  createTransfer(conversationId, newOwnerUserId) { return this.ask('Transfer', 201, 'POST', '/v1/ownership-transfers', { conversationId, newOwnerUserId }); }
  getTransfer(id) { return this.ask('Transfer', 200, 'GET', `/v1/ownership-transfers/${id}`); }
  deleteTransfer(id) { return this.ask(null, 204, 'DELETE', `/v1/ownership-transfers/${id}`); }
  acceptTransfer(id) { return this.ask(null, 204, 'POST', `/v1/ownership-transfers/${id}/accept`); }
  upload(bytes, { name = 'a.txt', type = 'text/plain', expiresIn } = {}) {
    const form = new FormData();
    form.append('file', new Blob([bytes], { type }), name);
    return this.ask('Attachment', 201, 'POST', `/v1/attachments${query({ expiresIn })}`, form);
  }
  createFromUrl(body) { return this.ask('Attachment', 201, 'POST', '/v1/attachments', body); }
  deleteAttachment(id) { return this.ask(null, 204, 'DELETE', `/v1/attachments/${id}`); }
  downloadUrl(id, q) { return this.ask('DownloadUrl', 200, 'GET', `/v1/attachments/${id}/download-url${query(q)}`); }
  search(body) { return this.ask('SearchResults', 200, 'POST', '/v1/conversations/search', body); }
  index(body) { return this.ask('Indexed', 200, 'POST', '/v1/conversations/index', body); }
  unindexed(q) { return this.ask('Unindexed', 200, 'GET', `/v1/conversations/unindexed${query(q)}`); }
}
