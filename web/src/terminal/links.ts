// Links in a terminal, plain and marked (OSC 8): opened in a window of their own, after a word. Knows no connection.
import type { Terminal } from '@xterm/xterm';

/** Only these are opened; a program may print any address. */
const PROTOCOLS = ['http:', 'https:'];

/** `confirmed` asks the visitor whether to open that address, which is shown whole: the text of a marked link may say another. */
export async function followLinks(terminal: Terminal, confirmed: (url: string) => boolean): Promise<void> {
  const activate = (_event: MouseEvent, text: string) => open(text, confirmed);
  terminal.options.linkHandler = { activate };
  const { WebLinksAddon } = await import('@xterm/addon-web-links');
  if (terminal.element?.isConnected) terminal.loadAddon(new WebLinksAddon(activate));
}

function open(text: string, confirmed: (url: string) => boolean): void {
  const url = openable(text);
  if (url !== undefined && confirmed(url)) window.open(url, '_blank', 'noopener,noreferrer');
}

/** The address as a browser reads it; undefined if it is none that is opened. */
export function openable(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && PROTOCOLS.includes(url.protocol) ? url.href : undefined;
}
