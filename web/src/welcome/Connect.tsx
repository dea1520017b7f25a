// SPDX-License-Identifier: Apache-2.0
// Says that echo answers as long as no model is connected, and how one is: with the lines for the
// configuration, filled in when a model server runs on this machine. Offered, never taken unasked.
import { useEffect, useState } from "react";
import { get } from "../api/client";
import { listAgents } from "../api/ramet";
import { copyText } from "../chat/copy";
import { Button, toast, toastError } from "../ui";
import { fileLines, flagLine, type Nearby } from "./lines";
import "./connect.css";

const EXAMPLE: Nearby = { name: "", url: "http://127.0.0.1:11434/v1", models: ["llama3.2"] };

function Lines({ label, text }: { label: string; text: string }) {
  const copy = () =>
    copyText(text).then(
      () => toast({ text: "Copied." }),
      (error: unknown) => toastError(error),
    );
  return (
    <div className="connect-lines">
      <p>{label}</p>
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <Button small variant="ghost" onClick={() => void copy()}>
        Copy lines
      </Button>
    </div>
  );
}

export function Connect() {
  const [echo, setEcho] = useState(false);
  const [servers, setServers] = useState<Nearby[]>([]);
  const [chosen, setChosen] = useState(0);

  useEffect(() => {
    let here = true;
    void (async () => {
      const { agents } = await listAgents();
      if (!here || agents.some((agent) => agent.kind !== "echo")) return;
      setEcho(true);
      const found = await get<{ servers: Nearby[] }>("/agents/nearby");
      if (here) setServers(found.servers.filter((each) => each.models.length > 0));
    })().catch(() => undefined); // it is only a hint
    return () => {
      here = false;
    };
  }, []);

  if (!echo) return null;
  const server = servers[chosen] ?? EXAMPLE;
  const model = server.models[0] ?? "";
  return (
    <section className="connect" aria-label="Connect a model">
      <p className="connect-head">Echo answers until you connect a model.</p>
      {servers.length > 0 && (
        <p>
          {servers.length > 1 ? "These model servers run" : "A model server runs"} on this machine:{" "}
          {servers.map((each, i) => (
            <Button key={each.url} small aria-pressed={i === chosen} onClick={() => setChosen(i)}>
              {each.name} · {each.models[0]}
            </Button>
          ))}
        </p>
      )}
      <details>
        <summary>How to connect {server.name || "one"}</summary>
        <Lines label="Start the server with" text={flagLine(server.url, model)} />
        <Lines label="or put into the file that --config names" text={fileLines(server.url, model)} />
        <p>Any OpenAI-compatible endpoint will do. Then choose the agent beside the message.</p>
      </details>
    </section>
  );
}
