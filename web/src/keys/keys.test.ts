// SPDX-License-Identifier: Apache-2.0
// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { provideCommands } from "../app/commands";
import { bindingsOf, boundTo, keysClash, setBindings, withKeys } from "../state/settings";
import { listenKeys, match, stepOf, worksInFields } from "./keys";
import { isWhole, refusal, withStep } from "./record";
import { COMMAND_IDS, COMMANDS, GROUPS } from "./table";

const press = (key: string, more: object = {}) => ({
  key,
  code: "",
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...more,
});

describe("the table", () => {
  it("gives no keys twice, and no keys that begin another's", () => {
    const all = COMMAND_IDS.flatMap((id) => COMMANDS[id].keys.map((keys) => ({ id, keys })));
    for (const a of all)
      for (const b of all)
        if (a !== b) expect(keysClash(a.keys, b.keys), `${a.id} ${b.id}`).toBe(false);
  });
  it("puts every command into a group of the sheet", () => {
    for (const id of COMMAND_IDS) expect(GROUPS).toContain(COMMANDS[id].group);
  });
  it("has the keys of the plan, with twins", () => {
    expect(COMMANDS["message.versions"].keys).toEqual(["mod+shift+b", "b"]);
    expect(COMMANDS["message.fork"].keys).toEqual(["mod+shift+f", "f"]);
    expect(COMMANDS["message.previous"].keys).toEqual(["mod+[", "["]);
    expect(COMMANDS["message.next"].keys).toEqual(["mod+]", "]"]);
    expect(COMMANDS["view.tree"].keys).toEqual(["mod+shift+t", "g t"]);
  });
});

describe("stepOf", () => {
  it.each([
    [press("b"), "b"],
    [press("B", { ctrlKey: true, shiftKey: true, code: "KeyB" }), "mod+shift+b"],
    [press("b", { metaKey: true, code: "KeyB" }), "mod+b"],
    [press("?", { shiftKey: true, code: "Slash" }), "?"],
    [press("[", { ctrlKey: true }), "mod+["],
    [press("Shift", { shiftKey: true }), ""],
    [press("ArrowUp", { shiftKey: true }), "shift+arrowup"],
    // Option writes another letter; a Russian keyboard has none of ours.
    [press("†", { altKey: true, code: "KeyT" }), "alt+t"],
    [press("л", { ctrlKey: true, code: "KeyK" }), "mod+k"],
  ])("%o is %s", (event, step) => expect(stepOf(event)).toBe(step));

  it("takes AltGr for what it writes", () => {
    const altGr = press("[", {
      ctrlKey: true,
      altKey: true,
      getModifierState: (n: string) => n === "AltGraph",
    });
    expect(stepOf(altGr)).toBe("[");
  });
});

describe("match", () => {
  const always = () => true;
  it("finds a command, and waits inside of a sequence", () => {
    expect(match("f", {}, always)).toEqual({ id: "message.fork", waits: false });
    expect(match("g", {}, always)).toEqual({ id: null, waits: true });
    expect(match("g t", {}, always)).toEqual({ id: "view.tree", waits: false });
    expect(match("q", {}, always)).toEqual({ id: null, waits: false });
  });
  it("follows changed bindings and leaves out what cannot be done", () => {
    expect(match("q", { "message.fork": ["q"] }, always).id).toBe("message.fork");
    expect(match("f", { "message.fork": ["q"] }, always).id).toBeNull();
    expect(match("f", {}, () => false).id).toBeNull();
  });
});

describe("bindings", () => {
  it("gives keys to one and takes them from the other", () => {
    const next = withKeys("message.fork", "mod+k", {});
    expect(bindingsOf("message.fork", next)).toEqual(["mod+shift+f", "f", "mod+k"]);
    expect(bindingsOf("view.palette", next)).toEqual([]);
    expect(boundTo("mod+k", next)).toEqual(["message.fork"]);
  });
  it("a plain g takes the sequences that begin with it", () => {
    const next = withKeys("message.copy", "g", {});
    expect(boundTo("g", next)).toEqual(["message.copy"]);
    expect(bindingsOf("view.tree", next)).toEqual(["mod+shift+t"]);
  });
});

describe("recording", () => {
  it("hears combinations and sequences of two", () => {
    expect(withStep("", press("Control", { ctrlKey: true }))).toBe("");
    expect(withStep("", press("j", { ctrlKey: true, code: "KeyJ" }))).toBe("mod+j");
    expect(withStep("g", press("x"))).toBe("g x");
    expect([isWhole("mod+j"), isWhole("g"), isWhole("g x")]).toEqual([true, false, true]);
  });
  it("refuses what the browser keeps and what moves about", () => {
    expect(refusal("mod+w")).toMatch(/browser/);
    expect(refusal("tab")).toMatch(/move/);
    expect(refusal("arrowdown")).toMatch(/move/);
    expect(refusal("mod+j")).toBeNull();
  });
});

describe("listening", () => {
  let stop: () => void;
  let leave: () => void;
  const fork = vi.fn();
  const tree = vi.fn();
  const palette = vi.fn();
  const down = (target: EventTarget, key: string, more: object = {}) => {
    const event = new KeyboardEvent("keydown", {
      key,
      bubbles: true,
      cancelable: true,
      ...more,
    });
    target.dispatchEvent(event);
    return event;
  };
  beforeEach(() => {
    document.body.innerHTML = `<article data-entry="e"><button>b</button></article><textarea></textarea><div role="dialog"><button id="d">d</button></div>`;
    setBindings({});
    stop = listenKeys();
    leave = provideCommands({
      "message.fork": fork,
      "view.tree": tree,
      "view.palette": palette,
    });
  });
  afterEach(() => {
    stop();
    leave();
    vi.clearAllMocks();
  });
  it("runs plain keys outside of fields and dialogs", () => {
    expect(down(document.querySelector("button")!, "f").defaultPrevented).toBe(true);
    expect(fork).toHaveBeenCalledTimes(1);
    expect(down(document.body, "f").defaultPrevented).toBe(false); // no message has the focus
    expect(down(document.querySelector("textarea")!, "f").defaultPrevented).toBe(false);
    down(document.querySelector("#d")!, "f");
    expect(fork).toHaveBeenCalledTimes(1);
  });
  it("runs combinations in fields", () => {
    down(document.querySelector("textarea")!, "F", {
      ctrlKey: true,
      shiftKey: true,
      code: "KeyF",
    });
    expect(fork).toHaveBeenCalledTimes(1);
    expect(worksInFields("mod+shift+f")).toBe(true);
    expect(worksInFields("f")).toBe(false);
  });
  it("in a dialog the palette alone opens", () => {
    const inside = document.querySelector("#d")!;
    down(inside, "F", { ctrlKey: true, shiftKey: true, code: "KeyF" });
    down(inside, "k", { ctrlKey: true, code: "KeyK" });
    expect([fork.mock.calls.length, palette.mock.calls.length]).toEqual([0, 1]);
  });
  it("hears sequences, and begins anew when they are left", () => {
    down(document.body, "g");
    down(document.body, "t");
    expect(tree).toHaveBeenCalledTimes(1);
    down(document.querySelector("article")!, "g");
    down(document.querySelector("article")!, "f");
    expect(fork).toHaveBeenCalledTimes(1);
  });
  it("leaves keys that somebody took, and those of an input method", () => {
    document.body.addEventListener("keydown", (e) => e.preventDefault(), { once: true });
    down(document.body, "f");
    down(document.body, "f", { isComposing: true });
    expect(fork).not.toHaveBeenCalled();
  });
});
