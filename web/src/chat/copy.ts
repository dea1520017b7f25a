// SPDX-License-Identifier: Apache-2.0
// Puts a text on the clipboard. Browsers give the new way to secure origins alone; a server of one's
// own network is none.
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
