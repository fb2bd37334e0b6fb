// Links in a terminal, plain and marked (OSC 8): opened in a window of their own, after a word. Knows no connection.
import type { Terminal } from '@xterm/xterm';

/** Only these are opened; a program may print any address. */
const PROTOCOLS = ['http:', 'https:'];

/** Unless the signal comes before they are loaded. */
export async function followLinks(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const activate = (_event: MouseEvent, text: string) => open(text);
  terminal.options.linkHandler = { activate };
  const { WebLinksAddon } = await import('@xterm/addon-web-links');
  if (!signal.aborted) terminal.loadAddon(new WebLinksAddon(activate));
}

/** The address is shown whole: the text of a marked link may say another. */
function open(text: string): void {
  const url = openable(text);
  if (url !== undefined && confirm(`Open this address in a new tab?\n\n${url}`)) window.open(url, '_blank', 'noopener,noreferrer');
}

/** The address as a browser reads it; undefined if it is none that is opened. */
export function openable(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && PROTOCOLS.includes(url.protocol) ? url.href : undefined;
}
