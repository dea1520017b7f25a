// SPDX-License-Identifier: Apache-2.0
// Labelled fields. They use native controls, which work with every keyboard and phone.
import { type ComponentProps, type KeyboardEvent, type ReactNode, useId } from "react";
import { cx } from "./cx";

interface FieldProps {
  label: string;
  /** The label is for screen readers alone. */
  hideLabel?: boolean;
  hint?: ReactNode;
  error?: string | null;
}

function Frame({
  id,
  label,
  hideLabel,
  hint,
  error,
  children,
}: FieldProps & { id: string; children: ReactNode }) {
  return (
    <div className="ui-field">
      <label className={hideLabel ? "sr-only" : "ui-label"} htmlFor={id}>
        {label}
      </label>
      {children}
      {hint && !error && (
        <span className="ui-hint" id={`${id}-said`}>
          {hint}
        </span>
      )}
      {error && (
        <span className="ui-error" id={`${id}-said`} role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

/** What a field's frame needs, and what its control does. */
function useField<P extends FieldProps & { className?: string }>(props: P) {
  const { label, hideLabel, hint, error, className, ...rest } = props;
  const id = useId();
  return {
    frame: { id, label, hideLabel, hint, error },
    control: {
      ...rest,
      id,
      className: cx("ui-input", className),
      "aria-describedby": hint || error ? `${id}-said` : undefined,
      "aria-invalid": error ? true : undefined,
    },
  };
}

export function TextField(props: FieldProps & ComponentProps<"input">) {
  const { frame, control } = useField(props);
  return (
    <Frame {...frame}>
      <input type="text" autoComplete="off" {...control} />
    </Frame>
  );
}

export function Select(props: FieldProps & ComponentProps<"select">) {
  const { frame, control } = useField(props);
  return (
    <Frame {...frame}>
      <select {...control} />
    </Frame>
  );
}

export function Checkbox({
  label,
  hint,
  ...rest
}: { label: string; hint?: ReactNode } & ComponentProps<"input">) {
  const id = useId();
  return (
    <label className="ui-check">
      <input
        type="checkbox"
        {...rest}
        aria-labelledby={id}
        aria-describedby={hint ? `${id}-hint` : undefined}
      />
      <span style={{ minWidth: 0 }}>
        <span id={id}>{label}</span>
        {hint && (
          <span className="ui-hint" id={`${id}-hint`} style={{ display: "block" }}>
            {hint}
          </span>
        )}
      </span>
    </label>
  );
}

interface SegmentsProps<T extends string> {
  label: string;
  value: T;
  onChange: (value: T) => void;
  options: { value: T; label: string; icon?: ReactNode }[];
}

/** A switch between a few ways; arrows move it, as in every group of radio buttons. */
export function Segments<T extends string>({ label, value, onChange, options }: SegmentsProps<T>) {
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = options.findIndex((o) => o.value === value);
    const next = (at + step + options.length) % options.length;
    onChange(options[next]!.value);
    (event.currentTarget.children[next] as HTMLElement).focus();
  };
  return (
    <div className="ui-segments" role="radiogroup" aria-label={label} onKeyDown={move}>
      {options.map((o) => (
        <button
          key={o.value}
          type="button"
          role="radio"
          aria-checked={o.value === value}
          tabIndex={o.value === value ? 0 : -1}
          onClick={() => onChange(o.value)}
        >
          {o.icon}
          {o.label}
        </button>
      ))}
    </div>
  );
}
