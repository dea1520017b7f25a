// SPDX-License-Identifier: Apache-2.0
// Key combinations as they are printed on keyboards.

const apple = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

const NAMES: Record<string, string> = {
  escape: "Esc",
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
  " ": "Space",
  ...(apple
    ? { mod: "⌘", shift: "⇧", alt: "⌥", ctrl: "⌃", enter: "↵" }
    : { mod: "Ctrl", ctrl: "Ctrl" }),
};

/** "mod+shift+b" -> ["Ctrl", "Shift", "B"]; a space parts the steps of a sequence ("g t"). */
export function keyNames(keys: string): string[] {
  return keys
    .split(" ")
    .flatMap((step) =>
      step
        .split(/\+(?!$)/)
        .map(
          (key) =>
            NAMES[key] ??
            (key.length === 1 ? key.toUpperCase() : key.charAt(0).toUpperCase() + key.slice(1)),
        ),
    );
}

export function Kbd({ keys }: { keys: string }) {
  return (
    <span className="ui-kbd">
      {keyNames(keys).map((name, i) => (
        <kbd key={i}>{name}</kbd>
      ))}
    </span>
  );
}
