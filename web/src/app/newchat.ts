// SPDX-License-Identifier: Apache-2.0
// A new chat has its id and address (/chat/ID) before the server knows it: it is created with its first
// message, so that no empty chats are left behind. The ids of such chats are kept per tab, so that a reload
// neither requests a missing chat nor loses the draft.
import { newKey } from "../api/client";
import { chatPath, navigate } from "./router";

const KEY = "ramet.fresh";
const KEPT = 20;

const read = (): string[] => {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as string[];
  } catch {
    return [];
  }
};
let fresh: string[] | null = null;
const list = () => (fresh ??= read());
const keep = (ids: string[]) => {
  fresh = ids.slice(-KEPT);
  try {
    sessionStorage.setItem(KEY, JSON.stringify(fresh));
  } catch {
    // it lives as long as the page then
  }
};

export const isFresh = (id: string): boolean => list().includes(id);
export const freshId = (): string => {
  const id = newKey();
  keep([...list(), id]);
  return id;
};
/** The server knows it now. */
export const noLongerFresh = (id: string): void => {
  if (isFresh(id)) keep(list().filter((one) => one !== id));
};

/** Goes to a new chat with the composer focused. */
export const newChat = (): void => navigate(chatPath(freshId(), { focus: "message" }));
