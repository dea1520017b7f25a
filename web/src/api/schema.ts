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
        /** @description A chat: an owner, an agent, tags, and a head, which is its current branch. */
        Session: {
            /** @description unique in the store */
            id: string;
            /** @description the tree it belongs to */
            tree_id?: string;
            /** @description as given; default: the first line of the first user message, `Fork of …` for a fork */
            title?: string;
            /** @description a user */
            owner?: string;
            /**
             * @description who may see it
             * @enum {string}
             */
            visibility?: "tree" | "private";
            /** @description the agent that answers */
            agent?: components["schemas"]["Agent"] | null;
            /** @description sorted */
            tags?: string[];
            /** @description its position in its history */
            head?: components["schemas"]["Head"];
            /** @description the head of its second log, if it has one */
            adk_head?: components["schemas"]["Head"];
            /** @description null for a root, or if the caller may not see the parent */
            forked_from?: components["schemas"]["ForkedFrom"] | null;
            /** @description the session that it was last merged into */
            merged_into?: string | null;
            /** @description the session whose provider cache contains the beginning of this history */
            cache_root?: string | null;
            /**
             * Format: int64
             * @description number of entries up to the last one that it appended; all, if it is this session
             */
            cache_root_shared?: number;
            /** @description the running turn */
            running?: components["schemas"]["Running"] | null;
            /** @description as given */
            metadata?: Record<string, never>;
            /** @description hidden from lists that do not ask for archived sessions */
            archived?: boolean;
            /**
             * Format: date-time
             * @description when an ephemeral session is deleted
             */
            expires_at?: string | null;
            /**
             * Format: date-time
             * @description in the list of deleted sessions: when it was deleted, or expired
             */
            deleted_at?: string;
            /**
             * Format: date-time
             * @description when it was created
             */
            created_at?: string;
            /**
             * Format: date-time
             * @description when it last changed
             */
            updated_at?: string;
            /**
             * @description the caller's access level; only if the session is read alone
             * @enum {string}
             */
            level?: "reader" | "writer" | "manager" | "owner";
            /** @description the branch that it opens at, if it has one; only if the session is read alone */
            favourite?: string;
            /** @description in the answer to fork and rewind: where it was really cut */
            cut?: components["schemas"]["Cut"];
            /** @description in the answer to sync: what was done */
            sync?: components["schemas"]["SyncDone"];
            /** @description in the answer of merge: what was done */
            merge?: components["schemas"]["MergeDone"];
            /**
             * Format: int64
             * @description number of forks above it
             */
            depth?: number;
            /** @description in trees: the ids from the root, at most the last 64 */
            path?: string[];
            /** @description in trees and ancestries: a placeholder with only its id and place */
            deleted?: boolean;
        };
        /** @description A page of sessions. */
        SessionList: {
            sessions: components["schemas"]["Session"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description A session's position in its history. */
        Head: {
            /** @description such as `b17` */
            branch_id: string | null;
            /**
             * Format: int64
             * @description number of entries on the path
             */
            length: number;
            /** @description the last entry; null if the history is empty */
            entry_id: string | null;
            /** @description hash of the whole path; two histories are equal if and only if these are */
            prefix_hash: string;
            /** @description stands for the overlays in force; left out when there are none */
            overlay_set?: string;
        };
        /** @description The head as it was read. Only `prefix_hash` is compared; it may also be sent alone, as a string. */
        ExpectedHead: string | {
            /** @description 64 hex digits */
            prefix_hash: string;
        };
        /** @description The agent that answers. */
        Agent: {
            name: string;
            provider?: string;
            model?: string;
            /** @description its working folder */
            folder?: string;
            /** @description its other settings */
            options?: Record<string, never>;
        };
        /** @description The agent that answers; a string is its name. */
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
            /** @description null: nothing is shared */
            entry_id: string | null;
            /** @enum {string} */
            side: "before" | "after";
            /** @enum {string} */
            type: "explicit" | "auto-edit" | "auto-regenerate";
            reason: string;
            /** @description its creator */
            created_by: components["schemas"]["CreatedBy"];
        };
        /** @description The creator of a fork. */
        CreatedBy: {
            /** @enum {string} */
            kind: "user" | "system";
            /** @description default: the caller */
            id?: string | null;
        };
        /** @description A cut point: an entry and a side of it. */
        At: {
            /** @description an entry on the path */
            entry_id: string;
            /**
             * @description default `after`: the entry is kept
             * @enum {string}
             */
            side?: "before" | "after";
        };
        /** @description Where a fork or rewind was really cut. */
        Cut: {
            /** @enum {string} */
            policy: "exact" | "snap_before" | "snap_after";
            /** @description null: nothing was kept */
            entry_id: string | null;
            /** @enum {string} */
            side: "before" | "after";
            /**
             * Format: int64
             * @description number of entries kept
             */
            position: number;
        };
        /** @description What a sync did. */
        SyncDone: {
            /**
             * Format: int64
             * @description number of entries of the list that existed already
             */
            matched: number;
            /**
             * Format: int64
             * @description number of entries appended
             */
            added: number;
            /** @description the head moved to a new branch */
            moved: boolean;
        };
        /** @description What was deleted, or would be. */
        Deleted: {
            /** @description ids of sessions */
            sessions: string[];
            /**
             * Format: int64
             * @description number of entries that no other session shares
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
            /** @description the protocol of `body` */
            format: string;
            /** @description the content as sent by the client; the parts if format is `ramet` */
            body: unknown;
            turn_id: string | null;
            channel: string;
            author: string | null;
            /** @description the program that appended it */
            client: string | null;
            usage: components["schemas"]["Usage"] | null;
            state_delta: Record<string, never> | null;
            /** @description which of its versions it is, for example 2 of 3 */
            versions?: components["schemas"]["VersionOf"];
            /** @description a copy that a merge made: where it came from, as far as the caller may see it */
            origins?: components["schemas"]["Origin"][];
            /** @description its content was erased: `text` is `[erased]` */
            erased?: components["schemas"]["Erased"];
            /**
             * @description the caller's own, if requested and given
             * @enum {string}
             */
            feedback?: "up" | "down";
            /** @description hash of the path up to it */
            prefix_hash: string;
            /**
             * Format: date-time
             * @description when it was created
             */
            created_at: string;
        };
        /** @description The place of an entry among the versions of a message. */
        VersionOf: {
            /**
             * Format: int64
             * @description from 1
             */
            number: number;
            /**
             * Format: int64
             * @description number of versions
             */
            count: number;
        };
        /** @description An entry to append. */
        EntryIn: {
            /** @description 1-255 bytes; default: a new UUIDv7 */
            id?: string;
            /** @enum {string} */
            role: "user" | "assistant" | "tool" | "system";
            /** @description the text; alternative to `parts` */
            text?: string;
            /** @description the parts; alternative to `text` */
            parts?: components["schemas"]["Part"][];
            /** @description the protocol of `body`; default `ramet` */
            format?: string;
            /** @description any JSON value, stored byte for byte; not with format `ramet` */
            body?: unknown;
            /** @description the turn it belongs to */
            turn_id?: string;
            /** @description default `history` */
            channel?: string;
            /** @description the author; default for role user: the caller */
            author?: string;
            /** @description tokens and cost */
            usage?: components["schemas"]["UsageIn"];
            /** @description changes to the state; null removes a key */
            state_delta?: Record<string, never>;
        };
        /** @description A new version of an entry. */
        EntryEdit: {
            /** @description 1-255 bytes; default: a new UUIDv7 */
            id?: string;
            /**
             * @description default: that of the old version
             * @enum {string}
             */
            role?: "user" | "assistant" | "tool" | "system";
            /** @description the text; alternative to `parts` */
            text?: string;
            /** @description the parts; alternative to `text` */
            parts?: components["schemas"]["Part"][];
            /** @description the protocol of `body`; default `ramet` */
            format?: string;
            /** @description any JSON value, stored byte for byte; not with format `ramet` */
            body?: unknown;
            /** @description the turn it belongs to */
            turn_id?: string;
            /** @description default `history` */
            channel?: string;
            /** @description the author; default for role user: the caller */
            author?: string;
            /** @description tokens and cost */
            usage?: components["schemas"]["UsageIn"];
            /** @description changes to the state; null removes a key */
            state_delta?: Record<string, never>;
        };
        /** @description `{type: text, text}`, `{type: thinking, text}`, `{type: tool_call, id, name, input}`, `{type: tool_result, id, output, is_error?}`, `{type: file, attachment_id | url, name?, media_type?}` or `{type: data, data}`. */
        Part: {
            /** @enum {string} */
            type: "text" | "thinking" | "tool_call" | "tool_result" | "file" | "data";
            text?: string;
            /** @description links a tool call and its result */
            id?: string;
            /** @description name of the tool or file */
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
            /** @description head of the path read */
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
            /** @description head of the branch written to */
            head: components["schemas"]["Head"];
            /**
             * Format: int64
             * @description number of new entries
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
            /** @description empty if there is no cost */
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
            /** @description with at most 9 decimal digits */
            cost?: number;
            /** @description default USD */
            currency?: string;
        };
        /** @description A sum of usage. */
        UsageSum: {
            /**
             * Format: int64
             * @description number of entries with usage
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
            /** @description null if there is more than one currency */
            cost: number | null;
            /** @description null if there is more than one */
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
            /** @description entries that this session appended, including abandoned ones */
            own: components["schemas"]["UsageSum"];
            /** @description entries on the current path */
            path: components["schemas"]["UsageSum"];
            /** @description every entry of the tree, once */
            tree: components["schemas"]["UsageSum"];
        };
        State: {
            /** @description with sorted keys */
            state: Record<string, never>;
        };
        /** @description A user's feedback on an entry. */
        Feedback: {
            user: string;
            /**
             * @description null: removed
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
        /** @description The feedback of all users, oldest first. */
        FeedbackList: {
            feedback: components["schemas"]["Feedback"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description Where a copy came from, or where an entry went. */
        Origin: {
            session_id: string;
            entry_id: string;
            /** @description the branch that owns the entry, which may be another than the head of the session */
            branch_id: string;
        };
        /** @description Where an entry came from. */
        OriginList: {
            origins: components["schemas"]["Origin"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description Where an entry went. */
        DestinationList: {
            destinations: components["schemas"]["Origin"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description An entry to copy. */
        Pick: {
            /** @description the source when not given, or the target itself when there is none */
            session_id?: string;
            /** @description a branch of that session whose path holds the entry; its head when not given */
            branch_id?: string;
            entry_id: string;
        };
        /** @description The source of a merge; a string is its session id. */
        MergeFrom: string | {
            /** @description a session */
            session_id?: string;
            /** @description a branch of it; its head when not given */
            branch_id?: string;
            /** @description instead of them: token of a share link. Only `land` with a text works from there */
            share?: string;
        };
        /** @description What a merge would bring. */
        MergePreview: {
            /** @description as they would be appended, but for ids, turn ids and times, which the merge itself makes; of a fast-forward the entries that would be shared, at most 1,000 */
            entries: components["schemas"]["Entry"][];
            /**
             * Format: int64
             * @description of all of them
             */
            count: number;
        };
        /** @description What a merge did. */
        MergeDone: {
            /** @enum {string} */
            mode: "fast_forward" | "splice" | "pick" | "land";
            /**
             * Format: int64
             * @description entries that came onto the path
             */
            count: number;
        };
        /** @description A running turn. Events `turn.delta` continue from here. */
        Running: {
            turn_id: string;
            /** @description the branch it writes to */
            branch_id: string;
            /** @description the last entry of the message it answers */
            entry_id: string | null;
            /** @description its output so far that is not in an entry yet */
            text: string;
            /**
             * Format: int64
             * @description number of characters before that text, which are in entries
             */
            offset: number;
            /** @description the same for its thinking */
            thinking: string;
            /** @description the agent that answers */
            agent: string;
            /** @description the question it waits for an answer to */
            question: components["schemas"]["Question"] | null;
            /** @description its latest plan */
            plan: unknown;
        };
        /** @description An agent's question to the user. */
        Question: {
            id: string;
            /**
             * @description `permission`: the answer is the id of an option; `input`: the answer is a text
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
            /** @description label for users */
            name?: string;
        };
        /** @description One answer of an agent, in progress or complete. */
        Turn: {
            id: string;
            session_id: string;
            /** @description the branch it writes to */
            branch_id: string;
            /** @description the last entry of the message it answers */
            entry_id: string | null;
            /** @description the agent that answers */
            agent: string | null;
            /** @description id shared by the turns of a fan-out */
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
        /** @description The result of a turn. */
        TurnDone: {
            /** @description the session it ran in: the fork, if there was one */
            session_id: string;
            turn_id: string;
            /** @enum {string} */
            status: "running" | "done" | "cancelled" | "failed" | "interrupted";
            /** @description why it failed */
            error?: string;
            /** @description the message and its answer */
            entries: components["schemas"]["Entry"][];
        };
        /** @description The results of a fan-out. */
        FanDone: {
            /** @description id shared by the turns */
            group: string;
            /** @description in the order of the agents */
            turns: components["schemas"]["TurnDone"][];
        };
        /** @description What the agent of a turn was sent. */
        Prompt: {
            /** @description an array: as they were sent, in the words of the agent's protocol */
            messages: unknown;
            /** @description the system prompt; "" when there was none */
            instructions: string | null;
            /** @description what was sent beside them: model, options … */
            settings: Record<string, never> | null;
            /** @description tokens of the answer */
            usage: components["schemas"]["Usage"] | null;
            /** @description false: it is not known */
            known: boolean;
        };
        /** @description The body of `fork`. */
        ForkIn: {
            /** @description where to cut; default: the head */
            at?: components["schemas"]["At"];
            /** @description the branch of the session whose path contains `at` */
            branch_id?: string;
            /**
             * @description default `exact`
             * @enum {string}
             */
            cut?: "exact" | "snap_before" | "snap_after";
            /** @description where to cut the `adk` log */
            adk_at?: components["schemas"]["At"];
            /** @description 1-255 bytes; default: a new UUIDv7 */
            id?: string;
            /** @description at most 500 characters */
            title?: string;
            /** @description at most 2,000 characters */
            reason?: string;
            /** @description at most 64 */
            tags?: string[];
            /** @description default: the parent's */
            agent?: components["schemas"]["AgentIn"];
            /** @description at most 64 KiB */
            metadata?: Record<string, never>;
            /**
             * @description default `explicit`
             * @enum {string}
             */
            type?: "explicit" | "auto-edit" | "auto-regenerate";
            /** @enum {string} */
            visibility?: "tree" | "private";
            /** @description delete it after this many seconds */
            ephemeral_seconds?: number;
            /** @description default: the caller */
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
            kind: "rewind" | "undo" | "redo" | "switch" | "edit" | "regenerate" | "sync" | "merge" | "overlay";
            /** @description branch */
            from: string;
            /** @description branch */
            to: string;
            /**
             * Format: int64
             * @description its current length
             */
            from_length: number;
            /**
             * Format: int64
             * @description its current length
             */
            to_length: number;
            /** @description who */
            by: string | null;
            reason: string;
            /**
             * Format: date-time
             * @description when it was created
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
            /** @description for `switch` */
            branch_id: string;
            /** @description the version, or the last entry of the branch's path */
            entry_id: string | null;
            /**
             * Format: int64
             * @description version, from 1
             */
            number?: number;
            /** @description the branch it left */
            parent_id?: string | null;
            /**
             * Format: int64
             * @description number of entries shared with it
             */
            base?: number;
            /**
             * Format: int64
             * @description length of its path
             */
            length?: number;
            /** @enum {string} */
            type: "explicit" | "auto-edit" | "auto-regenerate";
            /** @description on the current path */
            current: boolean;
            /**
             * Format: date-time
             * @description when it was created
             */
            created_at: string;
            /** @description first line */
            preview: string;
            /** @description the session it belongs to, in a list of a tree's branches */
            session_id?: string;
            /** @description its name, if it has one */
            name?: string;
            /** @description true: its session opens here */
            favourite?: boolean;
            /**
             * Format: date-time
             * @description when it was pruned
             */
            pruned_at?: string;
            /** @description true: pruned, and garbage collection removed what nothing else needs */
            removed?: boolean;
        };
        /** @description Versions of a message, or branches of a session or a tree, oldest first. */
        BranchList: {
            branches: components["schemas"]["Branch"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description Where a fork or branch leaves the current path. */
        ForkPoint: {
            /**
             * Format: int64
             * @description number of entries kept
             */
            position: number;
            /** @description the last entry kept */
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
        /** @description What becomes of an entry in the context view. */
        Overlay: {
            /** @description like `o17` */
            id: string;
            entry_id: string;
            /**
             * Format: int64
             * @description of the entry
             */
            position: number;
            /** @enum {string} */
            action: "hide" | "replace" | "hide_before";
            /** @description of `replace`: what the entry says instead */
            text?: string;
            /** @description who */
            by: string | null;
            /**
             * Format: date-time
             * @description when it was created
             */
            created_at: string;
        };
        /** @description Those in force, in the order of the path; all of them. */
        OverlayList: {
            overlays: components["schemas"]["Overlay"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description An overlay that was set or removed. */
        OverlayDone: {
            /** @description like `o17` */
            id: string;
            /** @description a new, empty branch; its `prefix_hash` is what it was */
            head: components["schemas"]["Head"];
        };
        /** @description What was pruned or restored, or would be pruned. */
        Pruned: {
            /** @description such as `b17` */
            branches: string[];
            /**
             * Format: int64
             * @description number of entries that garbage collection will remove; after a restore: that it will not
             */
            entries: number;
            /** @description with `others`: branches that stay because something needs them, at most 100 */
            kept: components["schemas"]["KeptBranch"][];
            /** @description nothing was done */
            dry_run: boolean;
        };
        /** @description A branch that was not pruned. */
        KeptBranch: {
            branch_id: string;
            /** @description what needs it */
            reason: string;
        };
        /** @description Places worth forking, and tags, found in the text. */
        Suggestions: {
            /** @description by position, at most 100 */
            suggestions: components["schemas"]["Suggestion"][];
            /** @description at most 5, the best first */
            tags: string[];
            /** @description the agent that chose among them, if one did */
            refined_by?: string;
        };
        /** @description A place worth forking. */
        Suggestion: {
            /** @description a fork `before` it can continue another way */
            entry_id: string;
            /** @enum {string} */
            kind: "correction" | "failed_tool" | "retry" | "topic";
            /** @description one line */
            why: string;
        };
        /** @description A session pinned at an entry. */
        Template: {
            id: string;
            name: string;
            /** @description names that a chat needs a value for */
            placeholders: string[];
            /** @description the session that it is pinned in */
            session_id: string;
            /** @description the last entry that a chat begins with */
            entry_id: string;
            /**
             * Format: int64
             * @description number of entries that a chat begins with
             */
            length: number;
            created_by: string | null;
            /**
             * Format: date-time
             * @description when it was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description when it was last changed
             */
            updated_at: string;
        };
        /** @description Newest first. */
        TemplateList: {
            templates: components["schemas"]["Template"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description What a session was made with. */
        TemplateOrigin: {
            /** @description null: it was not made from a template. The template itself may be gone */
            template_id: string | null;
            /** @description a text for each placeholder */
            values: Record<string, never>;
        };
        Tags: {
            /** @description sorted */
            tags: string[];
        };
        TagCount: {
            tag: string;
            /**
             * Format: int64
             * @description number of sessions that have it
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
             * @description number of entries that all sides share
             */
            shared: number;
            sides: components["schemas"]["CompareSide"][];
            /** @description one row per turn: for each side [from, to) in its `entries` */
            turns: components["schemas"]["TurnRow"][];
        };
        /** @description [[from, to], …], one pair per side. */
        TurnRow: unknown;
        CompareSide: {
            session_id: string;
            branch_id: string;
            title: string;
            agent: components["schemas"]["Agent"] | null;
            head: components["schemas"]["Head"];
            /**
             * Format: int64
             * @description number of entries after the shared ones
             */
            own: number;
            /**
             * Format: date-time
             * @description time of its first own entry
             */
            first_at: string | null;
            /**
             * Format: date-time
             * @description time of its last own entry
             */
            last_at: string | null;
            /** @description usage of its own entries */
            usage: components["schemas"]["UsageSum"];
            /** @description its first own entries */
            entries: components["schemas"]["Entry"][];
        };
        Side: {
            session_id: string;
            branch_id: string;
        };
        /** @description A side; as a string: SESSION or SESSION@BRANCH. */
        SideIn: string | {
            session_id: string;
            /** @description default: its head */
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
             * @description when it was created
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
            /** @description a session that contains it and that the caller may see */
            session_id: string;
            /** @description title of the session */
            title: string;
            entry_id: string;
            branch_id: string;
            /** Format: int64 */
            position: number;
            /** @enum {string} */
            role: "user" | "assistant" | "tool" | "system";
            /** @description not on that session's current path */
            abandoned: boolean;
            /** @description the text around the match */
            highlight: string;
            /** @description the matching parts of `highlight` */
            marks: components["schemas"]["Mark"][];
            /** @description higher is better */
            score: number;
            /**
             * Format: date-time
             * @description when it was created
             */
            created_at: string;
        };
        /** @description A range of characters in `highlight`. */
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
            /** @description too many matches: only the newest were ranked */
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
            /** @description the user who uploaded it */
            owner: string | null;
            /**
             * Format: date-time
             * @description when it was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description when it expires, unless an entry refers to it
             */
            expires_at: string | null;
        };
        /** @description A share link. */
        Share: {
            id: string;
            session_id: string;
            /** @description the holder may write */
            write: boolean;
            /** @description its creator */
            created_by: string | null;
            /**
             * Format: date-time
             * @description when it was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description null: never
             */
            expires_at: string | null;
            /** @description only in the answer that created it */
            token?: string;
        };
        /** @description A set of trees that belong together, visible to its owner only. */
        Sandbox: {
            /** @description `default`: the trees in no other sandbox */
            id: string;
            owner: string;
            /**
             * Format: date-time
             * @description null for `default`
             */
            created_at: string | null;
            /** @description URL of the OpenCode server in it */
            opencode?: string;
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
             * @description number of trees that were in it
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
             * @description how the server identifies callers
             * @enum {string}
             */
            auth: "local" | "tokens" | "oidc";
            admin: boolean;
            auditor: boolean;
            indexer: boolean;
        };
        /** @description A configured agent. */
        AgentInfo: {
            /** @description the name that sessions use */
            name: string;
            /** @description the kind of agent */
            kind: string;
            /** @description description of its kind */
            about: string;
            /** @description answers if no agent is named */
            default: boolean;
            /** @description its model if a session names none */
            model?: string;
            /** @description other models that a session may name */
            models?: string[];
            /**
             * Format: int64
             * @description size of its context in tokens
             */
            context?: number;
            /** @description for an ACP program, as it last reported them: a session's `options.mode` names one */
            modes?: Record<string, never>;
            /** @description likewise; `options.config` contains values by id */
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
            /** @description the name that sessions use */
            name: string;
        };
        /** @description A model server that responds. */
        Nearby: {
            /** @description the program that usually listens there */
            name: string;
            /** @description for the setting `url` of an agent */
            url: string;
            /** @description at most 32 models */
            models: string[];
        };
        /** @description Model servers on this machine. */
        NearbyList: {
            servers: components["schemas"]["Nearby"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description Statistics of the last days. */
        Statistics: {
            /** Format: int64 */
            days: number;
            /**
             * Format: int64
             * @description number of users who wrote, forked or moved
             */
            active_users: number;
            /**
             * Format: int64
             * @description of these, users who forked
             */
            forked_users: number;
            /**
             * Format: int64
             * @description of these, users who rewound, switched or undid
             */
            switched_users: number;
            /** @description forked_users / active_users */
            forked_share: number;
            /** @description switched_users / active_users */
            switched_share: number;
            /**
             * Format: int64
             * @description created in that time
             */
            sessions: number;
            /**
             * Format: int64
             * @description created in that time
             */
            forks: number;
            /**
             * Format: int64
             * @description created in that time
             */
            trees: number;
            /**
             * Format: int64
             * @description appended in that time
             */
            entries: number;
            /** @description average over active trees */
            forks_per_tree: number;
        };
        ImportReport: {
            /** Format: int64 */
            sessions_added: number;
            /** Format: int64 */
            entries_added: number;
            /**
             * Format: int64
             * @description there before
             */
            sessions_known: number;
            /**
             * Format: int64
             * @description with `from`: conversations read
             */
            conversations?: number;
            /**
             * Format: int64
             * @description with `from`: messages read
             */
            messages?: number;
            /**
             * Format: int64
             * @description with `from`: sessions added that are forks of others
             */
            forks_added?: number;
            /**
             * Format: int64
             * @description with `from`: messages that are copies, and are stored once
             */
            entries_shared?: number;
            /**
             * Format: int64
             * @description with `from`: their size
             */
            bytes_shared?: number;
            /** @description with `from`: what was left out */
            skipped?: components["schemas"]["ImportSkip"][];
        };
        ImportSkip: {
            /** @description what was left out, and why */
            what: string;
            /**
             * Format: int64
             * @description how many of them
             */
            count: number;
            /** @description where the first one is: `FILE:LINE`; empty when that is unknown */
            first: string;
        };
        ImportOffset: {
            /** @description its name */
            upload: string;
            /**
             * Format: int64
             * @description bytes that are there; 0: none
             */
            offset: number;
        };
        /** @description What is on hold is neither deleted nor collected, pruned, erased or removed by a rule. */
        Hold: {
            tree_id: string;
            /** @description null: the whole tree */
            session_id: string | null;
            /** @description set by an administrator, who alone can release it */
            administrator: boolean;
            /** @description who set it; for the owner of the tree and administrators */
            by: string | null;
            /** @description for the owner of the tree and administrators */
            reason: string;
            /**
             * Format: date-time
             * @description when it was created
             */
            created_at: string;
        };
        HoldList: {
            holds: components["schemas"]["Hold"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description A rule of retention. */
        Rule: {
            /** @description 1-64 characters */
            name: string;
            /**
             * Format: int64
             * @description at least so old; 0: at once, which needs another condition
             */
            older_than_seconds: number;
            /**
             * @description what the age counts from: the last change, its creation, or archiving; default `updated`
             * @enum {string}
             */
            since?: "updated" | "created" | "archived";
            /** @description only sessions with this tag; null: any */
            tag?: string | null;
            /** @description only sessions of this agent; null: any */
            agent?: string | null;
            /**
             * @description ephemeral sessions; default `include`
             * @enum {string}
             */
            ephemeral?: "include" | "only" | "exclude";
            /**
             * @description archived sessions; default `include`
             * @enum {string}
             */
            archived?: "include" | "only" | "exclude";
            /** @description private sessions, too; default false */
            private?: boolean;
            /** @description who set it */
            by: string | null;
            /**
             * Format: date-time
             * @description when it was created
             */
            created_at: string;
        };
        /** @description A rule. All that it names must hold. */
        RuleIn: {
            /** @description 1-64 characters */
            name: string;
            /**
             * Format: int64
             * @description at least so old; 0: at once, which needs another condition
             */
            older_than_seconds: number;
            /**
             * @description what the age counts from: the last change, its creation, or archiving; default `updated`
             * @enum {string}
             */
            since?: "updated" | "created" | "archived";
            /** @description only sessions with this tag; null: any */
            tag?: string | null;
            /** @description only sessions of this agent; null: any */
            agent?: string | null;
            /**
             * @description ephemeral sessions; default `include`
             * @enum {string}
             */
            ephemeral?: "include" | "only" | "exclude";
            /**
             * @description archived sessions; default `include`
             * @enum {string}
             */
            archived?: "include" | "only" | "exclude";
            /** @description private sessions, too; default false */
            private?: boolean;
        };
        Retention: {
            /** @description the server applies the rules by itself */
            enabled: boolean;
            /**
             * Format: date-time
             * @description when a dry run was made with exactly these rules; null: not yet
             */
            tried_at: string | null;
            /** @description in order: the first that matches takes a session */
            rules: components["schemas"]["Rule"][];
        };
        /** @description A session that a rule has removed, or would. */
        Removal: {
            session_id: string;
            tree_id: string;
            rule: string;
            /**
             * Format: int64
             * @description that the session had appended itself; forks may still have some of them
             */
            entries: number;
            /** @description who ran the rules; null: the server by itself */
            by: string | null;
            /**
             * Format: date-time
             * @description null in a dry run
             */
            removed_at: string | null;
        };
        /** @description Newest first. */
        RemovalList: {
            removals: components["schemas"]["Removal"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        RetentionReport: {
            dry_run: boolean;
            /** @description another node is running the rules */
            skipped: boolean;
            /**
             * Format: int64
             * @description sessions
             */
            looked_at: number;
            /**
             * Format: int64
             * @description removed, or what would be
             */
            sessions: number;
            /**
             * Format: int64
             * @description that these sessions had appended themselves
             */
            entries: number;
            /** @description the first 1,000 */
            removals: components["schemas"]["Removal"][];
        };
        RetentionExplanation: {
            session_id: string;
            /** @description a run of the rules would remove it */
            goes: boolean;
            /** @description the first that matches; null: none does */
            rule: string | null;
            /** @description why it stays, in words; null: it goes */
            kept: string | null;
            rules: components["schemas"]["RuleVerdict"][];
            /**
             * Format: int64
             * @description that the session has appended itself
             */
            entries: number;
            /**
             * Format: int64
             * @description that gc would remove with it
             */
            freed: number;
            /** @description the first 100 */
            needed_by: components["schemas"]["NeededBy"][];
            /**
             * Format: int64
             * @description all of them
             */
            needed_by_count: number;
        };
        RuleVerdict: {
            rule: string;
            matches: boolean;
            /** @description in words */
            why: string;
        };
        /** @description Another session that keeps entries of the explained one. */
        NeededBy: {
            /** @description null: one that the caller may not see */
            session_id: string | null;
            /** @description the branch of the explained session */
            branch_id: string;
            /**
             * Format: int64
             * @description the first entry that it needs, counted from 1 along the path
             */
            first: number;
            /**
             * Format: int64
             * @description the last one
             */
            last: number;
        };
        /** @description An entry whose content was erased. */
        Erased: {
            /**
             * Format: date-time
             * @description when
             */
            at: string;
            /** @description by whom, if the caller may know */
            by?: string;
            reason: string;
        };
        /** @description An erasure that took entries of a history. */
        Erasure: {
            /**
             * Format: date-time
             * @description when
             */
            at: string;
            /** @description by whom, if the caller may know */
            by?: string;
            reason: string;
            /**
             * Format: int64
             * @description how many of this history
             */
            entries: number;
        };
        /** @description Newest first, at most the last 1,000. */
        ErasureList: {
            erasures: components["schemas"]["Erasure"][];
            /** @description `cursor` of the next page; null at the end */
            next_cursor: string | null;
        };
        /** @description An entry of a session. */
        EraseEntry: {
            /** @description a session that has it */
            session_id: string;
            entry_id: string;
            /** @description the branch whose path has it; the head when not given */
            branch_id?: string;
        };
        EraseDone: {
            receipt: components["schemas"]["Receipt"];
        };
        /** @description What an erasure took, and what it left. */
        Receipt: {
            /** Format: date-time */
            at: string;
            by: string | null;
            reason: string;
            /** @description nothing was changed */
            dry_run: boolean;
            /**
             * Format: int64
             * @description erased, with copies and raw events
             */
            entries: number;
            /**
             * Format: int64
             * @description of those named: erased before
             */
            already: number;
            went: components["schemas"]["EraseLine"][];
            stayed: components["schemas"]["EraseLine"][];
            /** @description sessions that the caller may see, at most 1,000 */
            places: components["schemas"]["ErasePlace"][];
            /**
             * Format: int64
             * @description entries in other sessions
             */
            elsewhere: number;
            /** @description what erasing cannot do */
            notes: string[];
        };
        /** @description Something that went, or stayed. */
        EraseLine: {
            what: string;
            /** Format: int64 */
            count: number;
            /** @description why it stayed */
            why?: string;
        };
        /** @description A session in which entries were erased. */
        ErasePlace: {
            session_id: string;
            /** Format: int64 */
            entries: number;
        };
        StoreStats: {
            /** @description path of the file */
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
             * @description identical content counts once
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
             * @description number of events not indexed yet
             */
            unindexed: number;
        };
        GcReport: {
            /**
             * Format: int64
             * @description removed for good after their grace period
             */
            sessions: number;
            /**
             * Format: int64
             * @description expired ephemeral sessions
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
             * @description attachments that no entry refers to
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
            /**
             * Format: int64
             * @description entries whose content was erased
             */
            erased: number;
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
             * @description when it was created
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
            /** @description only in the answer that created it */
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
