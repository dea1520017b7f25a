// SPDX-License-Identifier: Apache-2.0
//
// agentpod.mts: a client of AgentPod's branching API in the types of its plan, and a store that is
// kept up to date by its events alone. The tests of the face compile it (tsc --strict) and use it.

export type ForkType = 'explicit' | 'auto-edit' | 'auto-regenerate';
export type ForkCreator = 'user' | 'system';

export interface ModelSelection {
  provider?: string;
  model?: string;
  agent?: string;
  [other: string]: unknown;
}

export interface SessionFork {
  id: string;
  parentSessionId: string | null;
  forkedAtMessageId: string | null;
  forkType: ForkType;
  createdAt: string;
  createdBy: ForkCreator;
  tags: string[];
  metadata: { reason?: string; agentConfig?: ModelSelection; mergedInto?: string; originalTitle?: string };
}

export interface SessionBranch {
  sessionId: string;
  branchId: string;
  messageId: string;
  branchNumber: number;
  branchCount: number;
  parentBranchId: string | null;
  isCurrent: boolean;
  branchType: ForkType;
  entryId: string;
  createdAt: string;
}

export interface CreateForkInput {
  messageId?: string;
  messageRole?: 'user' | 'assistant';
  reason?: string;
  tags?: string[];
  agentConfig?: ModelSelection;
  forkType?: ForkType;
}

export interface ListForksResponse { forks: SessionFork[]; rootSessions: string[] }
export interface AncestryResponse { ancestry: string[] }
export interface ChildrenResponse { children: SessionFork[] }
export interface ForkInfoResponse { fork: SessionFork; ancestry: string[]; childCount: number; depth: number }
export interface ListBranchesResponse {
  branches: SessionBranch[];
  currentBranch: SessionBranch | null;
  currentBranchId: string | null;
}
export interface SwitchBranchInput { messageId: string; branchNumber: number }
export interface SwitchBranchResponse extends ListBranchesResponse { success: true }
export interface SyncMessage { id: string; role: 'user' | 'assistant' | 'tool' | 'system'; text: string }
export interface SyncResponse extends ListBranchesResponse {
  success: true;
  sessionId: string;
  divergenceIndex: number | null;
  moved: boolean;
  added: number;
  messageCount: number;
}
export interface MessageBranchInfo {
  messageId: string;
  branchNumber: number;
  branchCount: number;
  isOnActiveBranch: boolean;
}
export interface SessionComparison {
  sessionA: string;
  sessionB: string;
  divergenceIndex: number;
  commonMessageCount: number;
  uniqueToA: number;
  uniqueToB: number;
}
export interface ForkStatistics {
  totalSessions: number;
  rootSessions: number;
  forkedSessions: number;
  maxDepth: number;
  byType: { explicit: number; autoEdit: number; autoRegenerate: number };
  topTags: Array<{ tag: string; count: number }>;
}
export interface TagsResponse { success: true; tags: string[] }
export interface DeleteTreeResponse { deleted: string[]; dryRun: boolean }
export interface ErrorBody { error: string; details?: string }
export interface SessionTreeNode { fork: SessionFork; children: SessionTreeNode[]; depth: number; path: string[] }

interface About { sandboxId: string; sessionId: string; at: string }
export type SandboxEvent =
  | (About & { type: 'session.created' | 'fork.created' | 'session.updated' | 'session.restored'; fork: SessionFork })
  | (About & { type: 'session.deleted' })
  | (About & ListBranchesResponse & { type: 'branches.updated' })
  | (About & { type: 'message.created'; messages: SyncMessage[]; more?: true })
  | { type: 'reset' };

export class AgentPodError extends Error {
  constructor(readonly status: number, readonly body: ErrorBody) {
    super(`${status} ${body.error}${body.details ? `: ${body.details}` : ''}`);
  }
}

export class AgentPod {
  constructor(private readonly url: string, private readonly sandbox: string,
              private readonly headers: Record<string, string> = {}) {}

  path(...rest: string[]): string {
    return ['/api/v2/sandboxes', ...[this.sandbox, ...rest].map(encodeURIComponent)].join('/');
  }

