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
