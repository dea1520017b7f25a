// SPDX-License-Identifier: Apache-2.0
// Copies a text to the clipboard. Browsers offer the clipboard API to secure origins only, and a server in
// a private network often is none.
export const copyText = async (text: string): Promise<void> => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr-only";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("The browser does not let the page copy.");
};
