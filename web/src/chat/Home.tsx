// SPDX-License-Identifier: Apache-2.0
// The page without a chat, with a composer. A chat gets its address with its first message.
import { useEffect, useState } from "react";
import { freshId } from "../app/newchat";
import { chatPath, navigate } from "../app/router";
import { roomOf } from "../state/session";
import { Chat } from "./Chat";
import { Welcome } from "./Welcome";

export function Home() {
  const [id] = useState(freshId);
  const sent = roomOf(id).store((s) => s.pending.length > 0 || s.status !== "fresh");
  useEffect(() => {
    if (sent) navigate(chatPath(id), true);
  }, [sent, id]);
  return <Chat id={id} empty={<Welcome />} />;
}
