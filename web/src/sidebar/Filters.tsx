// SPDX-License-Identifier: Apache-2.0
// Filters of the sidebar: by tag, by agent, the archive, and what was deleted. Active filters are listed below the search and
// removed by a click.

import { filterIsOn, NO_FILTER } from "../state/forest";
import { setFilter, useSessions } from "../state/sessions";
import { Button, IconButton, IconClose, IconFilter, Menu, type MenuEntry } from "../ui";
import { ChatTag } from "../dialogs/ChatTag";

const TAGS_SHOWN = 40;

/** Agents that are set up here, and those of chats that came from elsewhere. */
function agentNames(): string[] {
  const { agents, byId } = useSessions.getState();
  const names = new Set(agents.map((a) => a.name));
  for (const s of byId.values()) if (s.agent?.name) names.add(s.agent.name);
  return [...names].sort();
}

function items(): MenuEntry[] {
  const { filter, tags } = useSessions.getState();
  const used = [...tags].sort((a, b) => b.sessions - a.sessions).slice(0, TAGS_SHOWN);
  const list: MenuEntry[] = [
    {
      label: "Archived",
      checked: filter.archived,
      onSelect: () => setFilter({ archived: !filter.archived, deleted: false }),
    },
    {
      label: "Deleted",
      checked: filter.deleted,
      onSelect: () => setFilter({ deleted: !filter.deleted, archived: false }),
    },
    { said: "Agent" },
    ...agentNames().map((name) => ({
      label: name,
      checked: filter.agent === name,
      onSelect: () => setFilter({ agent: filter.agent === name ? null : name }),
    })),
    { said: used.length ? "Tag" : "No chat has a tag yet" },
    ...used.map(({ tag, sessions }) => ({
      label: `${tag} (${sessions})`,
      checked: filter.tag === tag,
      onSelect: () => setFilter({ tag: filter.tag === tag ? null : tag }),
    })),
  ];
  return list;
}

export function FilterButton() {
  const on = useSessions((s) => filterIsOn(s.filter));
  // What the menu shows may come while it is open.
  useSessions((s) => s.tags);
  useSessions((s) => s.agents);
  return (
    <Menu
      items={items}
      trigger={<IconButton label="Filter" icon={<IconFilter />} className={on ? "side-filter-on" : ""} />}
    />
  );
}

function Chip({ name, children, off }: { name: string; children: React.ReactNode; off: () => void }) {
  return (
    <span className="side-chip">
      {children}
      <IconButton
        plain
        small
        label={`Remove filter ${name}`}
        icon={<IconClose size={12} />}
        onClick={off}
      />
    </span>
  );
}

export function FilterChips() {
  const filter = useSessions((s) => s.filter);
  if (!filterIsOn(filter)) return null;
  return (
    <div className="side-chips" role="group" aria-label="Filters">
      {filter.archived && (
        <Chip name="archived" off={() => setFilter({ archived: false })}>
          Archived
        </Chip>
      )}
      {filter.deleted && (
        <Chip name="deleted" off={() => setFilter({ deleted: false })}>
          Deleted
        </Chip>
      )}
      {filter.agent !== null && (
        <Chip name={filter.agent} off={() => setFilter({ agent: null })}>
          {filter.agent}
        </Chip>
      )}
      {filter.tag !== null && (
        <Chip name={filter.tag} off={() => setFilter({ tag: null })}>
          <ChatTag name={filter.tag} />
        </Chip>
      )}
    </div>
  );
}

export function ClearFilter() {
  return (
    <Button small onClick={() => setFilter(NO_FILTER)}>
      Clear the filter
    </Button>
  );
}
