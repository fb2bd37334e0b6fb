// Lengths of time as a person types them. Knows not what for.
import { InvalidArgumentError } from 'commander';

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };
/** The longest: ten years of 365 days. */
const MAX_SECONDS = 3650 * 86_400;

/** Seconds of a number and s, m, h or d, as 90s or 1h. Throws InvalidArgumentError for what is none, or not 1 s to 3650 d. */
export function duration(value: string): number {
  const [, amount, unit] = /^(\d{1,9})([smhd])$/.exec(value) ?? [];
  const total = Number(amount) * (unitSeconds[unit ?? ''] ?? Number.NaN);
  if (!(total >= 1 && total <= MAX_SECONDS))
    throw new InvalidArgumentError('expected a number and s, m, h or d, as 90s or 1h, up to 3650d');
  return total;
}
