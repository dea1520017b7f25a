// SPDX-License-Identifier: Apache-2.0
// Selects the agent that answers from the next message on.
import { useEffect } from "react";
import { loadAgents, useSessions } from "../state/sessions";
import { Button, IconAgent, IconChevronDown, Menu } from "../ui";
import { attempt } from "./actions";
import { useRoom } from "./runtime";

type Choice = { fresh: string | undefined; setFresh: (agent: string) => void };

export const useAgents = () => {
  const agents = useSessions((s) => s.agents);
  useEffect(() => {
    if (agents.length === 0) void loadAgents().catch(() => {});
  }, [agents.length]);
  return agents;
};

export function AgentPicker({ fresh, setFresh }: Choice) {
  const room = useRoom();
  const agents = useAgents();
  const session = room.store((s) => s.session);
  const busy = room.store((s) => s.busy.has("agent"));
  const usual = agents.find((agent) => agent.default)?.name ?? "echo";
  const current = (session ? session.agent?.name : fresh) ?? usual;
  const choose = (name: string) => {
    if (session) void attempt(() => room.setAgent(name));
    else setFresh(name);
  };
  return (
    <Menu
      align="start"
      trigger={
        <Button small variant="ghost" icon={<IconAgent />} busy={busy} aria-label={`Agent: ${current}`}>
          <span className="truncate">{current}</span>
          <IconChevronDown />
        </Button>
      }
      items={() => [
        { said: "Who answers" },
        ...agents.map((agent) => ({
          label: agent.name,
          checked: agent.name === current,
          onSelect: () => choose(agent.name),
        })),
      ]}
    />
  );
}
