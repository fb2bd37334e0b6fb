// Finds text in a terminal and what was scrolled out of it; loaded when it is first wanted. Knows no view.
import type { Terminal } from '@xterm/xterm';
import { marks, onThemeChange } from './theme.js';

/** Matches that are marked; more are found, but not counted. */
const MAX_MARKED = 1000;
/** Matches that are looked at for one in a certain line. */
const MAX_LOOKS = 200;

export interface Found {
  /** From 0; -1 if it is not known which one is shown. */
  readonly index: number;
  readonly count: number;
}

export interface Search {
  /** `growing`: the text is being typed, and what is shown stays if it still fits. */
  next(text: string, growing?: boolean): void;
  previous(text: string): void;
  /** The last match in a line that has this text, or the last one of all. */
  last(text: string, line: string): void;
  clear(): void;
}

/** `found` is told of each search, and of what changes while it goes on, until the signal. */
export async function searchIn(terminal: Terminal, found: (what: Found) => void, signal: AbortSignal): Promise<Search> {
  const { SearchAddon } = await import('@xterm/addon-search');
  const addon = new SearchAddon({ highlightLimit: MAX_MARKED });
  terminal.loadAddon(addon);
  addon.onDidChangeResults(({ resultIndex, resultCount }) => found({ index: resultIndex, count: resultCount }));
  let sought = '';
  const next = (text: string, growing = false) => {
    sought = text;
    addon.findNext(text, { decorations: marks(), incremental: growing });
  };
  const previous = (text: string) => {
    sought = text;
    return addon.findPrevious(text, { decorations: marks() });
  };
  const clear = () => {
    sought = '';
    addon.clearDecorations();
  };
  // Marks keep the colours that they were made with.
  const markAnew = () => {
    addon.clearDecorations();
    if (sought !== '') next(sought, true);
  };
  onThemeChange(markAnew, signal);
  return { next, previous, last: (text, line) => last(terminal, () => previous(text), line), clear };
}

/** Ends at a match in such a line, or at the last one; nothing is selected, so that its mark is seen. */
function last(terminal: Terminal, back: () => boolean, line: string): void {
  terminal.clearSelection();
  let looks = 0;
  while (looks < MAX_LOOKS && back() && !selectedLine(terminal).includes(line)) looks++;
  if (looks === MAX_LOOKS) {
    terminal.clearSelection();
    back();
  }
  terminal.clearSelection();
}

/** The whole line in which the selection begins, however many rows it takes. */
function selectedLine(terminal: Terminal): string {
  const { active } = terminal.buffer;
  let row = terminal.getSelectionPosition()?.start.y ?? 0;
  while (row > 0 && active.getLine(row)?.isWrapped) row--;
  let text = active.getLine(row)?.translateToString(true) ?? '';
  while (active.getLine(++row)?.isWrapped) text += active.getLine(row)?.translateToString(true) ?? '';
  return text;
}
