// Whatever place was jumped to, the stage shows what was shown then; and it is read from the nearest Keyframe on, no further ahead than need be.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AHEAD_BYTES } from '../../src/playback/feed.js';
import { Player, type Stage } from '../../src/playback/player.js';
import { type Moment, type Recording, RecordingError, type Size } from '../../src/playback/recording.js';

const size: Size = { cols: 80, rows: 24 };
const bytes = (text: string) => new TextEncoder().encode(text);

/** What happens in a recording: something is printed, or a Keyframe is made, after a while. */
interface Event {
  readonly gap: number;
  readonly what: string | 'KEYFRAME';
}

class Reading implements Recording {
  readonly moments: Moment[] = [];
  readonly timeline: Recording['timeline'];
  /** The numbers that were read from. */
  readonly from: number[] = [];
  given = 0;

  constructor(events: readonly Event[]) {
    let at = 0;
    let text = '';
    for (const [n, { gap, what }] of events.entries()) {
      at += gap;
      if (what !== 'KEYFRAME') text += what;
      const place = { sequence: n + 1, at };
      this.moments.push(
        what === 'KEYFRAME' ? { ...place, kind: 'picture', bytes: bytes(text), size } : { ...place, kind: 'output', bytes: bytes(what) },
      );
    }
    const keyframes = this.moments.filter(({ kind }) => kind === 'picture').map(({ at, sequence }) => ({ at, sequence }));
    this.timeline = { startedAt: 0, duration: at, size, first: 1, isWhole: true, keyframes, markers: [] };
  }

  async *read(from: number): AsyncGenerator<readonly Moment[]> {
    this.from.push(from);
    for (const moment of this.moments.filter(({ sequence }) => sequence >= from)) {
      this.given++;
      yield [moment];
    }
  }

  textAt(position: number): string {
    const outputs = this.moments.filter((moment) => moment.at <= position && moment.kind === 'output');
    return outputs.map((moment) => ('bytes' in moment ? new TextDecoder().decode(moment.bytes) : '')).join('');
  }
}

/** A stage that shows all that was printed. */
class Paper implements Stage {
  text = '';
  isBusy = false;
  blank() {
    this.text = '';
  }
  picture(shown: Uint8Array) {
    this.text = new TextDecoder().decode(shown);
  }
  output(shown: Uint8Array) {
    this.text += new TextDecoder().decode(shown);
  }
  resize() {}
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
/** Until all that is due is shown. */
async function settled(player: Player): Promise<void> {
  do {
    await turn();
    player.tick(0);
  } while (player.state === 'loading');
}

const events = fc.array(
  fc.record({
    gap: fc.integer({ min: 0, max: 3000 }),
    what: fc.oneof({ weight: 3, arbitrary: fc.stringMatching(/^[a-z]{1,4}$/) }, { weight: 1, arbitrary: fc.constant('KEYFRAME') }),
  }),
  { minLength: 1, maxLength: 30 },
);
const acts = fc.array(
  fc.oneof(
    fc.record({ act: fc.constant('seek' as const), n: fc.integer({ min: -100, max: 60_000 }) }),
    fc.record({ act: fc.constant('play' as const), n: fc.integer({ min: 1, max: 5000 }) }),
    fc.record({ act: fc.constant('step' as const), n: fc.constantFrom(1, -1) }),
  ),
  { maxLength: 8 },
);

describe('a player', () => {
  it('shows at each place what was shown then, however it came there', async () => {
    await fc.assert(
      fc.asyncProperty(events, acts, async (events, acts) => {
        const recording = new Reading(events);
        const paper = new Paper();
        const player = new Player(recording, paper);
        await settled(player);
        for (const { act, n } of acts) {
          if (act === 'seek') player.seek(n);
          else if (act === 'step') player.step(n as 1 | -1);
          else {
            player.play();
            await settled(player);
            player.tick(n);
          }
          await settled(player);
          expect(paper.text).toBe(recording.textAt(player.position));
        }
        player.close();
      }),
      { numRuns: 150 },
    );
  });

  const long = Array.from({ length: 100 }, (_, n): Event => ({ gap: 100, what: n % 10 === 9 ? 'KEYFRAME' : `${n}.` }));

  it('reads from the nearest Keyframe on, and not again what lies ahead without one between', async () => {
    const recording = new Reading(long);
    const player = new Player(recording, new Paper());
    player.seek(7150);
    await settled(player);
    player.seek(7350);
    await settled(player);
    player.seek(7040);
    await settled(player);
    expect(recording.from).toEqual([1, 70, 70]);
    player.close();
  });

  it('reads no further ahead than it has room for', async () => {
    const big = 'x'.repeat(AHEAD_BYTES / 4);
    const recording = new Reading(Array.from({ length: 40 }, () => ({ gap: 1000, what: big })));
    const player = new Player(recording, new Paper());
    for (let n = 0; n < 100; n++) await turn();
    expect(recording.given).toBeLessThanOrEqual(5);
    player.play();
    for (let n = 0; n < 20; n++) {
      player.tick(1000);
      await turn();
    }
    expect(player.position).toBeGreaterThan(10_000);
    expect(recording.given).toBeLessThanOrEqual(26);
    player.close();
  });

  it('stands still while the stage is busy, and goes on after', async () => {
    const recording = new Reading(long);
    const paper = new Paper();
    const player = new Player(recording, paper);
    await settled(player);
    player.play();
    paper.isBusy = true;
    player.tick(500);
    player.tick(500);
    expect([player.state, player.position, paper.text]).toEqual(['loading', 500, '']);
    paper.isBusy = false;
    player.tick(0);
    expect([player.state, paper.text]).toEqual(['playing', '0.1.2.3.4.']);
    player.close();
  });

  it('ends at the end, and plays from the beginning then', async () => {
    const recording = new Reading(long);
    const paper = new Paper();
    const player = new Player(recording, paper);
    await settled(player);
    player.play();
    player.tick(1_000_000);
    await settled(player);
    expect([player.state, player.position]).toEqual(['ended', recording.timeline.duration]);
    player.play();
    await settled(player);
    expect([player.isOn, player.position, paper.text]).toEqual([true, 0, '']);
    player.close();
  });

  it('says so where reading fails, and tries again when it is to play', async () => {
    const recording = new Reading(long);
    const read = recording.read.bind(recording);
    let isBroken = true;
    recording.read = async function* (from) {
      if (isBroken) throw new RecordingError('no network', 0);
      yield* read(from);
    };
    const player = new Player(recording, new Paper());
    await settled(player);
    expect([player.state, `${player.trouble}`]).toEqual(['failed', 'RecordingError: no network']);
    isBroken = false;
    player.play();
    await settled(player);
    expect(player.state).toBe('playing');
    player.close();
  });
});
