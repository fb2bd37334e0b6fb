// Sequences on which xterm 6.0 throws or loops for hours: their parameters are set to ones that do the same. Knows no connection.
import type { IFunctionIdentifier, Terminal } from '@xterm/xterm';

/** The parser's own parameters, which may be changed before the built-in handler acts; the public ones are a copy. */
interface Params {
  readonly params: Int32Array;
}
interface Core {
  registerCsiHandler(id: IFunctionIdentifier, handler: (params: Params) => boolean): void;
}

const ERASE_TO_HERE = 1;
const ERASE_ALL = 2;

export function avoidHazards(terminal: Terminal): void {
  const core = (terminal as unknown as { readonly _core: Core })._core;
  const amend = (id: IFunctionIdentifier, change: (count: number) => number) =>
    core.registerCsiHandler(id, ({ params }) => {
      params[0] = change(params[0] ?? 0);
      return false;
    });
  for (const final of ['S', 'T', 'L', 'M']) amend({ final }, (count) => Math.min(count, terminal.rows));
  for (const final of ['I', 'Z']) amend({ final }, (count) => Math.min(count, terminal.cols));
  amend({ final: 'b' }, (count) => fewerRepeats(count, terminal));
  // In the last cell, erasing up to here is erasing all; there, xterm looks for a line below, which need not be.
  for (const id of [{ final: 'J' }, { prefix: '?', final: 'J' }])
    amend(id, (what) => (what === ERASE_TO_HERE && inLastCell(terminal) ? ERASE_ALL : what));
}

function inLastCell({ buffer, cols, rows }: Terminal): boolean {
  return buffer.active.cursorX >= cols - 1 && buffer.active.cursorY === rows - 1;
}

/** Past two screens, all that more repetitions change is the column in which they end, for narrow and for wide characters alike. */
function fewerRepeats(count: number, { cols, rows }: Terminal): number {
  const screens = 2 * cols * rows;
  const round = cols * Math.max(1, Math.floor(cols / 2));
  return count <= screens ? count : screens + ((count - screens) % round);
}
