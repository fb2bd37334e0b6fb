// Other emulators, each behind the same few calls, from wherever EMULATORS says that they are installed. Knows neither recordings nor times.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fold } from '../../src/terminal/fold.js';

/** What is compared of a screen: its text and where the cursor is. */
export interface Shown {
  readonly lines: readonly string[];
  readonly cursor: readonly [x: number, y: number];
  readonly isAlternate: boolean;
}

interface Emulator {
  write(bytes: Uint8Array): void;
  shown(): Shown;
}

export interface Candidate {
  readonly name: string;
  open(cols: number, rows: number): Emulator;
}

/** Ours parses on demand: what it was given is looked at once, at the end. */
export const ours: Candidate = {
  name: '@xterm/headless, as the screen uses it',
  open(cols, rows) {
    const fold = new Fold({ cols, rows });
    return { write: (bytes) => fold.output(1, bytes), shown: () => ({ ...empty, lines: fold.view().lines }) };
  },
};
const empty: Shown = { lines: [], cursor: [0, 0], isAlternate: false };

const textOf = (cells: ReadonlyArray<{ code: number; width: number }>): string =>
  cells
    .filter(({ width }) => width > 0)
    .map(({ code }) => (code > 31 ? String.fromCodePoint(code) : ' '))
    .join('')
    .trimEnd();

// biome-ignore lint/suspicious/noExplicitAny: packages that may not be there have no types here
type Foreign = any;

const placeOf = (folder: string, file: string): string => path.resolve(folder, 'node_modules', file);
const load = (folder: string, file: string): Promise<Foreign> => import(pathToFileURL(placeOf(folder, file)).href);
const compiled = (folder: string, file: string): Promise<WebAssembly.Module> => WebAssembly.compile(readFileSync(placeOf(folder, file)));

async function ghostty(folder: string): Promise<Candidate> {
  const { Ghostty } = await load(folder, 'ghostty-web/dist/ghostty-web.js');
  const wasm = await compiled(folder, 'ghostty-web/ghostty-vt.wasm');
  return {
    name: 'ghostty-web 0.4.0 (WebAssembly)',
    open(cols, rows) {
      const library = new Ghostty(new WebAssembly.Instance(wasm, { env: { log: () => {} } }));
      const terminal = library.createTerminal(cols, rows, { scrollbackLimit: 0 });
      return {
        write: (bytes) => terminal.write(bytes),
        shown() {
          const { x, y } = terminal.getCursor(); // which brings up to date what is shown
          const cells = terminal.getViewport().map((cell: Foreign) => ({ code: cell.codepoint, width: cell.width }));
          const lines = Array.from({ length: rows }, (_, row) => textOf(cells.slice(row * cols, (row + 1) * cols)));
          return { lines, cursor: [x, y], isAlternate: terminal.isAlternateScreen() };
        },
      };
    },
  };
}

async function wterm(folder: string): Promise<Candidate> {
  const { WasmBridge } = await load(folder, '@wterm/core/dist/index.js');
  const wasm = await compiled(folder, '@wterm/core/wasm/wterm.wasm');
  return {
    name: '@wterm/core 0.3.4 (WebAssembly)',
    open(cols, rows) {
      const bridge = new WasmBridge(new WebAssembly.Instance(wasm, {}));
      bridge.init(cols, rows);
      return {
        write: (bytes) => bridge.writeRaw(bytes),
        shown() {
          const { row, col } = bridge.getCursor();
          const line = (y: number) =>
            textOf(Array.from({ length: cols }, (_, x) => bridge.getCell(y, x)).map(({ char, width = 1 }) => ({ code: char, width })));
          return { lines: Array.from({ length: rows }, (_, y) => line(y)), cursor: [col, row], isAlternate: bridge.usingAltScreen() };
        },
      };
    },
  };
}

/** Those installed in this folder. */
export const others = async (folder: string): Promise<Candidate[]> => [await ghostty(folder), await wterm(folder)];
