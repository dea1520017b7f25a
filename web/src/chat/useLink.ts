// SPDX-License-Identifier: Apache-2.0
// Whether the page is connected to the server. A short interruption is not shown.
import { useEffect, useState, useSyncExternalStore } from "react";
import { live } from "../api/events";

const SHOWN_AFTER_MS = 700;

export const useOffline = (): boolean => {
  const state = useSyncExternalStore(live().subscribe, live().state);
  const [shown, setShown] = useState(false);
  const offline = state === "offline";
  useEffect(() => {
    if (!offline) return;
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => {
      clearTimeout(timer);
      setShown(false);
    };
  }, [offline]);
  return offline && shown;
};
