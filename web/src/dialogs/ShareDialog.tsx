// SPDX-License-Identifier: Apache-2.0
// The dialog "Share": which people can see the chat. A link opens this chat only; members have access to
// its whole tree.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { errorText } from "../api/client";
import * as ramet from "../api/ramet";
import type { Level, Member, Session, Share } from "../api/types";
import { chatPath } from "../app/router";
import { copyText } from "../chat/copy";
import { useMe } from "../state/me";
import { needSession, setVisibility, useSessions } from "../state/sessions";
import {
  Ago,
  Button,
  Dialog,
  IconButton,
  IconClose,
  IconCopy,
  IconLink,
  Note,
  Select,
  Spinner,
  TextField,
  toast,
} from "../ui";
import { closeDialog, giveFocusBack } from "./dialogs";

const DAY = 24 * 60 * 60;
const LIVES = [
  { seconds: DAY, text: "1 day" },
  { seconds: 7 * DAY, text: "7 days" },
  { seconds: 30 * DAY, text: "30 days" },
  { seconds: 0, text: "Until it is ended" },
];
const LEVELS: { level: Level; text: string }[] = [
  { level: "reader", text: "Reader" },
  { level: "writer", text: "Writer" },
  { level: "manager", text: "Manager" },
  { level: "owner", text: "Owner" },
];

export const shareUrl = (sessionId: string, token: string) =>
  location.origin + chatPath(sessionId, { share: token });

async function copyLink(link: string): Promise<void> {
  try {
    await copyText(link);
    toast("Copied");
  } catch {
    toast("The browser does not let the page copy: mark the link and copy it.");
  }
}

// ------------------------------------------------------------------ links

function Links({ session }: { session: Session }) {
  const { id } = session;
  const links = useQuery({ queryKey: ["shares", id], queryFn: async () => (await ramet.listShares(id)).shares });
  const [write, setWrite] = useState("read");
  const [life, setLife] = useState(String(7 * DAY));
  const [made, setMade] = useState<Share | null>(null);
  const create = useMutation({
    mutationFn: () => {
      const seconds = Number(life);
      return ramet.createShare(id, {
        write: write === "write",
        ...(seconds ? { expires_seconds: seconds } : {}),
      });
    },
    onSuccess: (share) => {
      setMade(share);
      void links.refetch();
    },
  });
  const revoke = useMutation({
    mutationFn: (share: Share) => ramet.revokeShare(id, share.id),
    onSuccess: (_, share) => {
      if (made?.id === share.id) setMade(null);
      void links.refetch();
    },
  });
  const error = create.error ?? revoke.error ?? links.error;

  return (
    <section className="dlg-stack" aria-label="Links">
      <h3>Links</h3>
      <p className="muted">
        Whoever has a link reads this chat with its versions, nothing else, without an account. Forking it asks for a sign-in.
      </p>
      <div className="dlg-line">
        <Select label="May" value={write} onChange={(e) => setWrite(e.target.value)}>
          <option value="read">Read</option>
          <option value="write">Read and write</option>
        </Select>
        <Select label="For" value={life} onChange={(e) => setLife(e.target.value)}>
          {LIVES.map((l) => (
            <option key={l.seconds} value={l.seconds}>
              {l.text}
            </option>
          ))}
        </Select>
        <Button icon={<IconLink />} busy={create.isPending} onClick={() => create.mutate()}>
          Create link
        </Button>
      </div>
      {made?.token && (
        <div className="dlg-made">
          <div className="dlg-line">
            <TextField
              label="New link"
              readOnly
              value={shareUrl(id, made.token)}
              hint="It is shown this once."
              onFocus={(e) => e.target.select()}
            />
            <Button
              variant="primary"
              icon={<IconCopy />}
              onClick={() => void copyLink(shareUrl(id, made.token!))}
            >
              Copy link
            </Button>
          </div>
        </div>
      )}
      {links.data && links.data.length > 0 && (
        <ul className="dlg-rows">
          {links.data.map((share) => (
            <li key={share.id}>
              <span className="dlg-fill">
                {share.write ? "Read and write" : "Read"}
                <span className="muted">
                  {" · made "}
                  <Ago at={share.created_at} />
                  {share.created_by ? ` by ${share.created_by}` : ""}
                  {share.expires_at
                    ? ` · until ${new Date(share.expires_at).toLocaleDateString()}`
                    : " · without end"}
                </span>
              </span>
              <Button
                small
                busy={revoke.isPending && revoke.variables.id === share.id}
                onClick={() => revoke.mutate(share)}
              >
                End link
              </Button>
            </li>
          ))}
        </ul>
      )}
      {links.data?.length === 0 && <p className="muted">No link is open.</p>}
      {error && <Note tone="error">{errorText(error)}</Note>}
    </section>
  );
}

// ------------------------------------------------------------------ members

interface MembersProps {
  id: string;
  members: Member[];
  mine: Level | null;
  again: () => void;
}

