// SPDX-License-Identifier: Apache-2.0
/** Joins class names, leaving out what is not set. */
export function cx(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
