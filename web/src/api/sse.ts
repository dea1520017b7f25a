// SPDX-License-Identifier: Apache-2.0
// Server-sent events from a fetch: EventSource can neither POST nor send headers.

export type Message = { id: string | null; event: string; data: string };

/** Cuts a stream of text into events. Feed it pieces as they come. */
export class Splitter {
  private rest = "";
  private id: string | null = null;
  private event = "";
  private data: string[] = [];

  feed(piece: string): Message[] {
    const out: Message[] = [];
    const lines = (this.rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (this.data.length > 0 || this.id !== null)
          out.push({ id: this.id, event: this.event || "message", data: this.data.join("\n") });
        this.id = null;
        this.event = "";
        this.data = [];
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
      if (name === "id") this.id = value;
      else if (name === "event") this.event = value;
      else if (name === "data") this.data.push(value);
    }
    return out;
  }
}

/** Every event of an answer's body; `alive` is called for every piece, keep-alives too. */
export async function* messages(answer: Response, alive?: () => void): AsyncGenerator<Message> {
  const reader = answer.body!.getReader();
  const decoder = new TextDecoder();
  const splitter = new Splitter();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      alive?.();
      yield* splitter.feed(decoder.decode(value, { stream: true }));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
