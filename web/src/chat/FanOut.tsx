// SPDX-License-Identifier: Apache-2.0
// Sends the same message to several agents, each in its own fork, shown side by side. The same agent may be
// asked more than once.
import { useAui, useAuiState } from "@assistant-ui/react";
import { useState } from "react";
import { comparePath, navigate } from "../app/router";
import type { FileRef } from "../state/session";
import { Button, Checkbox, IconButton, IconUsers, Popover } from "../ui";
import { attempt } from "./actions";
import { useAgents } from "./AgentPicker";
import { storedFiles, useRoom } from "./runtime";
import { useChatUi } from "./ui";

const TIMES = 3;
const MOST = 4;

export function FanOut() {
  const room = useRoom();
  const aui = useAui();
  const agents = useAgents();
  const open = useChatUi((s) => s.asking);
  const setOpen = (asking: boolean) => useChatUi.setState({ asking });
  const text = useAuiState((s) => s.composer.text);
  const busy = room.store((s) => s.busy.has("fan-out"));
  const running = room.store((s) => s.thread.answer !== null);
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const chosen = agents.map((agent) => agent.name).filter((name) => !off.has(name)).slice(0, MOST);
  const asked = chosen.length === 1 ? Array<string>(TIMES).fill(chosen[0]!) : chosen;

  const toggle = (name: string, on: boolean) => {
    const next = new Set(off);
    if (on) next.delete(name);
    else next.add(name);
    setOff(next);
  };
  const ask = () =>
    attempt(async () => {
      const files: FileRef[] = storedFiles(aui.composer().getState().attachments);
      const started = await room.outbox.fanOut(text, files, asked);
      if (!started) return;
      setOpen(false);
      await aui.composer().reset();
      navigate(comparePath(started.map((one) => one.session_id)));
    });
  const say = chosen.length === 1 ? `Ask ${chosen[0]} three times` : `Ask ${asked.length} agents`;
  return (
    <Popover
      label="Ask several agents"
      side="top"
      open={open}
      onOpenChange={setOpen}
      trigger={<IconButton label="Ask several agents" icon={<IconUsers />} />}
    >
      <form
        className="chat-ask"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <p>The same message to each, in a fork of its own. Their answers are shown side by side.</p>
        {agents.map((agent) => (
          <Checkbox
            key={agent.name}
            label={agent.name}
            checked={!off.has(agent.name)}
            onChange={(event) => toggle(agent.name, event.target.checked)}
          />
        ))}
        {text.trim() === "" && <p className="chat-ask-hint">Write the message first.</p>}
        <Button
          type="submit"
          variant="primary"
          busy={busy}
          disabled={text.trim() === "" || asked.length === 0 || running}
        >
          {say}
        </Button>
      </form>
    </Popover>
  );
}
