// Whatever a program prints, whatever the sizes of session and window are or become: the window shows a part of the screen, cell for cell.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Line } from '../../src/cli/display.js';
import { LocalTerminal, type Streams } from '../../src/cli/local-terminal.js';
import { noticeRows } from '../../src/cli/notice-rows.js';
import { WindowDisplay } from '../../src/cli/window-display.js';
import type { Emulator } from '../../src/terminal/emulator.js';
import { Fold } from '../../src/terminal/fold.js';
import { erased, hasInk, plain, sequenceOf, styleOf } from '../../src/terminal/style.js';
import type { Size } from '../../src/terminal/terminal.js';
import { program } from '../support/programs.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Longer than anything is put off, in milliseconds. */
const seconds = 1000;
const bytes = (text: string) => new Uint8Array(Buffer.from(text));

/** A terminal with a session in it, and beside it the screen of the session as it really is. */
class Scene {
  readonly window: Fold;
  readonly session: Fold;
  readonly display: WindowDisplay;
  readonly stdout: { isTTY: true; columns: number; rows: number; write(bytes: Uint8Array | string): void };
  written = '';
  line: Line | undefined;

  constructor(window: Size, session: Size, before: Uint8Array = bytes('')) {
    this.window = new Fold(window);
    this.session = new Fold(session);
    this.session.piece(before);
    const write = (data: Uint8Array | string) => {
      this.written += Buffer.from(data).toString('latin1');
      this.window.piece(Buffer.from(data));
    };
    this.stdout = { isTTY: true, columns: window.cols, rows: window.rows, write };
    const terminal = new LocalTerminal({ stdin: {}, stdout: this.stdout, stderr: { write: () => {} } } as unknown as Streams);
    this.display = new WindowDisplay(terminal, { lost: () => {} });
    this.keyframe();
  }

  keyframe(): void {
    const { bytes: snapshot, cols, rows } = this.session.snapshot();
    this.display.picture({ snapshot, cols, rows, sequence: 0, anchor: 0, afterReplay: false });
  }

  print(output: Uint8Array): void {
    this.session.piece(output);
    this.display.output(output);
  }

  resizeSession(size: Size): void {
    this.session.resize(0, size);
    this.display.sessionResized(size);
  }

  resizeWindow({ cols, rows }: Size): void {
    this.window.resize(0, { cols, rows });
    Object.assign(this.stdout, { columns: cols, rows });
    this.display.windowResized();
  }

  tell(line: Line | undefined): void {
    this.line = line;
    this.display.line(line);
  }

  /** Rows of the window as text. */
  get rows(): string[] {
    vi.advanceTimersByTime(seconds);
    return [...this.window.view().lines];
  }

  close(): void {
    this.display.close();
    this.session.dispose();
    this.window.dispose();
  }
}

const UNDERLINE = 1 << 28;

/** A cell as it can be seen, but for lines and links, which a saved cursor may bring back: half a character and a mark without one are blanks. */
function look(emulator: Emulator, x: number, y: number, room: number): unknown {
  if (x >= emulator.cols || y >= emulator.rows) return { text: ' ', style: sequenceOf(plain) };
  const cell = emulator.line(emulator.active, y).loadCell(x, emulator.cell());
  const style = styleOf(cell);
  const text = cell.getChars();
  const isCharacter = cell.getWidth() > 0 && emulator.core.unicodeService.wcwidth(text.codePointAt(0) ?? 0) > 0;
  const isWhole = text !== '' && isCharacter && cell.getWidth() <= room;
  const unlined = { fg: style.fg & ~UNDERLINE, bg: style.bg, line: 0, link: 0 };
  const drawn = (isWhole && text !== ' ') || hasInk(unlined) ? unlined : erased(style.bg);
  return { text: isWhole ? text : ' ', style: sequenceOf(drawn) };
}

/** What is to be seen in so many rows from `top` on. */
function part(emulator: Emulator, top: number, left: number, { cols, rows }: Size): unknown[][] {
  const columns = (y: number) =>
    Array.from({ length: cols }, (_, x) => look(emulator, left + x, top + y, Math.min(cols, emulator.cols - left) - x));
  return Array.from({ length: rows }, (_, y) => columns(y));
}

