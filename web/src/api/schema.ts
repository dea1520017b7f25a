// SPDX-License-Identifier: Apache-2.0
// Made from /openapi.json by `npm run types`; do not edit.
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Every error of ours. */
        Error: {
            /** @description stable, for machines */
            code: string;
            /** @description one line: what, which value, what to do */
            error: string;
            /** @description the parameter or member at fault */
            field?: string;
            /** @description 409 `head_moved`: the present head */
            head?: components["schemas"]["Head"];
            /** @description 409 `turn_running`: the turn that runs */
            turn_id?: string;
            /** @description X-Request-ID of the request */
            request_id: string;
        };
        /** @description A chat: an owner, an agent, tags, and a head: the branch that it is on now. */
        Session: {
            /** @description unique in the store */
            id: string;
            /** @description the tree that it is in */
            tree_id?: string;
            /** @description as given, else the first line of the first user message, `Fork of …` for a fork */
            title?: string;
            /** @description a user */
            owner?: string;
            /**
             * @description who sees it
             * @enum {string}
             */
            visibility?: "tree" | "private";
            /** @description who answers */
            agent?: components["schemas"]["Agent"] | null;
            /** @description sorted */
            tags?: string[];
            /** @description its place in its history */
            head?: components["schemas"]["Head"];
            /** @description that of its second log, when it has one */
            adk_head?: components["schemas"]["Head"];
            /** @description null for a root, or when the caller may not see the parent */
            forked_from?: components["schemas"]["ForkedFrom"] | null;
            /** @description a session */
            merged_into?: string | null;
            /** @description session whose provider cache holds the start of this history */
            cache_root?: string | null;
            /**
             * Format: int64
             * @description entries shared with it
             */
            cache_root_shared?: number;
            /** @description the turn that is running */
            running?: components["schemas"]["Running"] | null;
            /** @description as given */
            metadata?: Record<string, never>;
            /** @description hidden from lists that do not ask for it */
            archived?: boolean;
            /**
             * Format: date-time
             * @description when an ephemeral session goes
             */
            expires_at?: string | null;
            /**
             * Format: date-time
             * @description when it was made
             */
            created_at?: string;
            /**
             * Format: date-time
             * @description when it last changed
             */
            updated_at?: string;
            /**
             * @description only when it is read alone: what the caller may do in it
             * @enum {string}
             */
            level?: "reader" | "writer" | "manager" | "owner";
            /** @description in the answer of fork and rewind: where it really cut */
            cut?: components["schemas"]["Cut"];
            /** @description in the answer of sync: what was done */
            sync?: components["schemas"]["SyncDone"];
            /**
             * Format: int64
             * @description forks above it
             */
            depth?: number;
            /** @description in trees: the ids from the root, at most the last 64 */
            path?: string[];
            /** @description in trees and ancestries: a place holder, all else but its id and place is left out */
            deleted?: boolean;
        };
        /** @description A page of sessions. */
        SessionList: {
            sessions: components["schemas"]["Session"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description A session's place in its history. */
        Head: {
            /** @description like `b17` */
            branch_id: string | null;
            /**
             * Format: int64
             * @description entries on the path
             */
            length: number;
            /** @description the last one; null when the history is empty */
            entry_id: string | null;
            /** @description of the whole path; two histories are equal iff these are */
            prefix_hash: string;
        };
        /** @description The head as it was read; compared by `prefix_hash`, which may stand alone, as a string. */
        ExpectedHead: string | {
            /** @description 64 hex digits */
            prefix_hash: string;
        };
        /** @description Who answers. */
        Agent: {
            name: string;
            provider?: string;
            model?: string;
            /** @description its working folder */
            folder?: string;
            /** @description its other settings */
            options?: Record<string, never>;
        };
        /** @description Who answers; a string is its name. */
        AgentIn: string | {
            name?: string;
            provider?: string;
            model?: string;
            /** @description its working folder */
            folder?: string;
            /** @description its other settings, at most 64 KiB */
            options?: Record<string, never>;
        };
        /** @description Where a fork left its parent. */
        ForkedFrom: {
            /** @description the parent */
            session_id: string;
            /** @description null: a blank slate */
            entry_id: string | null;
            /** @enum {string} */
            side: "before" | "after";
            /** @enum {string} */
            type: "explicit" | "auto-edit" | "auto-regenerate";
            reason: string;
            /** @description who made it */
            created_by: components["schemas"]["CreatedBy"];
        };
        /** @description Who made a fork. */
        CreatedBy: {
            /** @enum {string} */
            kind: "user" | "system";
            /** @description the caller when not given */
            id?: string | null;
        };
        /** @description A cut point: an entry and a side of it. */
        At: {
            /** @description an entry on the path */
            entry_id: string;
            /**
             * @description `after` (the entry is kept) when not given
             * @enum {string}
             */
            side?: "before" | "after";
        };
        /** @description Where a fork or rewind really cut. */
        Cut: {
            /** @enum {string} */
            policy: "exact" | "snap_before" | "snap_after";
            /** @description null: nothing was kept */
            entry_id: string | null;
            /** @enum {string} */
            side: "before" | "after";
            /**
             * Format: int64
             * @description entries kept
             */
            position: number;
        };
        /** @description What a sync did. */
        SyncDone: {
            /**
             * Format: int64
             * @description entries of the list that were there
             */
            matched: number;
            /**
             * Format: int64
             * @description entries appended
             */
            added: number;
            /** @description a branch was made */
            moved: boolean;
        };
        /** @description What goes, or would go. */
        Deleted: {
            /** @description ids */
            sessions: string[];
            /**
             * Format: int64
             * @description entries that no other session reaches
             */
            entries: number;
            /** @description nothing was done */
            dry_run: boolean;
        };
        /** @description One immutable item of history. */
        Entry: {
            /** @description unique on a path */
            id: string;
            /**
             * Format: int64
             * @description from 0
             */
            position: number;
            /** @description the branch that owns it */
            branch_id: string;
            /** @enum {string} */
            role: "user" | "assistant" | "tool" | "system";
            /** @description the text parts joined by a blank line */
            text: string;
            /** @description the normal form */
            parts: components["schemas"]["Part"][];
            /** @description which protocol `body` came in */
            format: string;
            /** @description the caller's bytes; the parts when format is `ramet` */
            body: unknown;
            turn_id: string | null;
            channel: string;
            author: string | null;
            /** @description the program that appended it */
            client: string | null;
            usage: components["schemas"]["Usage"] | null;
            state_delta: Record<string, never> | null;
            /** @description the picker's 2/3 */
            versions?: components["schemas"]["VersionOf"];
            /**
             * @description the caller's own, when it was asked for and there is one
             * @enum {string}
             */
            feedback?: "up" | "down";
            /** @description of the path up to it */
            prefix_hash: string;
            /**
             * Format: date-time
             * @description when it was made
             */
            created_at: string;
        };
        /** @description Which version of a message it is. */
        VersionOf: {
            /**
             * Format: int64
             * @description from 1
             */
            number: number;
            /**
             * Format: int64
             * @description how many there are
             */
            count: number;
        };
        /** @description An entry to append. */
        EntryIn: {
            /** @description 1-255 bytes; a UUIDv7 when not given */
            id?: string;
            /** @enum {string} */
            role: "user" | "assistant" | "tool" | "system";
            /** @description text, or */
            text?: string;
            /** @description parts */
            parts?: components["schemas"]["Part"][];
            /** @description which protocol `body` came in; `ramet` when not given */
            format?: string;
            /** @description any JSON value, kept byte for byte; not with format `ramet` */
            body?: unknown;
            /** @description the turn that it belongs to */
            turn_id?: string;
            /** @description `history` when not given */
            channel?: string;
            /** @description who said it; the caller for role user when not given */
            author?: string;
            /** @description tokens and cost */
            usage?: components["schemas"]["UsageIn"];
            /** @description change of the state; a null removes the key */
            state_delta?: Record<string, never>;
        };
        /** @description A new version of an entry. */
        EntryEdit: {
            /** @description 1-255 bytes; a UUIDv7 when not given */
            id?: string;
            /**
             * @description the old one's when not given
             * @enum {string}
             */
            role?: "user" | "assistant" | "tool" | "system";
            /** @description text, or */
            text?: string;
            /** @description parts */
            parts?: components["schemas"]["Part"][];
            /** @description which protocol `body` came in; `ramet` when not given */
            format?: string;
            /** @description any JSON value, kept byte for byte; not with format `ramet` */
            body?: unknown;
            /** @description the turn that it belongs to */
            turn_id?: string;
            /** @description `history` when not given */
            channel?: string;
            /** @description who said it; the caller for role user when not given */
            author?: string;
            /** @description tokens and cost */
            usage?: components["schemas"]["UsageIn"];
            /** @description change of the state; a null removes the key */
            state_delta?: Record<string, never>;
        };
        /** @description `{type: text, text}`, `{type: thinking, text}`, `{type: tool_call, id, name, input}`, `{type: tool_result, id, output, is_error?}`, `{type: file, attachment_id | url, name?, media_type?}` or `{type: data, data}`. */
        Part: {
            /** @enum {string} */
            type: "text" | "thinking" | "tool_call" | "tool_result" | "file" | "data";
            text?: string;
            /** @description pairs a call with its result */
            id?: string;
            /** @description of the tool, or of the file */
            name?: string;
            /** @description of a tool call */
            input?: unknown;
            /** @description of a tool result */
            output?: unknown;
            /** @description of a tool result */
            is_error?: boolean;
            /** @description of a file */
            attachment_id?: string;
            /** @description of a file */
            url?: string;
            /** @description of a file */
            media_type?: string;
            /** @description any JSON value */
            data?: unknown;
        };
        /** @description A page of a history, oldest first. */
        EntryPage: {
            entries: components["schemas"]["Entry"][];
            /** @description of the path read */
            head: components["schemas"]["Head"];
            /** @description there are entries before the first one */
            more_before: boolean;
            /** @description there are entries after the last one */
            more_after: boolean;
        };
        /** @description What was appended. */
        Appended: {
            /** @description as stored, in the order given */
            entries: components["schemas"]["Entry"][];
            /** @description of the branch written to */
            head: components["schemas"]["Head"];
            /**
             * Format: int64
             * @description how many were new
             */
            added: number;
        };
        /** @description A page of the record. */
        Record: {
            entries: components["schemas"]["Entry"][];
            /**
             * Format: int64
             * @description length of the record
             */
            total: number;
            /** @description there are entries after the last one */
            more_after: boolean;
        };
        /** @description Tokens and cost of one entry. */
        Usage: {
            /**
             * Format: int64
             * @description tokens read
             */
            input: number;
            /**
             * Format: int64
             * @description tokens written
             */
            output: number;
            /**
             * Format: int64
             * @description tokens read from a cache
             */
            cached: number;
            cost: number;
            /** @description empty when there is no cost */
            currency: string;
        };
        /** @description Tokens and cost of one entry. */
        UsageIn: {
            /**
             * Format: int64
             * @description tokens read
             */
            input?: number;
            /**
             * Format: int64
             * @description tokens written
             */
            output?: number;
            /**
             * Format: int64
             * @description tokens read from a cache
             */
            cached?: number;
            /** @description at most 9 digits behind the point are kept */
            cost?: number;
            /** @description USD when not given */
            currency?: string;
        };
        /** @description A sum of usage. */
        UsageSum: {
            /**
             * Format: int64
             * @description entries that had usage
             */
            entries: number;
            /**
             * Format: int64
             * @description tokens read
             */
            input: number;
            /**
             * Format: int64
             * @description tokens written
             */
            output: number;
            /**
             * Format: int64
             * @description tokens read from a cache
             */
            cached: number;
            /** @description null when there is more than one currency */
            cost: number | null;
            /** @description null when there is more than one */
            currency: string | null;
            /** @description by currency */
            costs: components["schemas"]["Money"][];
        };
        Money: {
            cost: number;
            currency: string;
        };
        /** @description No entry is counted twice. */
        UsageReport: {
            /** @description entries that this session appended, abandoned ones too */
            own: components["schemas"]["UsageSum"];
            /** @description entries on the present path */
            path: components["schemas"]["UsageSum"];
            /** @description every entry of the tree once */
            tree: components["schemas"]["UsageSum"];
        };
        State: {
            /** @description with sorted keys */
            state: Record<string, never>;
        };
        /** @description What a user thinks of an entry. */
        Feedback: {
            user: string;
            /**
             * @description null: taken back
             * @enum {string|null}
             */
            value: "up" | "down" | null;
            comment: string;
            /**
             * Format: date-time
             * @description when it was given
             */
            created_at?: string;
        };
        /** @description Everybody's feedback, oldest first. */
        FeedbackList: {
            feedback: components["schemas"]["Feedback"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description A turn in mid-answer. Events `turn.delta` go on from here. */
        Running: {
            turn_id: string;
            /** @description that it writes to */
            branch_id: string;
            /** @description the last entry of the message that it answers */
            entry_id: string | null;
            /** @description what it said so far and is not an entry yet */
            text: string;
            /**
             * Format: int64
             * @description characters that it said before that text, which are in entries
             */
            offset: number;
            /** @description the same of its thinking */
            thinking: string;
            /** @description who answers */
            agent: string;
            /** @description that it waits for an answer to */
            question: components["schemas"]["Question"] | null;
            /** @description the last plan that it told */
            plan: unknown;
        };
        /** @description An agent's question to the user. */
        Question: {
            id: string;
            /**
             * @description `permission`: the answer is the id of an option; `input`: it is a text
             * @enum {string}
             */
            kind: "permission" | "input";
            text: string;
            /** @description `{id, name}` */
            options: components["schemas"]["Option"][] | null;
        };
        /** @description A way to answer a question. */
        Option: {
            /** @description the answer */
            id: string;
            /** @description for people */
            name?: string;
        };
        /** @description One answer, being made or made. */
        Turn: {
            id: string;
            session_id: string;
            /** @description that it writes to */
            branch_id: string;
            /** @description the last entry of the message that it answers */
            entry_id: string | null;
            /** @description who answers */
            agent: string | null;
            /** @description what the turns of a fan-out share */
            group: string | null;
            /** @description who */
            by: string | null;
            /** @enum {string} */
            status: "running" | "done" | "cancelled" | "failed" | "interrupted";
            /** @description why it failed */
            error: string | null;
            /** Format: date-time */
            started_at: string;
            /**
             * Format: date-time
             * @description null while it runs
             */
            ended_at: string | null;
        };
        /** @description Newest first. */
        TurnList: {
            turns: components["schemas"]["Turn"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description What a turn came to. */
        TurnDone: {
            /** @description where it ran: the fork when there was one */
            session_id: string;
            turn_id: string;
            /** @enum {string} */
            status: "running" | "done" | "cancelled" | "failed" | "interrupted";
            /** @description why it failed */
            error?: string;
            /** @description the message and its answer */
            entries: components["schemas"]["Entry"][];
        };
        /** @description What the turns of a fan-out came to. */
        FanDone: {
            /** @description shared by them */
            group: string;
            /** @description in the order of the agents */
            turns: components["schemas"]["TurnDone"][];
        };
        /** @description A fork, as `fork` takes it. */
        ForkIn: {
            /** @description where to cut; the head when not given */
            at?: components["schemas"]["At"];
            /** @description the branch of the session whose path holds `at` */
            branch_id?: string;
            /**
             * @description `exact` when not given
             * @enum {string}
             */
            cut?: "exact" | "snap_before" | "snap_after";
            /** @description the cut of the `adk` log */
            adk_at?: components["schemas"]["At"];
            /** @description 1-255 bytes; a UUIDv7 when not given */
            id?: string;
            /** @description at most 500 characters */
            title?: string;
            /** @description at most 2,000 characters */
            reason?: string;
            /** @description at most 64 */
            tags?: string[];
            /** @description the parent's when not given */
            agent?: components["schemas"]["AgentIn"];
            /** @description at most 64 KiB */
            metadata?: Record<string, never>;
            /**
             * @description `explicit` when not given
             * @enum {string}
             */
            type?: "explicit" | "auto-edit" | "auto-regenerate";
            /** @enum {string} */
            visibility?: "tree" | "private";
            /** @description it goes after that many seconds */
            ephemeral_seconds?: number;
            /** @description the caller when not given */
            created_by?: components["schemas"]["CreatedBy"];
        };
        /** @description A move of the head. */
        Move: {
            /**
             * Format: int64
             * @description from 1
             */
            number: number;
            /** @enum {string} */
            kind: "rewind" | "undo" | "redo" | "switch" | "edit" | "regenerate" | "sync";
            /** @description branch */
            from: string;
            /** @description branch */
            to: string;
            /**
             * Format: int64
             * @description its length now
             */
            from_length: number;
            /**
             * Format: int64
             * @description its length now
             */
            to_length: number;
            /** @description who */
            by: string | null;
            reason: string;
            /**
             * Format: date-time
             * @description when it was made
             */
            created_at: string;
        };
        /** @description A page of the head log. */
        MoveList: {
            moves: components["schemas"]["Move"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description A branch of a session, or (with `number`) a version of a message. */
        Branch: {
            /** @description what `switch` takes */
            branch_id: string;
            /** @description the version, or the last entry of the branch's path */
            entry_id: string | null;
            /**
             * Format: int64
             * @description version, from 1
             */
            number?: number;
            /** @description branch that it left */
            parent_id?: string | null;
            /**
             * Format: int64
             * @description entries shared with it
             */
            base?: number;
            /**
             * Format: int64
             * @description of its path
             */
            length?: number;
            /** @enum {string} */
            type: "explicit" | "auto-edit" | "auto-regenerate";
            /** @description on the present path */
            current: boolean;
            /**
             * Format: date-time
             * @description when it was made
             */
            created_at: string;
            /** @description first line */
            preview: string;
            /** @description whose it is, among the branches of a tree */
            session_id?: string;
        };
        /** @description Versions of a message, or branches of a session or a tree, oldest first. */
        BranchList: {
            branches: components["schemas"]["Branch"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description Where something leaves the present path. */
        ForkPoint: {
            /**
             * Format: int64
             * @description entries kept
             */
            position: number;
            /** @description the last one kept */
            entry_id: string | null;
            /** @description the fork; null: a branch of this session */
            session_id: string | null;
            branch_id: string | null;
        };
        /** @description By position. */
        ForkPointList: {
            fork_points: components["schemas"]["ForkPoint"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        Tags: {
            /** @description sorted */
            tags: string[];
        };
        TagCount: {
            tag: string;
            /**
             * Format: int64
             * @description how many have it
             */
            sessions: number;
        };
        /** @description By name. */
        TagList: {
            tags: components["schemas"]["TagCount"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        Member: {
            user: string;
            /** @enum {string} */
            level: "reader" | "writer" | "manager" | "owner";
        };
        /** @description Members belong to the tree. */
        MemberList: {
            members: components["schemas"]["Member"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        Comparison: {
            /**
             * Format: int64
             * @description entries that all sides share
             */
            shared: number;
            sides: components["schemas"]["CompareSide"][];
            /** @description a row a turn; for each side [from, to) in its `entries` */
            turns: components["schemas"]["TurnRow"][];
        };
        /** @description [[from, to], …], a pair a side. */
        TurnRow: unknown;
        CompareSide: {
            session_id: string;
            branch_id: string;
            title: string;
            agent: components["schemas"]["Agent"] | null;
            head: components["schemas"]["Head"];
            /**
             * Format: int64
             * @description entries past the shared ones
             */
            own: number;
            /**
             * Format: date-time
             * @description of its own
             */
            first_at: string | null;
            /**
             * Format: date-time
             * @description of its own
             */
            last_at: string | null;
            /** @description of its own part */
            usage: components["schemas"]["UsageSum"];
            /** @description the first of its own */
            entries: components["schemas"]["Entry"][];
        };
        Side: {
            session_id: string;
            branch_id: string;
        };
        /** @description A side; as a string: SESSION or SESSION@BRANCH. */
        SideIn: string | {
            session_id: string;
            /** @description its head when not given */
            branch_id?: string;
        };
        Verdict: {
            /**
             * Format: int64
             * @description from 1
             */
            number: number;
            sides: components["schemas"]["Side"][];
            /**
             * Format: int64
             * @description index into sides; null: a tie
             */
            winner: number | null;
            reason: string;
            /** @description who */
            by: string | null;
            /**
             * Format: date-time
             * @description when it was made
             */
            created_at: string;
        };
        /** @description Newest first. */
        VerdictList: {
            verdicts: components["schemas"]["Verdict"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        Hit: {
            /** @description one that holds it and that the caller may see */
            session_id: string;
            /** @description of the session */
            title: string;
            entry_id: string;
            branch_id: string;
            /** Format: int64 */
            position: number;
            /** @enum {string} */
            role: "user" | "assistant" | "tool" | "system";
            /** @description not on that session's present path */
            abandoned: boolean;
            /** @description the text around it */
            highlight: string;
            /** @description what matched */
            marks: components["schemas"]["Mark"][];
            /** @description higher is better */
            score: number;
            /**
             * Format: date-time
             * @description when it was made
             */
            created_at: string;
        };
        /** @description Characters of `highlight`. */
        Mark: {
            /** Format: int64 */
            start: number;
            /** Format: int64 */
            length: number;
        };
        /** @description Best first. */
        HitList: {
            hits: components["schemas"]["Hit"][];
            next_cursor: string | null;
            /** @description ranked among the newest matches only: there were too many */
            bounded: boolean;
        };
        Attachment: {
            id: string;
            name: string;
            media_type: string;
            /**
             * Format: int64
             * @description bytes
             */
            size: number;
            /** @description hex */
            sha256: string;
            /** @description who uploaded it */
            owner: string | null;
            /**
             * Format: date-time
             * @description when it was made
             */
            created_at: string;
            /**
             * Format: date-time
             * @description when it goes, while no entry refers to it
             */
            expires_at: string | null;
        };
        /** @description A share link. */
        Share: {
            id: string;
            session_id: string;
            /** @description the holder may write */
            write: boolean;
            /** @description who made it */
            created_by: string | null;
            /**
             * Format: date-time
             * @description when it was made
             */
            created_at: string;
            /**
             * Format: date-time
             * @description null: never
             */
            expires_at: string | null;
            /** @description only in the answer that made it */
            token?: string;
        };
        /** @description A set of trees that belong together, for its owner. */
        Sandbox: {
            /** @description `default`: those in no other */
            id: string;
            owner: string;
            /**
             * Format: date-time
             * @description null of `default`
             */
            created_at: string | null;
        };
        /** @description The caller's, `default` first. */
        SandboxList: {
            sandboxes: components["schemas"]["Sandbox"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        SandboxRemoved: {
            id: string;
            /**
             * Format: int64
             * @description trees that were in it and are in none now
             */
            trees: number;
        };
        /** @description Without their tokens. */
        ShareList: {
            shares: components["schemas"]["Share"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        SharedSession: {
            share: components["schemas"]["Share"];
            session: components["schemas"]["Session"];
        };
        Me: {
            user: string;
            client: string | null;
            roles: string[];
            /**
             * @description how the server knows
             * @enum {string}
             */
            auth: "local" | "tokens" | "oidc";
            admin: boolean;
            auditor: boolean;
            indexer: boolean;
        };
        /** @description An agent that is configured here. */
        AgentInfo: {
            /** @description that sessions refer to it by */
            name: string;
            /** @description what it is made of */
            kind: string;
            /** @description of its kind */
            about: string;
            /** @description answers where no agent is named */
            default: boolean;
            /** @description that it asks where a session names none */
            model?: string;
            /** @description others that a session may name */
            models?: string[];
            /**
             * Format: int64
             * @description tokens that its context has
             */
            context?: number;
            /** @description of a program that speaks ACP, as it told them last: a session's `options.mode` names one */
            modes?: Record<string, never>;
            /** @description likewise; `options.config` has values by id */
            config_options?: string[];
        };
        /** @description Who can answer here. */
        AgentList: {
            agents: components["schemas"]["AgentInfo"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description An agent. */
        AgentName: {
            /** @description that sessions refer to it by */
            name: string;
        };
        /** @description A model server that answers. */
        Nearby: {
            /** @description the program that listens there usually */
            name: string;
            /** @description for the setting `url` of an agent */
            url: string;
            /** @description at most 32 */
            models: string[];
        };
        /** @description Model servers on this machine. */
        NearbyList: {
            servers: components["schemas"]["Nearby"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description Of the last days. */
        Statistics: {
            /** Format: int64 */
            days: number;
            /**
             * Format: int64
             * @description who wrote, forked or moved
             */
            active_users: number;
            /**
             * Format: int64
             * @description of them, who forked
             */
            forked_users: number;
            /**
             * Format: int64
             * @description of them, who rewound, switched, undid
             */
            switched_users: number;
            /** @description forked_users / active_users */
            forked_share: number;
            /** @description switched_users / active_users */
            switched_share: number;
            /**
             * Format: int64
             * @description made in that time
             */
            sessions: number;
            /**
             * Format: int64
             * @description made in that time
             */
            forks: number;
            /**
             * Format: int64
             * @description made in that time
             */
            trees: number;
            /**
             * Format: int64
             * @description made in that time
             */
            entries: number;
            /** @description over the trees that were active */
            forks_per_tree: number;
        };
        StoreStats: {
            /** @description of the file */
            path: string;
            /**
             * Format: int64
             * @description version of the tables
             */
            schema: number;
            /** Format: int64 */
            trees: number;
            /** Format: int64 */
            sessions: number;
            /** Format: int64 */
            forks: number;
            /** Format: int64 */
            deleted: number;
            /** Format: int64 */
            branches: number;
            /** Format: int64 */
            entries: number;
            /** Format: int64 */
            attachments: number;
            /**
             * Format: int64
             * @description the same content counts once
             */
            attachment_bytes: number;
            /** Format: int64 */
            file_bytes: number;
            /** Format: int64 */
            wal_bytes: number;
            /** Format: int64 */
            search_bytes: number;
            /**
             * Format: int64
             * @description number of the newest event
             */
            events: number;
            /**
             * Format: int64
             * @description events that search has not seen yet
             */
            unindexed: number;
        };
        GcReport: {
            /**
             * Format: int64
             * @description past their grace: removed for good
             */
            sessions: number;
            /**
             * Format: int64
             * @description ephemeral ones found expired
             */
            expired: number;
            /** Format: int64 */
            branches: number;
            /** Format: int64 */
            entries: number;
            /** Format: int64 */
            bytes: number;
            /**
             * Format: int64
             * @description that no entry refers to
             */
            attachments: number;
            /** Format: int64 */
            attachment_bytes: number;
            dry_run: boolean;
        };
        FsckReport: {
            /** Format: int64 */
            trees: number;
            /** Format: int64 */
            sessions: number;
            /** Format: int64 */
            branches: number;
            /** Format: int64 */
            entries: number;
            /** Format: int64 */
            fault_count: number;
            /** @description the first 1,000 */
            faults: components["schemas"]["Fault"][];
        };
        Fault: {
            what: string;
            session_id: string | null;
            entry_id: string | null;
            branch_id: string | null;
            /** Format: int64 */
            position: number | null;
        };
        IndexReport: {
            /**
             * Format: int64
             * @description entries
             */
            indexed: number;
        };
        /** @description An API key. */
        Token: {
            id: string;
            user: string;
            client: string | null;
            roles: string[];
            note: string;
            /**
             * Format: date-time
             * @description when it was made
             */
            created_at: string;
            /**
             * Format: date-time
             * @description null: never
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description null: never
             */
            used_at: string | null;
            revoked: boolean;
            /** @description only in the answer that made it */
            secret?: string;
        };
        /** @description Without their secrets. */
        TokenList: {
            tokens: components["schemas"]["Token"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
