// Keeps xterm silent when a program asks something of its terminal: the gateway has answered. Knows no client.
import type { IParser } from '@xterm/xterm';

/** DA1, DA2, DA3, DSR, DECRQM and window reports: every control sequence that xterm answers. */
const CSI_QUERIES = [
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { prefix: '=', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
  { final: 't' },
];
/** Palette, foreground, background and cursor colour; `?` in place of a colour asks for it. */
const OSC_COLOURS = [4, 10, 11, 12];

export function answerNothing(parser: IParser): void {
  const swallow = () => true;
  for (const id of CSI_QUERIES) parser.registerCsiHandler(id, swallow);
  parser.registerDcsHandler({ intermediates: '$', final: 'q' }, swallow);
  for (const id of OSC_COLOURS) parser.registerOscHandler(id, (data) => data.includes('?'));
}
