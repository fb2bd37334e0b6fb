// Over any cuts, lags and losses of the log, a client's screen is in the end what the session printed: nothing lost, nothing doubled.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { connectBy, type Missed, type Picture, type TerminalClient } from '../../src/client/index.js';
import { FakeSession } from './fake-session.js';

const step = fc.constantFrom(
  'print',
  'print',
  'print',
  'resize',
  'members',
  'keyframe',
  'gap',
  'forget',
  'lag',
  'caughtUp',
  'cut',
  'ask',
  'wait',
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** What an application shows: the outputs it was given, and Keyframes as they are. */
class Screen {
  shown: number[] = [];
  constructor(client: TerminalClient, writesWhatItMayIgnore: boolean) {
    client.on('output', (bytes) => this.shown.push(Number(text(bytes).replace(';', ''))));
    client.on('keyframe', (picture) => {
      if (writesWhatItMayIgnore || !picture.afterReplay) this.#write(picture);
    });
  }
  #write({ snapshot }: Picture): void {
    this.shown = JSON.parse(text(snapshot));
  }
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

async function play(session: FakeSession, client: TerminalClient, steps: readonly Step[]): Promise<void> {
  const size = { cols: 80, rows: 24 };
  const acts: Record<Step, () => unknown> = {
    print: () => session.print(),
    resize: () => session.resize(++size.cols, size.rows),
    members: () => session.members(),
    keyframe: () => session.periodicKeyframe(),
    gap: () => session.gap(),
    forget: () => session.forget(),
    lag: () => session.lag(),
    caughtUp: () => session.caughtUp(),
    cut: () => session.cut(),
    ask: () => client.requestKeyframe(),
    wait: turn,
  };
  for (const each of steps) await acts[each]();
  session.caughtUp();
}

/** What an application is told of the outputs, and of those that it missed. */
class Witness {
  readonly given: Array<{ sequence: number; replayed: boolean }> = [];
  readonly missed: Missed[] = [];
  constructor(client: TerminalClient) {
    client.on('output', (_bytes, sequence, replayed) => this.given.push({ sequence, replayed }));
    client.on('missed', (missed) => this.missed.push(missed));
  }
  /** Which stretches that were, or were not, replayed hold this number. */
  holding(number: number, replayed: boolean): Missed[] {
    return this.missed.filter((each) => each.replayed === replayed && each.from <= number && number <= each.to);
  }
}

/** Resolves when the client has all that there is; fails if it does not get there. */
async function caughtUp(session: FakeSession, client: TerminalClient): Promise<void> {
  const live = () => client.state.name === 'live' && (client.position ?? -1) >= session.newest;
  for (let turns = 0; turns < 10_000 && !live(); turns++) await turn();
  if (live()) return;
  throw new Error(`the client did not catch up: ${JSON.stringify(client.state)}, at ${client.position} of ${session.newest}`);
}

const reconnect = { firstMs: 0, maxMs: 0, attemptsBeforeLive: 1000 };
const scenario = {
  budgets: fc.array(fc.nat(20), { maxLength: 8 }),
  before: fc.array(step, { maxLength: 10 }),
  during: fc.array(step, { maxLength: 60 }),
  replayFrom: fc.option(fc.constant(0), { nil: undefined }),
  binary: fc.boolean(),
  writesAll: fc.boolean(),
};

describe('a client over cuts', () => {
  it('shows each output once, in order, whatever is cut, lagged or forgotten', async () => {
    await fc.assert(
      fc.asyncProperty(fc.record(scenario), async ({ budgets, before, during, replayFrom, binary, writesAll }) => {
        const session = new FakeSession(budgets);
        const subprotocol = binary ? 'pty-ws.v1.binary' : 'pty-ws.v1';
        const client = connectBy(session.dial, {
          url: 'ws://nowhere/attach',
          subprotocol,
          reconnect,
          ...(replayFrom !== undefined && { replayFrom }),
        });
        const screen = new Screen(client, writesAll);
        await play(
          session,
          client,
          before.filter((each) => each !== 'ask'),
        );
        await play(session, client, during);
        await caughtUp(session, client);
        expect(screen.shown).toEqual(session.printed());
        client.close();
      }),
      { numRuns: 400 },
    );
  });

  it('knows the size and the members of the newest frame, although a join tells them before the past', async () => {
    await fc.assert(
      fc.asyncProperty(fc.record(scenario), async ({ budgets, during }) => {
        const session = new FakeSession(budgets);
        const client = connectBy(session.dial, { url: 'ws://nowhere/attach', reconnect });
        await play(session, client, during);
        await caughtUp(session, client);
        session.heal();
        session.members();
        session.resize(33, 7);
        expect(client.members.observers).toEqual([{ client_id: `c-${session.newest - 2}` }]);
        expect(client.size).toEqual({ cols: 33, rows: 7 });
        client.close();
      }),
      { numRuns: 100 },
    );
  });

  it('tells exactly what was missed: each output is given, or lies in one stretch that was lost; each from the past, in one that was replayed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.record(scenario), async ({ budgets, during }) => {
        const session = new FakeSession(budgets);
        const client = connectBy(session.dial, { url: 'ws://nowhere/attach', reconnect, replayFrom: 0 });
        const witness = new Witness(client);
        await play(
          session,
          client,
          during.filter((each) => each !== 'ask'),
        );
        await caughtUp(session, client);
        const given = witness.given.map(({ sequence }) => sequence);
        const lost = session.printed().filter((number) => witness.holding(number, false).length === 1);
        expect([...given, ...lost].sort((a, b) => a - b)).toEqual(session.printed());
        for (const { sequence, replayed } of witness.given) if (replayed) expect(witness.holding(sequence, true)).not.toEqual([]);
        for (const { from, to, replayed, keyframe } of witness.missed)
          expect([from <= to, keyframe === undefined]).toEqual([true, replayed]);
        client.close();
      }),
      { numRuns: 400 },
    );
  });
});
