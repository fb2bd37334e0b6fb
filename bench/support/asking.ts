// Asks a question: everyone once a round, so that what is compared ran within the same minute. Knows no question.
import { quantile } from './figures.js';
import type { Budget, Figures, Question, Round } from './question.js';

/** Above this share of a core it is the client that was measured. */
const CLIENT_BUSY = 0.9;

/** A value over all rounds. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export interface Judged {
  readonly budget: Budget;
  readonly spread: Spread;
}

export interface Asked {
  readonly question: Question;
  readonly rounds: readonly Round[];
  readonly judged: readonly Judged[];
  /** What a reader has to know of the run, in sentences. */
  readonly remarks: readonly string[];
  readonly seconds: number;
}

export async function ask(question: Question, count: number): Promise<Asked> {
  const begun = performance.now();
  const { contenders, missing = [], close } = await question.open();
  const rounds: Round[] = [];
  try {
    for (let round = 0; round < count; round++) {
      const figures = new Map<string, Figures>();
      for (const { name, measure } of contenders) figures.set(name, await measure());
      rounds.push(figures);
    }
  } finally {
    await close();
  }
  const judged = question.budgets.flatMap((budget) => judge(budget, rounds));
  return { question, rounds, judged, remarks: [...missing, ...clients(rounds)], seconds: (performance.now() - begun) / 1000 };
}

function judge(budget: Budget, rounds: readonly Round[]): Judged[] {
  const values = rounds.map((round) => budget.of(round)).filter((value) => value !== undefined);
  return values.length === 0 ? [] : [{ budget, spread: spreadOf(values) }];
}

export const spreadOf = (values: readonly number[]): Spread => ({
  median: quantile(values, 0.5),
  low: Math.min(...values),
  high: Math.max(...values),
});

/** The figures of one contender, each over all rounds. */
export function spreadsOf(rounds: readonly Round[], contender: string): ReadonlyMap<string, Spread> {
  const all = rounds.map((round) => round.get(contender) ?? {});
  return new Map(Object.keys(all[0] ?? {}).map((name) => [name, spreadOf(all.map((figures) => figures[name] ?? Number.NaN))]));
}

function clients(rounds: readonly Round[]): string[] {
  const names = [...(rounds[0]?.keys() ?? [])];
  return names.flatMap((name) => {
    const busy = spreadsOf(rounds, name).get('client busy')?.median ?? 0;
    return busy > CLIENT_BUSY ? [`${name}: the client was the bottleneck (${Math.round(busy * 100)} % of a core)`] : [];
  });
}
