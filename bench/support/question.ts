// What a bench asks, who is measured for it, and what the answer must be. Knows no gateway.

/** What one contender did in one round, by the name of each figure. */
export type Figures = Readonly<Record<string, number>>;

/** One of those who run in turn. */
export interface Contender {
  readonly name: string;
  measure(): Promise<Figures>;
}

/** The figures of all contenders in one round, by their names: they ran within the same minute. */
export type Round = ReadonlyMap<string, Figures>;

export type Bound = { readonly atLeast: number } | { readonly atMost: number };

/** A value that each round has, and what it has to be. */
export interface Budget {
  /** The path that it is about, as the table says it. */
  readonly path: string;
  /** After the number: `× ttyd`, `µs`. */
  readonly unit: string;
  readonly must?: Bound;
  readonly aim?: Bound;
  /** Undefined where somebody who is needed for it did not run. */
  of(round: Round): number | undefined;
}

/** What has been started for a question, and is ended with it. */
export interface Arena {
  readonly contenders: readonly Contender[];
  /** Who was to run and could not, and why: in a sentence each. */
  readonly missing?: readonly string[];
  close(): Promise<void>;
}

export interface Question {
  /** What it is asked by on the command line, and in the baseline. */
  readonly name: string;
  readonly title: string;
  readonly budgets: readonly Budget[];
  open(): Promise<Arena>;
}

/** One figure of a contender. */
export const figure =
  (contender: string, name: string) =>
  (round: Round): number | undefined =>
    round.get(contender)?.[name];

/** The same figure of two contenders, as a ratio. */
export const ratio =
  (name: string, contender: string, peer: string) =>
  (round: Round): number | undefined => {
    const [own, other] = [figure(contender, name)(round), figure(peer, name)(round)];
    return own === undefined || other === undefined ? undefined : own / other;
  };

export function isHeld(value: number, bound: Bound): boolean {
  return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost;
}

export const inWords = (bound: Bound | undefined): string => {
  if (!bound) return '';
  return 'atLeast' in bound ? `≥ ${bound.atLeast}` : `≤ ${bound.atMost}`;
};
