// SPDX-License-Identifier: Apache-2.0
// The plan of an agent, as a card.
import type { Plan } from "../state/thread";
import { cx, IconCheck, Spinner } from "../ui";

const words: Record<string, string> = {
  completed: "done",
  in_progress: "under way",
  pending: "to do",
};

export function PlanCard({ plan, running }: { plan: Plan; running?: boolean }) {
  const done = plan.entries.filter((step) => step.status === "completed").length;
  return (
    <section className="chat-card" aria-label="Plan">
      <h4 className="chat-card-head">
        Plan
        <span className="chat-card-count">
          {done}/{plan.entries.length}
        </span>
      </h4>
      <ol className="chat-plan">
        {plan.entries.map((step, i) => (
          <li key={i} className={cx(step.status === "completed" && "chat-plan-done")}>
            <span className="chat-plan-mark" role="img" aria-label={words[step.status] ?? step.status}>
              {step.status === "completed" ? (
                <IconCheck />
              ) : step.status === "in_progress" && running ? (
                <Spinner />
              ) : (
                <span className="chat-plan-dot" />
              )}
            </span>
            {step.content}
          </li>
        ))}
      </ol>
    </section>
  );
}
