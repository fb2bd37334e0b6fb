// What is read again when the operator says so (SIGHUP), and when its files have changed, each for itself: what cannot be used changes nothing. Knows no content.
import { areWhole, signOf } from './file-sign.js';

export interface ReloadLogger {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Reads a thing again, or rejects with what is wrong and keeps it as it was. Resolves with what there is now, in a few words. */
export type Reread = () => Promise<string> | string;

interface Reloaded {
  readonly reread: Reread;
  readonly files: readonly string[];
  /** Of these files, as they were read last. */
  sign: Promise<string>;
  /** The same, as they were looked at last and not read. */
  unsure?: string;
  /** It could not be used when it was read last. */
  isRefused?: boolean;
}

export class Reloads {
  /** By the variable that names the thing. */
  readonly #all = new Map<string, Reloaded>();

  /** `files` are looked after by `look`; undefined among them is none. */
  add(variable: string, reread: Reread, files: ReadonlyArray<string | undefined> = []): void {
    const named = files.filter((file) => file !== undefined);
    this.#all.set(variable, { reread, files: named, sign: signOf(named) });
  }

  /** Each variable, and whether what it names could not be used when it was read last. */
  standing(): Array<readonly [variable: string, isRefused: boolean]> {
    return [...this.#all].map(([variable, { isRefused = false }]) => [variable, isRefused]);
  }

  /** One line for each. Never rejects. */
  async run(logger: ReloadLogger): Promise<void> {
    for (const [variable, thing] of this.#all) await again(variable, thing, logger);
  }

  /** Those whose files have changed, and are not just being written; one that cannot be used is told of once. Never rejects. */
  async look(logger: ReloadLogger): Promise<void> {
    for (const [variable, thing] of this.#all) if (await isChanged(thing)) await again(variable, thing, logger);
  }
}

/** A file that ends in the middle of a line is believed when it stands still from one look to the next. */
async function isChanged(thing: Reloaded): Promise<boolean> {
  const sign = await signOf(thing.files);
  if (sign === (await thing.sign)) return false;
  const standsStill = sign === thing.unsure;
  thing.unsure = sign;
  return standsStill || areWhole(thing.files);
}

async function again(variable: string, thing: Reloaded, logger: ReloadLogger): Promise<void> {
  // Before it is read: what is written meanwhile is a change yet to come.
  thing.sign = signOf(thing.files);
  await thing.sign;
  try {
    const now = await thing.reread();
    thing.isRefused = false;
    logger.info({ variable }, `${variable} was read again: ${now}`);
  } catch (error) {
    thing.isRefused = true;
    logger.error({ variable }, `${variable} stays as it was: ${(error as Error).message}`);
  }
}