/** The first column shown is told by the cursor; which row is free as long as the cursor is in view. */
function expectTruth({ window, session, line }: Scene): void {
  const [seen, real] = [window.emulator, session.emulator];
  const below = line ? noticeRows(line, seen.cols, Math.max(1, Math.floor(seen.rows / 2))).length : 0;
  const size = { cols: seen.cols, rows: Math.max(1, seen.rows - below) };
  const hidden = real.core.coreService.isCursorHidden;
  expect(seen.core.coreService.isCursorHidden).toBe(hidden);
  const left = Math.max(0, Math.min(real.active.x, real.cols - 1) - seen.cols + 1);
  const top = real.active.y - seen.active.y;
  if (!hidden) expect(Math.min(seen.active.x, seen.cols - 1)).toBe(Math.min(real.active.x, real.cols - 1) - left);
  if (hidden || (line && seen.rows === 1)) return;
  expect(part(seen, 0, 0, size)).toEqual(part(real, top, left, size));
}

const size: fc.Arbitrary<Size> = fc.record({ cols: fc.integer({ min: 2, max: 14 }), rows: fc.integer({ min: 1, max: 7 }) });
/** What can happen, with words for it. */
type Step = readonly [what: string, act: (scene: Scene) => void];

/** Without marks alone, which may stand one column off after a snapshot, and without `?7l`, with which characters overlap in the last column. */
const printed = fc.oneof(
  {
    weight: 8,
    arbitrary: program.map((output) =>
      bytes(
        Buffer.from(output)
          .toString()
          .replace(/\p{Mn}|\p{Cf}|\?7l/gu, ''),
      ),
    ),
  },
  { weight: 1, arbitrary: fc.constant(bytes('xe\u0301y')) },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: printed.map((output): Step => [`print ${JSON.stringify(Buffer.from(output).toString())}`, (scene) => scene.print(output)]),
  },
  size.map((to): Step => [`session ${to.cols}×${to.rows}`, (scene) => scene.resizeSession(to)]),
  size.map((to): Step => [`window ${to.cols}×${to.rows}`, (scene) => scene.resizeWindow(to)]),
  fc.constant<Step>(['same size', (scene) => scene.resizeWindow({ cols: scene.session.emulator.cols, rows: scene.session.emulator.rows })]),
  fc.constantFrom<Step>(
    ['line', (scene) => scene.tell({ text: 'a line' })],
    ['long line', (scene) => scene.tell({ text: 'a long line', tail: 'tail' })],
    ['no line', (scene) => scene.tell(undefined)],
    ['keyframe', (scene) => scene.keyframe()],
    ['wait', () => void vi.advanceTimersByTime(seconds)],
  ),
);

