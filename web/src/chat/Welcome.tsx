// SPDX-License-Identifier: Apache-2.0
// Shown in an empty chat: what can be done here, the sample of a first visit, and how to connect a model.
import { useEffect, useState } from "react";
import { chatPath, follow } from "../app/router";
import { pageOf, useSessions } from "../state/sessions";
import { EmptyState, toastError } from "../ui";
import { Connect } from "../welcome/Connect";
import { ensureSample } from "../welcome/sample";

const isEmpty = (page: ReturnType<typeof pageOf>) => page.begun && !page.busy && page.error === null;

/** The id of the sample that was just created for a user without chats. */
function useSample(): string | null {
  const [sample, setSample] = useState<string | null>(null);
  const nobody = useSessions((s) => isEmpty(pageOf(s)) && s.byId.size === 0);
  useEffect(() => {
    if (nobody) ensureSample().then((id) => id && setSample(id), toastError);
  }, [nobody]);
  return sample;
}

export function Welcome() {
  const sample = useSample();
  return (
    <div className="chat-welcome">
      <EmptyState title="What is on your mind?">
        <p>
          Every message can be edited, forked or rewound to, and every answer asked for again; nothing that was
          said is ever lost.
        </p>
        {sample && (
          <p>
            <a href={chatPath(sample)} onClick={follow}>
              Open the sample chat
            </a>{" "}
            to try it on something.
          </p>
        )}
      </EmptyState>
      <Connect />
    </div>
  );
}
