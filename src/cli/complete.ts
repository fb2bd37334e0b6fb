// `pty-gateway complete`: what shells ask while somebody types (`completion/`): which sessions and instances there are. Knows HTTP answers, no shell.
import { Argument, type Command } from 'commander';
import { type GatewayOptions, gatewayOf, withGateway } from './gateway.js';
import { askJson } from './http.js';
import { instancePath, instancesOf, type ListedSession } from './listing.js';
import { harmless } from './table.js';

/** A person who waits for a completion has no patience; in milliseconds. */
const ANSWER_MS = 1000;

type Candidate = readonly [word: string, about: string];

/** Registers the command, of which help says nothing. A completion that fails says nothing either. */
export function complete(program: Command): void {
  withGateway(program.command('complete', { hidden: true }))
    .addArgument(new Argument('<what>').choices(['session', 'instance']))
    .action(async (what: string, options: GatewayOptions) => {
      const found = await candidates(what, options).catch(() => []);
      process.stdout.write(lines(found));
    });
}

async function candidates(what: string, options: GatewayOptions): Promise<Candidate[]> {
  const gateway = gatewayOf(options);
  const instances = await instancesOf(gateway, { withinMs: ANSWER_MS });
  if (what === 'instance') return instances.map((id) => [id, 'agent']);
  const pages = await Promise.all(
    instances.map((id) =>
      askJson<{ sessions: ListedSession[] }>(gateway, `${instancePath(id)}/sessions?state=running`, { withinMs: ANSWER_MS }),
    ),
  );
  return namesOf(pages.flatMap(({ sessions }) => sessions));
}

/** Labels that one session alone has, and then all ids. */
function namesOf(sessions: readonly ListedSession[]): Candidate[] {
  const alone = sessions.filter(({ label }) => label && sessions.filter((other) => other.label === label).length === 1);
  const labels = alone.map(({ label = '', instance_id }): Candidate => [label, `of ${instance_id}`]);
  return [...labels, ...sessions.map(({ session_id, instance_id, label }): Candidate => [session_id, label || `of ${instance_id}`])];
}

/** A word a line, and behind a tab what it is. A label that is not harmless is not offered: it would be another. */
const lines = (candidates: readonly Candidate[]): string =>
  candidates
    .filter(([word]) => harmless(word) === word)
    .map(([word, about]) => `${word}\t${harmless(about)}\n`)
    .join('');
