// SPDX-License-Identifier: Apache-2.0
// Sends the same message to the agents that are ticked, each in its own fork, shown side by side.
import { useAui, useAuiState } from "@assistant-ui/react";
import { useState } from "react";
import { errorText } from "../api/client";
import { chatPath, comparePath, navigate } from "../app/router";
import { MAX_SIDES } from "../compare/open";
import type { FileRef } from "../state/session";
import { Button, Checkbox, IconButton, IconFanOut, Popover, toast } from "../ui";
import { attempt } from "./actions";
import { useAgents } from "./AgentPicker";
import { storedFiles, useRoom } from "./runtime";
import { useChatUi } from "./ui";

/** As many as a comparison shows. */
const MOST = MAX_SIDES;

export function FanOut() {
  const room = useRoom();
  const aui = useAui();
  const agents = useAgents();
  const open = useChatUi((s) => s.asking);
  const setOpen = (asking: boolean) => useChatUi.setState({ asking });
  const text = useAuiState((s) => s.composer.text);
  const busy = room.store((s) => s.busy.has("fan-out"));
  const running = room.store((s) => s.thread.answer !== null);
  const [ticked, setTicked] = useState<readonly string[] | null>(null);
  const asked = ticked ?? agents.slice(0, MOST).map((agent) => agent.name);
  const toggle = (name: string, on: boolean) =>
    setTicked(on ? [...asked, name] : asked.filter((one) => one !== name));
  const ask = () =>
    attempt(async () => {
      const files: FileRef[] = storedFiles(aui.composer().getState().attachments);
      const done = await room.outbox.fanOut(text, files, [...asked]);
      if (!done) return;
      setOpen(false);
      await aui.composer().reset();
      for (const { agent, error } of done.failed) toast({ tone: "error", text: `${agent}: ${errorText(error)}` });
      const forks = done.started.map((one) => one.session_id);
      navigate(forks.length === 1 ? chatPath(forks[0]!) : comparePath(forks));
    });
  const say = asked.length === 1 ? `Ask ${asked[0]}` : `Ask ${asked.length} agents`;
  return (
    <Popover
      label="Ask several agents"
      side="top"
      open={open}
      onOpenChange={setOpen}
      trigger={<IconButton label="Ask several agents" icon={<IconFanOut />} />}
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
            checked={asked.includes(agent.name)}
            disabled={!asked.includes(agent.name) && asked.length >= MOST}
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
