// The clipboard, which a browser opens to pages over https and on this machine alone. Knows no terminal.

/** Rejects with a sentence where the browser does not let the page. */
export async function writeClipboard(text: string): Promise<void> {
  if (!navigator.clipboard) throw new Error('This browser lets the page copy over https only');
  await navigator.clipboard.writeText(text);
}

/** Rejects with a sentence where the browser does not let the page. */
export async function readClipboard(): Promise<string> {
  if (!navigator.clipboard) throw new Error('This browser lets the page paste over https only');
  return navigator.clipboard.readText();
}
