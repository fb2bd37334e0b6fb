// Which way of writing things down this version knows. Knows no store.

/** Of all that is stored: raised when a version writes what the one before it cannot read (docs/upgrading.md). */
export const FORMAT = 1;

/** Why something of that format is left alone; undefined if it can be read. */
export function whyUnread(format: unknown): string | undefined {
  if (format === FORMAT) return undefined;
  if (Number.isSafeInteger(format) && (format as number) > FORMAT)
    return `it was written by a later version (format ${format}; this version reads ${FORMAT}), and is left as it is`;
  return 'it is not what this version of the log writes';
}