  private async ask<T>(method: string, path: string, json?: unknown): Promise<T> {
    const answer = await fetch(this.url + path, {
      method,
      headers: { ...this.headers, ...(json === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: json === undefined ? undefined : JSON.stringify(json),
    });
    const body: unknown = await answer.json();
    if (!answer.ok) throw new AgentPodError(answer.status, body as ErrorBody);
    return body as T;
  }

  listSessionForks = () => this.ask<ListForksResponse>('GET', this.path('forks'));
  getForkStatistics = () => this.ask<ForkStatistics>('GET', this.path('forks', 'statistics'));
  createSessionFork = (session: string, input: CreateForkInput = {}) =>
    this.ask<SessionFork>('POST', this.path('sessions', session, 'fork'), input);
  getSessionAncestry = (session: string) => this.ask<AncestryResponse>('GET', this.path('sessions', session, 'ancestry'));
  getSessionChildren = (session: string) => this.ask<ChildrenResponse>('GET', this.path('sessions', session, 'children'));
  getSessionForkInfo = (session: string) => this.ask<ForkInfoResponse>('GET', this.path('sessions', session, 'fork-info'));
  getSessionBranches = (session: string) => this.ask<ListBranchesResponse>('GET', this.path('sessions', session, 'branches'));
  switchBranch = (session: string, input: SwitchBranchInput) =>
    this.ask<SwitchBranchResponse>('POST', this.path('sessions', session, 'branches', 'switch'), input);
  setMessages = (session: string, messages: SyncMessage[]) =>
    this.ask<SyncResponse>('POST', this.path('sessions', session, 'messages', 'sync'), { messages });
  compareSessions = (a: string, b: string) => this.ask<SessionComparison>('GET', this.path('sessions', a, 'compare', b));
  addSessionTag = (session: string, tag: string) => this.ask<TagsResponse>('POST', this.path('sessions', session, 'tags'), { tag });
  removeSessionTag = (session: string, tag: string) => this.ask<TagsResponse>('DELETE', this.path('sessions', session, 'tags', tag));
  setSessionTags = (session: string, tags: string[]) => this.ask<TagsResponse>('PUT', this.path('sessions', session, 'tags'), { tags });
  deleteForkTree = (session: string, dryRun = false) =>
    this.ask<DeleteTreeResponse>('DELETE', this.path('sessions', session, 'tree') + (dryRun ? '?dry_run=true' : ''));
}

/** What the plan's two stores hold, from a first read and then from events alone. */
export class ForkStore {
  readonly sessions = new Map<string, SessionFork>();
  readonly branches = new Map<string, ListBranchesResponse>();
  stale = false;

  load(list: ListForksResponse): void {
    for (const fork of list.forks) this.sessions.set(fork.id, fork);
  }

  apply(event: SandboxEvent): void {
    switch (event.type) {
      case 'session.created':
      case 'fork.created':
      case 'session.updated':
      case 'session.restored':
        this.sessions.set(event.fork.id, event.fork);
        break;
      case 'session.deleted':
        this.sessions.delete(event.sessionId);
        break;
      case 'branches.updated':
        this.branches.set(event.sessionId, {
          branches: event.branches, currentBranch: event.currentBranch, currentBranchId: event.currentBranchId,
        });
        break;
      case 'message.created':
        break;
      case 'reset':
        this.stale = true;
    }
  }

  /** The picker's 2/3 of a message. */
  info(session: string, messageId: string): MessageBranchInfo | null {
    const all = this.branches.get(session)?.branches.filter((b) => b.messageId === messageId) ?? [];
    const now = all.find((b) => b.isCurrent) ?? all[0];
    return now ? { messageId, branchNumber: now.branchNumber, branchCount: now.branchCount, isOnActiveBranch: now.isCurrent } : null;
  }

  tree(): SessionTreeNode[] {
    const under = new Map<string | null, SessionFork[]>();
    for (const fork of this.sessions.values())
      under.set(fork.parentSessionId, [...(under.get(fork.parentSessionId) ?? []), fork]);
    const grow = (parent: string | null, depth: number, path: string[]): SessionTreeNode[] =>
      (under.get(parent) ?? []).map((fork) => ({
        fork, depth, path: [...path, fork.id], children: grow(fork.id, depth + 1, [...path, fork.id]),
      }));
    return grow(null, 0, []);
  }
}
