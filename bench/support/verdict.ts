// What all who watched were shown, added up, and whether any of it was wrong. Knows no replica and no fault.
import type { Wrongs } from './lines.js';
import type { Sat } from './sitting.js';
import type { Witness } from './witness.js';

/** Complaints that are told. */
const MAX_COMPLAINTS = 20;
/** Attachments whose story is told. */
const MAX_STORIES = 10;

export interface Verdict {
  /** Nothing was lost, doubled, out of order, not the same for all, or complained of. */
  readonly isClean: boolean;
  /** For a table: what, and the figure. */
  readonly rows: ReadonlyArray<readonly [string, string | number]>;
  /** What was wrong, in words. */
  readonly words: readonly string[];
  /** Milliseconds from a cut until all that was missed was there. */
  readonly gaps: readonly number[];
  /** Milliseconds of silence of a session. */
  readonly silences: readonly number[];
  /** Sessions that a second program went on with. */
  readonly continued: number;
  readonly attachments: number;
  readonly frames: number;
}

/** Of sessions that are over. `deaths`: replicas that ended without being told to, in words. */
export function verdictOf(sat: readonly Sat[], deaths: readonly string[]): Verdict {
  const witnesses = sat.flatMap((one) => one.witnesses);
  const sum = (count: (witness: Witness) => number) => witnesses.reduce((all, one) => all + count(one), 0);
  const wrong = (name: keyof Wrongs) => `${sum(({ wrongs }) => wrongs[name])} / ${sum(({ lines }) => lines.wrongs[name])}`;
  const complaints = sat.flatMap((one) => one.complaints);
  const differing = sat.reduce((all, { agreed }) => all + agreed.differing, 0);
  const frames = sum((one) => one.frames);
  const continued = sat.filter(({ witnesses: [first] }) => (first?.lines.lives ?? 0) > 1).length;
  return {
    isClean: deaths.length + differing + complaints.length + sum(({ wrongs, lines }) => total(wrongs) + total(lines.wrongs)) === 0,
    rows: [
      ['replicas that ended by themselves', deaths.length],
      ['sessions', sat.length],
      ['… which went on elsewhere', continued],
      ['… which printed to their end', sat.filter(({ witnesses: [first] }) => first?.lines.isComplete).length],
      ['attachments, connections', `${witnesses.length}, ${sum(({ connections }) => connections)}`],
      ['frames, lines that were shown', `${frames}, ${sum(({ lines }) => lines.count)}`],
      ['lost frames / lines', wrong('lost')],
      ['doubled frames / lines', wrong('doubled')],
      ['out of order frames / lines', wrong('outOfOrder')],
      ['numbers with different bytes', differing],
      ['told that they missed something', sum(({ lags }) => lags)],
      ['complaints', complaints.length],
    ],
    words: [...deaths, ...complaints.slice(0, MAX_COMPLAINTS), ...sat.flatMap(stories).slice(0, MAX_STORIES)],
    gaps: witnesses.flatMap((one) => one.gaps),
    silences: witnesses.flatMap((one) => one.silences),
    continued,
    attachments: witnesses.length,
    frames,
  };
}

/** Of those who were shown something wrongly. */
function stories({ sessionId, witnesses }: Sat): string[] {
  const wronged = witnesses.filter(({ wrongs, lines }) => total(wrongs) + total(lines.wrongs) > 0);
  return wronged.map(({ wrongs, lines, story }) => {
    return `${sessionId}: frames ${JSON.stringify(wrongs)}, lines ${JSON.stringify(lines.wrongs)}\n  ${story.join('\n  ')}`;
  });
}

const total = ({ lost, doubled, outOfOrder }: Wrongs): number => lost + doubled + outOfOrder;
