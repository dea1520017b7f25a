// SPDX-License-Identifier: Apache-2.0
// provider.mjs for the tests of the page.
export function realIssuer(redirects: string[], options?: { secret?: string }): Promise<{ url: string; stop(): Promise<void> }>;
export function freePort(): Promise<number>;
