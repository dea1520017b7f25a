// SPDX-License-Identifier: Apache-2.0
//
// The dialog "Share": who sees the chat. Links open this chat alone; members belong to the whole
// tree of it and its forks.

import { useState } from "react";
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
import { useChange } from "./useChange";
import { useLoaded } from "./useLoaded";

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
  const links = useLoaded(id, async () => (await ramet.listShares(id)).shares);
  const [write, setWrite] = useState("read");
  const [life, setLife] = useState(String(7 * DAY));
  const [made, setMade] = useState<Share | null>(null);
  const { busy, error, change } = useChange();

  const create = () =>
    change("new", async () => {
      const seconds = Number(life);
      const share = await ramet.createShare(id, {
        write: write === "write",
        ...(seconds ? { expires_seconds: seconds } : {}),
      });
      setMade(share);
      links.again();
    });
  const revoke = (share: Share) =>
    change(share.id, async () => {
      await ramet.revokeShare(id, share.id);
      if (made?.id === share.id) setMade(null);
      links.again();
    });

  return (
    <section className="dlg-stack" aria-label="Links">
      <h3>Links</h3>
      <p className="muted">
        Whoever has a link reads this chat with its versions, nothing else, and may fork it.
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
        <Button icon={<IconLink />} busy={busy === "new"} onClick={() => void create()}>
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
      {links.value && links.value.length > 0 && (
        <ul className="dlg-rows">
          {links.value.map((share) => (
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
              <Button small busy={busy === share.id} onClick={() => void revoke(share)}>
                End link
              </Button>
            </li>
          ))}
        </ul>
      )}
      {links.value?.length === 0 && <p className="muted">No link is open.</p>}
      {(error ?? links.error) && <Note tone="error">{error ?? links.error}</Note>}
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
  const { busy, error, change } = useChange();
  const manages = mine === "manager" || mine === "owner";

  const put = (who: string, as: Level) =>
    change(who, async () => {
      await ramet.setMember(id, who, as);
      setHanding(null);
      again();
    });
  const add = async () => {
    if (user.trim() && (await put(user.trim(), level))) setUser("");
  };
  const remove = (who: string) =>
    change(who, async () => {
      await ramet.removeMember(id, who);
      if (who === me) closeDialog();
      else again();
    });

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
                disabled={busy !== null}
                onChange={(e) => {
                  const as = e.target.value as Level;
                  if (as === "owner") setHanding(m.user);
                  else void put(m.user, as);
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
                busy={busy === m.user}
                onClick={() => void remove(m.user)}
              />
            )}
          </li>
        ))}
      </ul>
      {handing && (
        <Note
          tone="warn"
          action={{ label: "Hand over", run: () => void put(handing, "owner"), busy: busy === handing }}
        >
          The tree will be {handing}’s, and you its manager.
        </Note>
      )}
      {manages && (
        <form
          className="dlg-line"
          onSubmit={(e) => {
            e.preventDefault();
            void add();
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
      {error && <Note tone="error">{error}</Note>}
    </section>
  );
}

// ------------------------------------------------------------------ the dialog

function Seen({ session }: { session: Session }) {
  const { busy, error, change } = useChange();
  return (
    <>
      <Select
        label="Who sees this chat"
        value={session.visibility}
        disabled={busy !== null}
        onChange={(e) => {
          const visibility = e.target.value as Session["visibility"];
          void change("seen", () => setVisibility(session.id, visibility));
        }}
      >
        <option value="tree">All members</option>
        <option value="private">Only its owner</option>
      </Select>
      {error && <Note tone="error">{error}</Note>}
    </>
  );
}

export function ShareDialog({ sessionId }: { sessionId: string }) {
  const me = useMe((s) => s.me?.user);
  const loaded = useLoaded(sessionId, async () => ({
    session: await needSession(sessionId),
    members: (await ramet.listMembers(sessionId)).members,
  }));
  const fresh = useSessions((s) => s.byId.get(sessionId));
  const session = fresh ?? loaded.value?.session;
  const mine = loaded.value?.members.find((m) => m.user === me)?.level ?? null;
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
        <Note tone="error" action={{ label: "Try again", run: loaded.again }}>
          {loaded.error}
        </Note>
      )}
      {!loaded.value && !loaded.error && <Spinner label="Loading" />}
      {session && loaded.value && (
        <>
          {owns && <Seen session={session} />}
          {owns || mine === "manager" || mine === "owner" ? (
            <Links session={session} />
          ) : (
            <Note>Links are made by the chat’s owner and the managers of its tree.</Note>
          )}
          <Members id={sessionId} members={loaded.value.members} mine={mine} again={loaded.again} />
        </>
      )}
    </Dialog>
  );
}
