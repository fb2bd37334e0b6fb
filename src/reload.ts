// What is read again when the operator says so (SIGHUP), each for itself: what cannot be used changes nothing. Knows no file.

export interface ReloadLogger {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Reads a thing again, or rejects with what is wrong and keeps it as it was. Resolves with what there is now, in a few words. */
export type Reread = () => Promise<string> | string;

export class Reloads {
  /** By the variable that names the thing. */
  readonly #all = new Map<string, Reread>();

  add(variable: string, reread: Reread): void {
    this.#all.set(variable, reread);
  }

  /** One line for each. Never rejects. */
  async run(logger: ReloadLogger): Promise<void> {
    for (const [variable, reread] of this.#all) {
      try {
        logger.info({ variable }, `${variable} was read again: ${await reread()}`);
      } catch (error) {
        logger.error({ variable }, `${variable} stays as it was: ${(error as Error).message}`);
      }
    }
  }
}
