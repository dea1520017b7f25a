// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "react";

/** The value as it was when it last stayed the same for that long; `first` until then. */
export function useDebounced<T>(value: T, ms: number, first: T): T {
  const [settled, setSettled] = useState(first);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
