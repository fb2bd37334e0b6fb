// Holds back xterm's answers to what programs ask of a terminal. Knows no client: who may answer is told by `allowed`.
import type { IParser } from '@xterm/xterm';

/** DA1, DA2, DA3, DSR, DECRQM and window reports: every control sequence that xterm answers. */
const CSI_QUESTIONS = [
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

/** `allowed` is asked as each question is parsed: a question in a replay or in a Keyframe was answered when it was live. */
export function gateAnswers(parser: IParser, allowed: () => boolean): void {
  const swallow = () => !allowed();
  for (const id of CSI_QUESTIONS) parser.registerCsiHandler(id, swallow);
  parser.registerDcsHandler({ intermediates: '$', final: 'q' }, swallow);
  for (const id of OSC_COLOURS) parser.registerOscHandler(id, (data) => data.includes('?') && swallow());
}
