// SPDX-License-Identifier: Apache-2.0
// A question of the agent, which waits for the answer: a permission with its options, or a text.
import { useState } from "react";
import type { Question } from "../api/types";
import { mayWrite } from "../state/session";
import { Button, TextField } from "../ui";
import { attempt } from "./actions";
import { useRoom } from "./runtime";

export function QuestionCard({ question }: { question: Question }) {
  const room = useRoom();
  const busy = room.store((s) => s.busy.has("reply:" + question.id));
  const write = room.store(mayWrite);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState("");
  const answer = (value: string) => {
    setChosen(value);
    void attempt(() => room.reply(question.id, value));
  };
  const options = question.kind === "permission" ? (question.options ?? []) : [];
  return (
    <section className="chat-card chat-question" aria-label="Question">
      <h4 className="chat-card-head">{question.kind === "permission" ? "Asks for permission" : "Asks you"}</h4>
      <p>{question.text}</p>
      {options.length > 0 ? (
        <div className="chat-question-options">
          {options.map((option, i) => (
            <Button
              key={option.id}
              variant={i === 0 ? "primary" : "plain"}
              busy={busy && chosen === option.id}
              disabled={busy || !write}
              onClick={() => answer(option.id)}
            >
              {option.name}
            </Button>
          ))}
        </div>
      ) : (
        <form
          className="chat-question-options"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() !== "") answer(text);
          }}
        >
          <TextField
            label="Answer"
            value={text}
            onChange={(event) => setText(event.target.value)}
            disabled={busy || !write}
          />
          <Button type="submit" variant="primary" busy={busy} disabled={!write || text.trim() === ""}>
            Answer
          </Button>
        </form>
      )}
    </section>
  );
}