describe('a session in a window', () => {
  it('shows a part of the screen that has the cursor in it, cell for cell, whatever happens', () => {
    fc.assert(
      fc.property(size, size, fc.array(step, { maxLength: 12 }), (window, session, steps) => {
        const scene = new Scene(window, session);
        try {
          for (const [, act] of steps) act(scene);
          vi.advanceTimersByTime(seconds);
          expectTruth(scene);
        } finally {
          scene.close();
        }
      }),
      { numRuns: 300 },
    );
  });

  it('draws colours, lines and links as they are', () => {
    const scene = new Scene({ cols: 8, rows: 2 }, { cols: 30, rows: 9 });
    scene.print(bytes('\x1b[1;31;4:3;58:5:3ma\x1b[0;48;2;1;2;3mb\x1b[0m\x1b]8;;http://x\x1b\\c\x1b]8;;\x1b\\d'));
    vi.advanceTimersByTime(seconds);
    const line = scene.window.emulator.line(scene.window.emulator.active, 0);
    const cells = [0, 1, 2, 3].map((x) => line.loadCell(x, scene.window.emulator.cell()));
    expect(cells.map((cell) => [cell.getChars(), sequenceOf({ ...styleOf(cell), link: 0 })])).toEqual([
      ['a', '\x1b[0;1;4:3;58:5:3;31m'],
      ['b', '\x1b[0;48;2;1;2;3m'],
      ['c', '\x1b[0m'],
      ['d', '\x1b[0m'],
    ]);
    expect(cells.map((cell) => scene.window.emulator.link(styleOf(cell).link)?.uri)).toEqual([undefined, undefined, 'http://x', undefined]);
  });

  it('passes bytes on as they are while both have one size and there is no line', () => {
    const scene = new Scene({ cols: 20, rows: 5 }, { cols: 20, rows: 5 });
    scene.written = '';
    scene.print(bytes('\x1b[2;3Hhello\x1b[31m\r\n'));
    expect(scene.written).toBe('\x1b[2;3Hhello\x1b[31m\r\n');
  });

  it('puts a line below the screen and not over it, and nothing that is printed meanwhile gets into it', () => {
    const scene = new Scene({ cols: 20, rows: 3 }, { cols: 20, rows: 3 });
    scene.print(bytes('one\r\ntwo\r\n$ '));
    scene.tell({ text: 'you are watching' });
    expect(scene.rows).toEqual(['two', '$', ' you are watching']);
    scene.print(bytes('ls\r\nfile\r\n$ '));
    expect(scene.rows).toEqual(['file', '$', ' you are watching']);
    scene.tell(undefined);
    expect(scene.rows).toEqual(['$ ls', 'file', '$']);
  });

  it('shows a line in several rows where the window is narrow, as long as half of it is left', () => {
    const scene = new Scene({ cols: 20, rows: 6 }, { cols: 20, rows: 6 });
    scene.tell({ text: 'control was taken from you', tail: 'ctrl-] d detaches' });
    expect(scene.rows.slice(3)).toEqual([' control was taken', ' from you; ctrl-] d', ' detaches']);
    expectTruth(scene);
  });

  it('shortens the text of a line, never its tail, and lets no text steer the terminal', () => {
    const scene = new Scene({ cols: 30, rows: 2 }, { cols: 30, rows: 2 });
    scene.tell({ text: 'cannot be reached\x1b[2J (connect refused)', tail: 'ctrl-] d detaches' });
    expect(scene.rows[1]).toBe(' cannot be… ; ctrl-] d detaches'.replace(' ;', ';'));
  });

  it('tells the title and rings the bell, once each time, also while a part is drawn', () => {
    const scene = new Scene({ cols: 10, rows: 3 }, { cols: 20, rows: 9 }, bytes('\x1b]2;first\x07'));
    const titles = () => scene.written.split('\x1b]2;').slice(1);
    vi.advanceTimersByTime(seconds);
    expect(titles()).toEqual([expect.stringMatching(/^first/)]);
    scene.written = '';
    scene.print(bytes('\x07\x07x\x1b]2;second\x07'));
    vi.advanceTimersByTime(seconds);
    scene.print(bytes('y'));
    vi.advanceTimersByTime(seconds);
    expect(titles()).toEqual([expect.stringMatching(/^second/)]);
    expect(scene.written.split('\x07')).toHaveLength(2);
  });

  it('leaves nothing behind where a terminal keeps what is erased from its beginning', () => {
    const scene = new Scene({ cols: 20, rows: 3 }, { cols: 20, rows: 3 }, bytes('one\r\ntwo\r\nthree'));
    scene.tell({ text: 'a line' });
    vi.advanceTimersByTime(seconds);
    scene.written = '';
    scene.tell(undefined);
    const [beforeErasing = ''] = scene.written.split('\x1b[H\x1b[J');
    scene.window.piece(bytes(beforeErasing));
    expect(scene.rows.join('')).toBe('');
  });

  it.each([
    ['the whole is shown', { cols: 20, rows: 9 }],
    ['a part is drawn', { cols: 10, rows: 3 }],
  ])('never asks the terminal what the program asks, when %s', (_, window) => {
    const scene = new Scene(window, { cols: 20, rows: 9 }, bytes('\x1b[6'));
    scene.written = '';
    scene.print(bytes('n\x1b[8;15H\x1b[6n\x1b[c\x1b]11;'));
    scene.print(bytes('?\x07x'));
    vi.advanceTimersByTime(seconds);
    expect(scene.written).toContain('x');
    expect(scene.written).not.toMatch(/[cn?]$|\[6n|\[c|\]11/);
    expectTruth(scene);
  });
});
