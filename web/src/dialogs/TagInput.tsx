// SPDX-License-Identifier: Apache-2.0
// An input line for tags: Enter or a comma completes one; tags in use are suggested below.

import { type KeyboardEvent, useId, useState } from "react";
import { useSessions } from "../state/sessions";
import { suggestTags, tagFault, tagsOf } from "../state/tags";
import { ChatTag } from "./ChatTag";

interface TagInputProps {
  label: string;
  hideLabel?: boolean;
  /** tags that are there already: neither added again nor suggested */
  have: readonly string[];
  onAdd: (tags: string[]) => void;
  /** the text that is not a tag yet */
  text: string;
  onText: (text: string) => void;
  disabled?: boolean;
  placeholder?: string;
  autoFocus?: boolean;
}

export function TagInput(props: TagInputProps) {
  const { label, hideLabel, have, onAdd, text, onText, disabled, placeholder, autoFocus } = props;
  const id = useId();
  const inUse = useSessions((s) => s.tags);
  const [error, setError] = useState<string | null>(null);
  const suggested = suggestTags(inUse, have, text);

  const add = (line: string) => {
    const fresh = tagsOf(line).filter((t) => !have.includes(t));
    const fault = fresh.map((t) => tagFault(t, have)).find(Boolean) ?? null;
    setError(fault);
    if (fault) return;
    onText("");
    if (fresh.length > 0) onAdd(fresh);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || e.nativeEvent.isComposing || text.trim() === "") return;
    e.preventDefault();
    add(text);
  };

  return (
    <div className="ui-field">
      <label className={hideLabel ? "sr-only" : "ui-label"} htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        type="text"
        className="ui-input"
        autoComplete="off"
        autoCapitalize="none"
        autoFocus={autoFocus}
        placeholder={placeholder}
        value={text}
        disabled={disabled}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? `${id}-said` : undefined}
        onKeyDown={onKeyDown}
        onChange={(e) => {
          setError(null);
          if (e.target.value.endsWith(",")) add(e.target.value);
          else onText(e.target.value);
        }}
      />
      {error && (
        <span className="ui-error" id={`${id}-said`} role="alert">
          {error}
        </span>
      )}
      {suggested.length > 0 && (
        <div className="dlg-suggested" role="group" aria-label="In use">
          {suggested.map((tag) => (
            <button key={tag} type="button" disabled={disabled} onClick={() => add(tag)}>
              <ChatTag name={tag} />
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
