// What a person sees of cells.
import { describe, expect, it } from 'vitest';
import { table } from '../../src/cli/table.js';

describe('A table', () => {
  const rows = [
    ['a', 'running', 'ws://gateway/one'],
    ['long', 'x\x1b[2J', 'ws://gateway/two'],
  ];
  const header = ['AGENT', 'STATE', 'ATTACH TO'];

  it('has its cells in columns, without what could steer a terminal', () => {
    expect(table(header, rows)).toBe('AGENT  STATE    ATTACH TO\na      running  ws://gateway/one\nlong   x [2J    ws://gateway/two\n');
  });

  it('cuts the cells that give way, the widest first, where there is no room for all', () => {
    expect(table(header, rows, 26, [2])).toBe('AGENT  STATE    ATTACH TO\na      running  ws://gate…\nlong   x [2J    ws://gate…\n');
    expect(table(header, rows, 20, [0])).toBe(table(header, rows, 20));
  });

  it('that is too wide for its terminal has the last cell of each row on a line of its own', () => {
    expect(table(header, rows, 32)).toBe(table(header, rows));
    expect(table(header, rows, 31)).toBe(
      'AGENT  STATE\n  ATTACH TO\na      running\n  ws://gateway/one\nlong   x [2J\n  ws://gateway/two\n',
    );
  });
});

it('A table has its columns where a terminal shows them, also behind characters that are two columns wide, or none', () => {
  const lines = table(
    ['LABEL', 'HERE'],
    [
      ['日本語', 'a'],
      ['é\u0301tude', 'b'],
      ['ｱｲｳ', 'c'],
      ['🚀 go', 'd'],
      ['plain', 'e'],
    ],
  );
  expect(lines).toBe('LABEL   HERE\n日本語  a\né\u0301tude   b\nｱｲｳ     c\n🚀 go   d\nplain   e\n');
  expect(table(['LABEL'], [['日本語の長い名前です']], 12, [0])).toBe('LABEL\n日本語の長…\n');
});