function Members({ id, members, mine, again }: MembersProps) {
  const me = useMe((s) => s.me?.user);
  const [user, setUser] = useState("");
  const [level, setLevel] = useState<Level>("reader");
  const [handing, setHanding] = useState<string | null>(null);
  const manages = mine === "manager" || mine === "owner";

  const put = useMutation({
    mutationFn: ({ who, as }: { who: string; as: Level }) => ramet.setMember(id, who, as),
    onSuccess: (_, { who }) => {
      setHanding(null);
      if (who === user.trim()) setUser("");
      again();
    },
  });
  const remove = useMutation({
    mutationFn: (who: string) => ramet.removeMember(id, who),
    onSuccess: (_, who) => (who === me ? closeDialog() : again()),
  });
  const error = put.error ?? remove.error;

  return (
    <section className="dlg-stack" aria-label="Members">
      <h3>Members</h3>
      <p className="muted">
        Members see this chat and all that is forked in its tree, except what others keep private.
      </p>
      <ul className="dlg-rows">
        {members.map((m) => (
          <li key={m.user}>
            <span className="dlg-fill truncate">
              {m.user}
              {m.user === me && <span className="muted"> (you)</span>}
            </span>
            {manages && m.level !== "owner" ? (
              <Select
                label={`Level of ${m.user}`}
                hideLabel
                value={m.level}
                disabled={put.isPending || remove.isPending}
                onChange={(e) => {
                  const as = e.target.value as Level;
                  if (as === "owner") setHanding(m.user);
                  else put.mutate({ who: m.user, as });
                }}
              >
                {LEVELS.filter((l) => l.level !== "owner" || mine === "owner").map((l) => (
                  <option key={l.level} value={l.level}>
                    {l.text}
                  </option>
                ))}
              </Select>
            ) : (
              <span className="muted">{LEVELS.find((l) => l.level === m.level)?.text}</span>
            )}
            {m.level !== "owner" && (manages || m.user === me) && (
              <IconButton
                plain
                small
                label={m.user === me ? "Leave" : `Remove ${m.user}`}
                icon={<IconClose />}
                busy={remove.isPending && remove.variables === m.user}
                onClick={() => remove.mutate(m.user)}
              />
            )}
          </li>
        ))}
      </ul>
      {handing && (
        <Note
          tone="warn"
          action={{ label: "Hand over", run: () => put.mutate({ who: handing, as: "owner" }), busy: put.isPending }}
        >
          The tree will be {handing}’s, and you its manager.
        </Note>
      )}
      {manages && (
        <form
          className="dlg-line"
          onSubmit={(e) => {
            e.preventDefault();
            if (user.trim() && !put.isPending) put.mutate({ who: user.trim(), as: level });
          }}
        >
          <TextField
            label="User"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={255}
            value={user}
            onChange={(e) => setUser(e.target.value)}
          />
          <Select label="Level" value={level} onChange={(e) => setLevel(e.target.value as Level)}>
            {LEVELS.filter((l) => l.level !== "owner").map((l) => (
              <option key={l.level} value={l.level}>
                {l.text}
              </option>
            ))}
          </Select>
          <Button type="submit" disabled={user.trim() === ""}>
            Add member
          </Button>
        </form>
      )}
      {error && <Note tone="error">{errorText(error)}</Note>}
    </section>
  );
}

// ------------------------------------------------------------------ the dialog

function Seen({ session }: { session: Session }) {
  const change = useMutation({
    mutationFn: (visibility: Session["visibility"]) => setVisibility(session.id, visibility),
  });
  return (
    <>
      <Select
        label="Who sees this chat"
        value={session.visibility}
        disabled={change.isPending}
        onChange={(e) => change.mutate(e.target.value as Session["visibility"])}
      >
        <option value="tree">All members</option>
        <option value="private">Only its owner</option>
      </Select>
      {change.error && <Note tone="error">{errorText(change.error)}</Note>}
    </>
  );
}

export function ShareDialog({ sessionId }: { sessionId: string }) {
  const me = useMe((s) => s.me?.user);
  const loaded = useQuery({
    queryKey: ["members", sessionId],
    queryFn: async () => ({
      session: await needSession(sessionId),
      members: (await ramet.listMembers(sessionId)).members,
    }),
  });
  const fresh = useSessions((s) => s.byId.get(sessionId));
  const session = fresh ?? loaded.data?.session;
  const mine = loaded.data?.members.find((m) => m.user === me)?.level ?? null;
  const owns = session?.owner === me;
  return (
    <Dialog
      open
      onOpenChange={(open) => open || closeDialog()}
      onClosed={giveFocusBack}
      title="Share"
      said={session ? session.title || "New chat" : undefined}
      width={520}
      foot={<Button onClick={closeDialog}>Done</Button>}
    >
      {loaded.error && (
        <Note tone="error" action={{ label: "Try again", run: () => void loaded.refetch() }}>
          {errorText(loaded.error)}
        </Note>
      )}
      {!loaded.data && !loaded.error && <Spinner label="Loading" />}
      {session && loaded.data && (
        <>
          {owns && <Seen session={session} />}
          {owns || mine === "manager" || mine === "owner" ? (
            <Links session={session} />
          ) : (
            <Note>Links are made by the chat’s owner and the managers of its tree.</Note>
          )}
          <Members id={sessionId} members={loaded.data.members} mine={mine} again={() => void loaded.refetch()} />
        </>
      )}
    </Dialog>
  );
}
