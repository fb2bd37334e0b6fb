// A few at a time. Knows not of what.

/** Returns how work is done: so many at once, the rest in the order in which it came. */
export function lanes(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: Array<() => void> = [];
  let free = count;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((next) => waiting.push(next));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
