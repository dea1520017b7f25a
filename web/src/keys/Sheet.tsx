// SPDX-License-Identifier: Apache-2.0
// The ? sheet: every command and its keys; in "Change keys" they can be removed, added and reset.
import { useEffect, useEffectEvent, useRef, useState } from "react";
import {
  bindingsOf,
  boundTo,
  setBindings,
  setKeys,
  useSettings,
  withKeys,
} from "../state/settings";
import {
  Button,
  Dialog,
  IconButton,
  IconClose,
  IconPlus,
  IconUndo,
  Kbd,
  keyNames,
  toast,
} from "../ui";
import { isWhole, RECORD_MS, refusal, withStep } from "./record";
import { COMMAND_IDS, COMMANDS, GROUPS, type CommandId } from "./table";
import "./keys.css";

const spoken = (keys: string) => keyNames(keys).join(" ");

/** Assigns the keys to the command; if another command loses them, a toast says so and offers Undo. */
function bind(id: CommandId, keys: string): void {
  const before = useSettings.getState().bindings;
  const losers = boundTo(keys, before).filter((holder) => holder !== id);
  setBindings(withKeys(id, keys, before));
  if (losers.length > 0)
    toast({
      text: `${spoken(keys)} was taken from “${losers.map((l) => COMMANDS[l].title).join("”, “")}”.`,
      action: { label: "Undo", run: () => setBindings(before) },
    });
}

function Recorder({ title, onDone }: { title: string; onDone: (keys: string | null) => void }) {
  const [steps, setSteps] = useState("");
  const [why, setWhy] = useState<string | null>(null);
  const box = useRef<HTMLButtonElement>(null);
  const finish = useEffectEvent(onDone);
  useEffect(() => box.current?.focus(), []);
  useEffect(() => {
    if (!steps) return;
    if (isWhole(steps)) return finish(steps);
    const timer = setTimeout(() => finish(steps), RECORD_MS);
    return () => clearTimeout(timer);
  }, [steps]);
  return (
    <>
      <button
        type="button"
        ref={box}
        className="keys-recorder"
        aria-label={`Press the new keys for ${title}; Escape cancels`}
        onBlur={() => onDone(null)}
        onKeyDown={(event) => {
          event.preventDefault();
          event.stopPropagation();
          if (event.key === "Escape") return onDone(null);
          const next = withStep(steps, event.nativeEvent);
          if (next === steps) return;
          const refused = refusal(next.slice(next.lastIndexOf(" ") + 1) || next);
          setWhy(refused);
          if (!refused) setSteps(next);
        }}
      >
        {steps ? <Kbd keys={steps} /> : "Press keys…"}
      </button>
      {why && (
        <span className="ui-error" role="alert">
          {why}
        </span>
      )}
    </>
  );
}

interface RowProps {
  id: CommandId;
  edit: boolean;
  recording: boolean;
  onRecord: (on: boolean) => void;
}

function Row({ id, edit, recording, onRecord }: RowProps) {
  const keys = useSettings((s) => bindingsOf(id, s.bindings));
  const changed = useSettings((s) => s.bindings[id] !== undefined);
  const { title } = COMMANDS[id];
  return (
    <div className="keys-row">
      <dt>{title}</dt>
      <dd>
        {keys.map((k) =>
          edit ? (
            <span key={k} className="keys-one">
              <Kbd keys={k} />
              <IconButton
                plain
                small
                label={`Remove ${spoken(k)} from ${title}`}
                icon={<IconClose size={12} />}
                onClick={() =>
                  setKeys(
                    id,
                    keys.filter((each) => each !== k),
                  )
                }
              />
            </span>
          ) : (
            <Kbd key={k} keys={k} />
          ),
        )}
        {!edit && keys.length === 0 && <span className="muted">—</span>}
        {edit && recording && (
          <Recorder
            title={title}
            onDone={(k) => {
              onRecord(false);
              if (k) bind(id, k);
            }}
          />
        )}
        {edit && !recording && (
          <IconButton
            plain
            small
            label={`Add keys for ${title}`}
            icon={<IconPlus size={14} />}
            onClick={() => onRecord(true)}
          />
        )}
        {edit && changed && (
          <IconButton
            plain
            small
            label={`Usual keys for ${title}`}
            icon={<IconUndo size={14} />}
            onClick={() => setKeys(id, null)}
          />
        )}
      </dd>
    </div>
  );
}

export default function Sheet({
  open,
  onOpenChange,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const [edit, setEdit] = useState(false);
  const [recording, setRecording] = useState<CommandId | null>(null);
  const changed = useSettings((s) => Object.keys(s.bindings).length > 0);
  return (
    <Dialog
      open={open}
      onOpenChange={(on) => {
        setEdit(false);
        onOpenChange(on);
      }}
      mayClose={() => recording === null}
      title="Keyboard shortcuts"
      said="Single keys work outside of text fields. What is about a message acts on the focused one, else on the last."
      width={780}
      foot={
        <>
          {edit && changed && <Button onClick={() => setBindings({})}>Usual keys for all</Button>}
          <Button variant={edit ? "primary" : "plain"} onClick={() => setEdit(!edit)}>
            {edit ? "Done" : "Change keys"}
          </Button>
        </>
      }
    >
      <div className={edit ? "keys-sheet keys-sheet-edit" : "keys-sheet"}>
        {GROUPS.map((group) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            <dl>
              {COMMAND_IDS.filter((id) => COMMANDS[id].group === group).map((id) => (
                <Row
                  key={id}
                  id={id}
                  edit={edit}
                  recording={recording === id}
                  onRecord={(on) => setRecording(on ? id : null)}
                />
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
