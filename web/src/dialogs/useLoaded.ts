// SPDX-License-Identifier: Apache-2.0
//
// What a dialog has to ask the server for before it can show itself.

import { useCallback, useEffect, useState } from "react";
import { errorText } from "../api/client";

interface Loaded<T> {
  value: T | null;
  error: string | null;
  /** reads it anew; the old value stays until the new one is there */
  again: () => void;
  set: (value: T) => void;
}

/** `key` names what is loaded: another one is loaded anew. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [value, set] = useState<T | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let current = true;
    setError(null);
    load().then(
      (v) => current && set(v),
      (e: unknown) => current && setError(errorText(e)),
    );
    return () => {
      current = false;
    };
    // `load` is another function at each drawing; `key` says when it means something else.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, round]);
  const again = useCallback(() => setRound((n) => n + 1), []);
  return { value, error, again, set };
}
