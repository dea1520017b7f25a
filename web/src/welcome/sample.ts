// SPDX-License-Identifier: Apache-2.0
// The sample conversation of a first visit: a chat with two versions of an answer and two forks. It is
// created once: its id is derived from the user, so that no other window or browser creates it again, and a
// browser that has seen it does not ask.
import { isCode, path, post, shareToken } from "../api/client";
import { getMe, listSessions } from "../api/ramet";
import type { Session } from "../api/types";

const KEY = "ramet.sample";

const remembered = (): boolean => {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false;
  }
};
const remember = (): void => {
  try {
    localStorage.setItem(KEY, "made");
  } catch {
    // the id guards, too
  }
};

type Line = { id: string; role: "user" | "assistant"; text: string };
const user = (id: string, text: string): Line => ({ id, role: "user", text });
const answer = (id: string, text: string): Line => ({ id, role: "assistant", text });

const BEGINNING: Line[] = [
  user("q1", "I have a free weekend. How do I get from Madrid to Lisbon?"),
  answer(
    "a1",
    `There are three good ways:

| | takes | costs about |
|---|---|---|
| plane | 1 h 20 min | €60 |
| night bus | 8 h | €35 |
| car | 6 h | €75 fuel and tolls |

No train goes there directly at the moment. Shall I plan one of them?`,
  ),
];
const PLANE = user("q2", "The plane, then. What should I pack?");
const PACK_SHORT = answer("a2", "A cabin bag will do: two shirts, a light jacket, good shoes for the hills, your ID card.");
const PACK_LIST = answer(
  "a2-again",
  `For two days a cabin bag is enough:

- [x] ID card and phone charger
- [ ] two shirts, one warm layer (evenings by the river are windy)
- [ ] shoes that hold on wet cobblestones
- [ ] sunscreen, all year round`,
);
const REST: Line[] = [
  user("q3", "Thanks! And what can I do with this conversation now?"),
  answer(
    "a3",
    `It is a sample: it was here when you came, and no model wrote it. Change whatever you like.

- **Versions.** The packing list above says \`2/2\`: it was made anew once. Step back with \`‹\` and this end of the chat changes with it.
- **Fork.** Open the three dots of any message and choose *Fork chat from here*: a new chat that shares everything up to there. *By night bus* and *With two children* in the sidebar are forks of this one; switch the sidebar to *Tree* to see them.
- **Rewind.** *Rewind to here* sets later messages aside at once; *Undo* brings them back. Nothing is ever lost.
- **Compare.** Put forks side by side, from where they part.

Press \`?\` for the keys, and write below to go on.`,
  ),
];
const BUS: Line[] = [
  user("q2-bus", "The night bus, please. Which seat is best?"),
  answer("a2-bus", "Upstairs at the front for the view, downstairs in the middle for sleep. It leaves at 22:30 from Estación Sur."),
];
const CHILDREN: Line[] = [
  user("q2-children", "Would you still fly with two small children?"),
  answer("a2-children", "Yes: the flight is shorter than one nap. Book the row behind the galley and take the tram from the airport, it is half the fun."),
];

const entries = (id: string, lines: Line[]) => post(path("sessions", id, "entries"), { entries: lines });
const forkAfter = (id: string, entry: string, fork: { title: string; reason: string; tags: string[] }) =>
  post<Session>(path("sessions", id, "fork"), { at: { entry_id: entry, side: "after" }, ...fork });

const make = async (id: string): Promise<void> => {
  await post("/sessions", { id, title: "A weekend in Lisbon", tags: ["sample"], metadata: { sample: true } });
  await entries(id, [...BEGINNING, PLANE, PACK_SHORT]);
  const bus = await forkAfter(id, "a1", { title: "By night bus", reason: "Cheaper, and it saves a hotel", tags: ["sample", "bus"] });
  await entries(bus.id, BUS);
  const children = await forkAfter(id, "a1", { title: "With two children", reason: "What changes with a family?", tags: ["sample"] });
  await entries(children.id, CHILDREN);
  await post(path("sessions", id, "entries", PACK_SHORT.id, "regenerate"), { entries: [PACK_LIST] });
  await entries(id, REST);
};

const ensure = async (): Promise<string | null> => {
  if (shareToken() !== null || remembered()) return null;
  const [me, known] = await Promise.all([getMe(), listSessions({ limit: 1, archived: "include" })]);
  remember();
  if (known.sessions.length > 0) return null;
  const id = `sample-${[...me.user].slice(0, 60).join("")}`;
  try {
    await make(id);
    return id;
  } catch (error) {
    if (isCode(error, "session_exists") || isCode(error, "session_deleted")) return null;
    throw error;
  }
};

let ensuring: Promise<string | null> | undefined;

/** Creates the sample for a user who has no chats and never had it; returns its id, or null. Calls that come while it is
 * made wait for that one. */
export const ensureSample = (): Promise<string | null> =>
  (ensuring ??= ensure().finally(() => {
    ensuring = undefined;
  }));
