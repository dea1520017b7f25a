// SPDX-License-Identifier: Apache-2.0
//
// Changes that a dialog makes at once, without being closed by them.

import { useState } from "react";
import { errorText } from "../api/client";

/** One thing at a time; what went wrong stands in the dialog. */
export function useChange() {
  const [busy, setBusy] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const change = async (what: string, run: () => Promise<unknown>): Promise<boolean> => {
    if (busy !== null) return false;
    setBusy(what);
    setError(null);
    try {
      await run();
      return true;
    } catch (e) {
      setError(errorText(e));
      return false;
    } finally {
      setBusy(null);
    }
  };
  return { busy, error, change };
}
