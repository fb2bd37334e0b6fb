// Lines up cells in columns for a person. Knows nothing of what is in them.

/**
 * A header and rows as lines; where one would be longer than `columns`, the last cell of each has a line of its own. What could steer a
 * terminal is taken out: the cells come from programs and from other people.
 */
export function table(header: readonly string[], rows: ReadonlyArray<readonly string[]>, columns = Number.POSITIVE_INFINITY): string {
  const lines = [header, ...rows].map((cells) => cells.map(harmless));
  const wide = aligned(lines);
  if (wide.every((line) => line.length <= columns)) return ended(wide);
  const narrow = aligned(lines.map((cells) => cells.slice(0, -1)));
  return ended(narrow.flatMap((line, row) => [line, `  ${lines[row]?.at(-1) ?? ''}`]));
}

const ended = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

function aligned(lines: ReadonlyArray<readonly string[]>): string[] {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** The text on one line, without what could steer a terminal. */
export function harmless(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
