// The steps from which a screen is folded again begin where they are asked to, as far as the log goes back.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entry } from '../../src/protocol/make-frames.js';
import { past } from '../../src/session/past.js';
import { keyframe } from '../../src/session/picture.js';
import type { ScreenStep } from '../../src/terminal/terminal.js';
import { MemoryLog } from '../support/memory-log.js';

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const SIZE = { cols: 80, rows: 24 };

/** What is appended: an Output, or a Keyframe of all Outputs so far. */
type Told = 'o' | 'k';

function logOf(all: readonly Told[]): { log: MemoryLog; outputs: number[]; anchors: number[] } {
  const log = new MemoryLog();
  const [outputs, anchors]: [number[], number[]] = [[], []];
  for (const what of all) {
    if (what === 'o') outputs.push(log.append([entry('Output', bytes('o'))]).first);
    else {
      anchors.push(outputs.at(-1) ?? 0);
      log.append([keyframe({ ...SIZE, bytes: bytes('k'), anchor: anchors.at(-1) ?? 0 })]);
    }
  }
  return { log, outputs, anchors };
}

async function stepsOf(log: MemoryLog, upTo?: number): Promise<ScreenStep[]> {
  const steps: ScreenStep[] = [];
  for await (const step of past(log, upTo)) steps.push(step);
  return steps;
}
const numberOf = (step: ScreenStep | undefined): number | undefined => (step?.kind === 'snapshot' ? step.snapshot.anchor : step?.sequence);

describe('the past of a screen', () => {
  const all = fc.array(fc.constantFrom<Told>('o', 'o', 'o', 'o', 'k'), {
    maxLength: 60,
  });

  it('begins with the newest Keyframe that shows no more than is known, or with the beginning, and leaves nothing out', async () => {
    await fc.assert(
      fc.asyncProperty(all, fc.nat(70), async (told, upTo) => {
        const { log, outputs, anchors } = logOf(told);
        const steps = await stepsOf(log, upTo);
        const anchor = anchors.findLast((each) => each <= upTo);
        expect(steps[0]?.kind === 'snapshot' ? numberOf(steps[0]) : undefined).toBe(anchor);
        const shown = steps.filter(({ kind }) => kind === 'output').map(numberOf);
        expect(shown).toEqual(outputs.filter((each) => each > (anchor ?? 0)));
      }),
    );
  });

  it('begins with the newest Keyframe for who wants nothing more', async () => {
    const { log } = logOf(['o', 'k', 'o', 'k', 'o']);
    expect((await stepsOf(log)).map(numberOf)).toEqual([3, 5]);
  });

  it('is found far behind, and begins with the oldest Keyframe where what is wanted is gone', async () => {
    const { log, outputs } = logOf(['o', 'k', ...Array.from({ length: 1000 }, () => 'o' as const), 'k', 'o', 'k']);
    const steps = await stepsOf(log, outputs[900]);
    expect([numberOf(steps[0]), steps.length]).toEqual([1, 1 + 1001]);
    log.trim(500);
    const rest = await stepsOf(log, outputs[900]);
    expect([rest[0]?.kind, numberOf(rest[0]), rest.length]).toEqual(['snapshot', outputs[1000], 2]);
  });
});
