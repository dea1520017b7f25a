// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { fileLines, flagLine } from "./lines";

describe("lines that connect a model", () => {
  it("name a plain model as it is", () => {
    expect(flagLine("http://127.0.0.1:11434/v1", "llama3.2:3b")).toBe(
      "ramet serve --agent local=openai,url=http://127.0.0.1:11434/v1,model=llama3.2:3b",
    );
    expect(fileLines("http://127.0.0.1:11434/v1", "llama3.2:3b")).toContain("model = llama3.2:3b");
  });
  it("quote one with commas, blanks and quotes", () => {
    expect(flagLine("http://127.0.0.1:8000/v1", "my model, it's 7b")).toBe(
      `ramet serve --agent 'local=openai,url=http://127.0.0.1:8000/v1,model="my model, it'\\''s 7b"'`,
    );
    expect(fileLines("http://127.0.0.1:8000/v1", "a b")).toContain('model = "a b"');
  });
});
