// Finds text in a terminal and what was scrolled out of it; loaded when it is first wanted. Knows no view.
import type { Terminal } from '@xterm/xterm';
import { marks } from './theme.js';

/** Matches that are marked; more are found, but not counted. */
const MAX_MARKED = 1000;

export interface Found {
  /** From 0; -1 if it is not known which one is shown. */
  readonly index: number;
  readonly count: number;
}

export interface Search {
  /** `growing`: the text is being typed, and what is shown stays if it still fits. */
  next(text: string, growing?: boolean): void;
  previous(text: string): void;
  clear(): void;
}

/** `found` is told of each search, and of what changes while it goes on. */
export async function searchIn(terminal: Terminal, found: (what: Found) => void): Promise<Search> {
  const { SearchAddon } = await import('@xterm/addon-search');
  const addon = new SearchAddon({ highlightLimit: MAX_MARKED });
  terminal.loadAddon(addon);
  addon.onDidChangeResults(({ resultIndex, resultCount }) => found({ index: resultIndex, count: resultCount }));
  return {
    next: (text, growing = false) => void addon.findNext(text, { decorations: marks(), incremental: growing }),
    previous: (text) => void addon.findPrevious(text, { decorations: marks() }),
    clear: () => addon.clearDecorations(),
  };
}
