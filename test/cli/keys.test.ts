// The names of keys, ours and tmux's, and what a terminal sends for them.
import { describe, expect, it } from 'vitest';
import { bytesOf, checkKey } from '../../src/cli/keys.js';

const sent = (name: string, isApplication = false) => bytesOf(name, { isApplication });

describe('a key', () => {
  it.each([
    [['Enter', 'enter', 'C-m', 'ctrl-m', '^M'], '\r'],
    [['ctrl-c', 'C-c', 'c-C', '^C'], '\x03'],
    [['C-Space', 'ctrl-space', 'C-@'], '\0'],
    [['alt-x', 'M-x'], '\x1bx'],
    [['M-X'], '\x1bX'],
    [['C-M-x', 'M-C-x', 'ctrl-alt-x'], '\x1b\x18'],
    [['M-Enter'], '\x1b\r'],
    [['Backspace', 'BSpace', 'C-?'], '\x7f'],
    [['Shift-Tab', 'BTab', 'S-Tab'], '\x1b[Z'],
    [['PageUp', 'PPage', 'PgUp'], '\x1b[5~'],
    [['PageDown', 'NPage', 'PgDn'], '\x1b[6~'],
    [['Delete', 'DC'], '\x1b[3~'],
    [['Insert', 'IC'], '\x1b[2~'],
    [['S-Up', 'shift-up'], '\x1b[1;2A'],
    [['C-Left', 'ctrl-left'], '\x1b[1;5D'],
    [['C-M-S-End'], '\x1b[1;8F'],
    [['M-F1'], '\x1b[1;3P'],
    [['C-PPage'], '\x1b[5;5~'],
    [['S-F5'], '\x1b[15;2~'],
    [['-'], '-'],
    [['M--'], '\x1b-'],
    [['^'], '^'],
    [['中'], '中'],
    [['Space'], ' '],
  ])('has each of the names %j', (names, bytes) => {
    expect(names.map((name) => sent(name))).toEqual(names.map(() => bytes));
  });

  it('that moves is sent as the program has asked for it, but for one with a modifier', () => {
    expect([sent('Up', true), sent('Home', true), sent('C-Up', true), sent('Enter', true)]).toEqual([
      '\x1bOA',
      '\x1bOH',
      '\x1b[1;5A',
      '\r',
    ]);
  });

  it.each(['', 'C-', 'ctrl-', 'Entr', 'C-1', 'S-a', 'C-Tab', 'ab', 'X-c', 'hello'])(
    '%j is none, and the answer names those that are',
    (name) => {
      expect(() => checkKey(name)).toThrow(/^expected Enter, Tab, .*C-c, M-x[^\n]*$/);
    },
  );
});
