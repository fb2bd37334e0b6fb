// What can be seen of a terminal, and what it will do: to compare two of them. Knows no snapshot.
import { StringDecoder } from 'node:string_decoder';
import { isDeepStrictEqual } from 'node:util';
import headless from '@xterm/headless';

type Terminal = InstanceType<typeof headless.Terminal>;
/** With what the emulator does not tell in public: the kind and colour of an underline, and whether a link is on it. */
type Cell = NonNullable<ReturnType<NonNullable<ReturnType<Terminal['buffer']['active']['getLine']>>['getCell']>> & {
  getUnderlineStyle(): number;
  getUnderlineColor(): number;
  getUnderlineColorMode(): number;
  hasExtendedAttrs(): number;
  readonly extended: { readonly urlId: number };
};

/** A terminal as a person has it: the emulator without any of our precautions. */
export const reference = (cols: number, rows: number): Terminal =>
  new headless.Terminal({ cols, rows, scrollback: 0, allowProposedApi: true, logLevel: 'off' });

/** Writes a stream as one decoder reads it, and waits until the terminal has acted upon it. */
export async function feed(terminal: Terminal, ...chunks: ReadonlyArray<Uint8Array | string>): Promise<void> {
  const utf8 = new StringDecoder('utf8');
  for (const chunk of chunks) {
    const text = typeof chunk === 'string' ? chunk : utf8.write(Buffer.from(chunk));
    await new Promise<void>((resolve) => terminal.write(text, resolve));
  }
}

/** Of a blank that is neither inverse nor lined only the background can be seen. */
function look(cell: Cell): string {
  const back = [cell.getWidth(), cell.getBgColorMode(), cell.getBgColor()];
  const isLinked = cell.hasExtendedAttrs() !== 0 && cell.extended.urlId !== 0;
  const underline = cell.isUnderline() ? [cell.getUnderlineStyle(), cell.getUnderlineColorMode(), cell.getUnderlineColor()].join() : 0;
  const lines = [cell.isInverse(), underline, cell.isStrikethrough(), cell.isOverline(), isLinked];
  const chars = cell.getChars() || ' ';
  if (chars === ' ' && !lines.some(Boolean)) return [' ', ...back].join();
  const flags = [cell.isBold(), cell.isItalic(), cell.isDim(), cell.isInvisible(), cell.isBlink()].map(Boolean);
  return [chars, ...back, ...lines.map(String), cell.getFgColorMode(), cell.getFgColor(), ...flags].join();
}

export interface Look {
  readonly screen: string;
  readonly cursor: readonly [x: number, y: number];
  readonly modes: Record<string, unknown>;
  readonly text: readonly string[];
  readonly wrapped: readonly boolean[];
  readonly cells: ReadonlyArray<readonly string[]>;
}

export function lookOf(terminal: Terminal): Look {
  const { active } = terminal.buffer;
  const lines = Array.from({ length: terminal.rows }, (_, y) => active.getLine(active.viewportY + y));
  return {
    screen: active.type,
    cursor: [active.cursorX, active.cursorY],
    modes: { ...terminal.modes },
    text: lines.map((line) => line?.translateToString(true) ?? ''),
    wrapped: lines.map((line) => line?.isWrapped ?? false),
    cells: lines.map((line) => Array.from({ length: terminal.cols }, (_, x) => look(line?.getCell(x) as Cell))),
  };
}

/** A terminal that something else was using: colours, margins, modes, the other screen, an unfinished sequence. */
export const DIRT =
  '\x1b[41;5mdirty\r\n\x1b[3;7r\x1b[?6h\x1b[4h\x1b[?1003;1006h\x1b]8;;http://a\x1b\\\x1b7\x1b[?1049h\x1b[1;31m\x1b(0more\x1b[?25l\x1b[2;3';

/** The first difference in words; empty if there is none. */
export function difference(actual: Look, expected: Look): string {
  for (const key of ['screen', 'text', 'cursor', 'modes', 'cells', 'wrapped'] as const) {
    if (isDeepStrictEqual(actual[key], expected[key])) continue;
    const rows = (look: Look): unknown[] => (Array.isArray(look[key]) ? (look[key] as unknown[]) : [look[key]]);
    const row = rows(expected).findIndex((value, i) => !isDeepStrictEqual(value, rows(actual)[i]));
    const [is, should] = [rows(actual)[row], rows(expected)[row]];
    if (key !== 'cells') return `${key} ${row}: ${JSON.stringify(is)} instead of ${JSON.stringify(should)}`;
    const column = (should as string[]).findIndex((value, i) => value !== (is as string[])[i]);
    return `cell ${row}, ${column}: ${(is as string[])[column]} instead of ${(should as string[])[column]}`;
  }
  return '';
}
