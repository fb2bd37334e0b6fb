// All attacks, and a run of them on one gateway. Knows no protocol.
import { type Attack, Findings, type Witness } from './attack.js';
import { envelopes } from './envelopes.js';
import { type Hangs, Place } from './place.js';
import { addresses, bodies, tokens } from './requests.js';
import { terminalOutput } from './terminal-output.js';
import { websocketFrames } from './websocket-frames.js';

export const attacks: readonly Attack[] = [websocketFrames, envelopes, tokens, addresses, bodies, terminalOutput];

export interface Report {
  readonly attacks: ReadonlyArray<{
    readonly name: string;
    readonly sent: number;
    readonly seconds: number;
    readonly wrongs: readonly string[];
  }>;
  readonly hangs: Hangs;
  readonly crashes: number;
  /** What the gateway logged as errors. */
  readonly errors: readonly string[];
}

const nobody: Witness = { wrong: () => {}, sent: () => {} };

export interface Setting {
  readonly chosen?: readonly Attack[];
  readonly witness?: Witness;
  /** That have ended before the first input. */
  readonly sessions?: number;
}

/** One attack after the other, so that what is found is known to be that one's. */
export async function fuzz(inputs: number, seed: number, setting: Setting = {}): Promise<Report> {
  const { chosen = attacks, witness = nobody, sessions = 0 } = setting;
  const place = await Place.open(sessions);
  const told: Array<Report['attacks'][number]> = [];
  try {
    for (const attack of chosen) {
      const begun = performance.now();
      const findings = new Findings({ ...witness, wrong: (what) => witness.wrong(`${attack.name}: ${what}`) });
      await attack.run(place, seed, Math.ceil((inputs * attack.share) / 100), findings).catch(async (error) => {
        if (!(await place.hasDied())) throw error;
        findings.wrong('the gateway is dead; it said last', place.lastWords());
      });
      const { sent, wrongs } = findings;
      told.push({ name: attack.name, sent, wrongs, seconds: (performance.now() - begun) / 1000 });
      if (!place.isAlive) break;
    }
    return { attacks: told, hangs: place.hangs, crashes: place.isAlive ? 0 : 1, errors: place.errors() };
  } finally {
    await place.close();
  }
}
