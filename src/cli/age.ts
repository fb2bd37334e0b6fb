// How long ago something was, for a person. Knows not what.

const units = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
  [1, 's'],
] as const;

/** Since then (RFC 3339), in the largest unit of which there is one. */
export function age(since: string): string {
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 1000));
  const [length, unit] = units.find(([each]) => seconds >= each) ?? [1, 's'];
  return `${Math.floor(seconds / length)}${unit}`;
}
