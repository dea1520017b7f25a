// SPDX-License-Identifier: Apache-2.0
// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import {
  readSettings,
  setBindings,
  setKeys,
  setTheme,
  startSettings,
  useSettings,
} from "./settings";

beforeEach(() => {
  localStorage.clear();
  useSettings.setState({ theme: "system", bindings: {} });
});

describe("settings", () => {
  it("reads whatever a browser holds", () => {
    const usual = { theme: "system", bindings: {} };
    for (const text of [null, "", "{", "null", "7", "[]", '{"theme":"pink","bindings":[]}'])
      expect(readSettings(text)).toEqual(usual);
    expect(
      readSettings('{"theme":"dark","bindings":{"message.fork":["q",1,""],"nobody":["x"]}}'),
    ).toEqual({ theme: "dark", bindings: { "message.fork": ["q"] } });
  });
  it("keeps only what differs from the table", () => {
    setKeys("message.fork", ["q"]);
    expect(JSON.parse(localStorage.getItem("ramet.settings")!).bindings).toEqual({
      "message.fork": ["q"],
    });
    setKeys("message.fork", ["mod+shift+f", "f"]);
    expect(useSettings.getState().bindings).toEqual({});
    setBindings({ "message.fork": [] });
    setKeys("message.fork", null);
    expect(useSettings.getState().bindings).toEqual({});
  });
  it("shows the theme and follows other windows", () => {
    startSettings();
    setTheme("dark");
    expect(document.documentElement.style.colorScheme).toBe("dark");
    dispatchEvent(
      new StorageEvent("storage", { key: "ramet.settings", newValue: '{"theme":"light"}' }),
    );
    expect(document.documentElement.style.colorScheme).toBe("light");
  });
});
