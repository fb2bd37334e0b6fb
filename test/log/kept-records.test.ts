// Records that were read once: the same as their files say, whatever happens in between.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { KeptRecords } from '../../src/log/embedded/kept-records.js';

const ids = ['a', 'b', 'c'] as const;

it('are never older than what was written when they were asked for', async () => {
  type Do = { readonly do: 'ask' | 'write' | 'answer'; readonly id: (typeof ids)[number] };
  const steps = fc.array(fc.record<Do>({ do: fc.constantFrom('ask', 'ask', 'write', 'answer'), id: fc.constantFrom(...ids) }), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 0, max: 40 }), async (todo, most) => {
      const kept = new KeptRecords(most);
      const written = new Map<string, number>(ids.map((id) => [id, 0]));
      const asked: Array<Promise<void>> = [];
      const waiting: Array<() => void> = [];
      for (const step of todo) {
        if (step.do === 'write') {
          written.set(step.id, (written.get(step.id) as number) + 1);
          kept.forget(step.id);
        } else if (step.do === 'answer') waiting.shift()?.();
        else {
          const least = written.get(step.id) as number;
          const read = async () => {
            const record = { n: written.get(step.id) as number };
            await new Promise<void>((answered) => waiting.push(answered));
            return record;
          };
          asked.push(kept.get(step.id, read).then((record) => expect(record?.n).toBeGreaterThanOrEqual(least)));
        }
        await Promise.resolve();
      }
      for (const answer of waiting) answer();
      await Promise.all(asked);
    }),
  );
});

it('are read once, as long as there is room', async () => {
  const kept = new KeptRecords(15);
  const reads: string[] = [];
  const get = (id: string) =>
    kept.get(id, async () => {
      reads.push(id);
      return { of: id };
    });
  for (const id of ['a', 'b', 'a', 'b', 'a']) expect(await get(id)).toEqual({ of: id });
  expect(reads).toEqual(['a', 'b', 'b']);
  kept.forget('a');
  await get('b');
  await get('b');
  expect(reads).toEqual(['a', 'b', 'b', 'b']);
});
