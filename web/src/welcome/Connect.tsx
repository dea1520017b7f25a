// SPDX-License-Identifier: Apache-2.0
// Explains that echo answers until a model is connected, and shows the configuration lines that connect
// one. A model server found on this machine is offered; it is used only after the user presses the button.
import { useEffect, useState } from "react";
import { get, post } from "../api/client";
import { listAgents } from "../api/ramet";
import { copyText } from "../chat/copy";
import { loadAgents } from "../state/sessions";
import { Button, Select, toast, toastError } from "../ui";
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

/** What runs here and could be used. */
function Offer({ servers, onUsed }: { servers: Nearby[]; onUsed: (agent: string, what: Nearby) => void }) {
  const [model, setModel] = useState(() => servers.map((each) => each.models[0]!));
  const [busy, setBusy] = useState<string | null>(null);
  const connect = async (what: Nearby, chosen: string) => {
    setBusy(what.url);
    try {
      const { name } = await post<{ name: string }>("/agents/nearby", { url: what.url, model: chosen });
      onUsed(name, { ...what, models: [chosen] });
    } catch (error) {
      toastError(error, { label: "Try again", run: () => connect(what, chosen) });
    } finally {
      setBusy(null);
    }
  };
  return (
    <ul className="connect-offer" aria-label="Model servers on this machine">
      {servers.map((each, i) => (
        <li key={each.url}>
          <span className="connect-name">{each.name}</span>
          <Select
            label={`Model of ${each.name}`}
            hideLabel
            value={model[i]}
            onChange={(e) => setModel(model.map((was, k) => (k === i ? e.target.value : was)))}
          >
            {each.models.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
          <Button
            variant="primary"
            busy={busy === each.url}
            disabled={busy !== null}
            aria-label={`Use ${each.name}`}
            onClick={() => void connect(each, model[i]!)}
          >
            Use it
          </Button>
        </li>
      ))}
    </ul>
  );
}

function HowTo({ server, summary }: { server: Nearby; summary: string }) {
  const model = server.models[0] ?? "";
  return (
    <details>
      <summary>{summary}</summary>
      <Lines label="Start the server with" text={flagLine(server.url, model)} />
      <Lines label="or put into the file that --config names" text={fileLines(server.url, model)} />
      <p>Any OpenAI-compatible endpoint will do. Then choose the agent beside the message.</p>
    </details>
  );
}

export function Connect() {
  const [echo, setEcho] = useState(false);
  const [servers, setServers] = useState<Nearby[]>([]);
  const [used, setUsed] = useState<{ agent: string; server: Nearby } | null>(null);

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
  if (used)
    return (
      <section className="connect" aria-label="Connect a model">
        <p className="connect-head" role="status">
          {used.server.models[0]} of {used.server.name} answers new chats now, as the agent {used.agent}.
        </p>
        <HowTo server={used.server} summary="How to keep it when the server is started again" />
      </section>
    );
  const [first] = servers;
  return (
    <section className="connect" aria-label="Connect a model">
      <p className="connect-head">Echo answers until you connect a model.</p>
      {first && (
        <>
          <p>{servers.length > 1 ? "These model servers run on this machine:" : "A model server runs on this machine:"}</p>
          <Offer
            servers={servers}
            onUsed={(agent, server) => {
              setUsed({ agent, server });
              loadAgents(true).catch(() => undefined);
            }}
          />
        </>
      )}
      <HowTo server={first ?? EXAMPLE} summary={first ? "Or configure it" : "How to connect one"} />
    </section>
  );
}
