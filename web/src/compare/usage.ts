// SPDX-License-Identifier: Apache-2.0
// Usage in a line, for people.
import type { CompareSide, UsageSum } from "../api/types";

/** 950 -> "950", 12_400 -> "12.4k", 3_200_000 -> "3.2M". */
export function short(n: number): string {
  if (n < 1000) return String(n);
  if (n < 999_950) return `${(n / 1000).toFixed(1).replace(/\.0$/, "")}k`;
  return `${(n / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
}

export function money(cost: number, currency: string): string {
  const digits = cost !== 0 && Math.abs(cost) < 0.1 ? 4 : 2;
  try {
    return new Intl.NumberFormat(undefined, {
      style: "currency",
      currency,
      minimumFractionDigits: 2,
      maximumFractionDigits: digits,
    }).format(cost);
  } catch {
    return `${cost.toFixed(digits)} ${currency}`;
  }
}

/** "1.2k in · 340 out"; "" when nothing is known. */
export function tokens(usage: UsageSum): string {
  if (!usage.entries) return "";
  return `${short(usage.input ?? 0)} in · ${short(usage.output ?? 0)} out`;
}

export function costs(usage: UsageSum): string {
  return (usage.costs ?? []).map((c) => money(c.cost ?? 0, c.currency ?? "")).join(" + ");
}

/** Milliseconds from the first to the last message of its own. */
export function spent(side: CompareSide): number | null {
  if (!side.first_at || !side.last_at) return null;
  return Math.max(0, Date.parse(side.last_at) - Date.parse(side.first_at));
}
