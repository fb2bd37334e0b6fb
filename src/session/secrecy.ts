// What a session keeps from its log and its readers: as it was asked for, and as its agent has it. Knows no stream and no terminal.
import type { Agent, SessionRequest } from '../agents/agents.js';
import { Fault } from '../errors.js';
import { compilePattern } from '../redaction/line-patterns.js';
import { Redaction, unfindable } from '../redaction/redaction.js';
import type { KeptSession } from './record.js';

/** What a session's record tells of it. `secrets` is there only where nobody can read records where they are stored. */
export type KeptSecrecy = Pick<KeptSession, 'redaction' | 'live_stream' | 'sensitive' | 'secrets'>;

/** Throws INVALID_REQUEST for what contradicts itself or cannot be found. */
export function keptSecrecy({ policy }: Agent, { secrets = [], ...request }: SessionRequest, isSealed: boolean): KeptSecrecy {
  if (secrets.length > 0 && request.redaction === 'off') throw new Fault('INVALID_REQUEST', 'secrets: cannot be given with redaction off');
  const fault = unfindable(secrets);
  if (fault) throw new Fault('INVALID_REQUEST', `body.${fault}`);
  // Whoever gives secrets wants them to be found, whatever the agent's policy is.
  const redaction = request.redaction ?? (secrets.length > 0 ? 'on' : policy.redaction);
  return {
    ...(redaction === 'off' && { redaction }),
    ...((request.live_stream ?? policy.live_stream) === 'raw' && { live_stream: 'raw' }),
    ...(secrets.length > 0 && { sensitive: true }),
    ...(secrets.length > 0 && isSealed && { secrets }),
  };
}

/** Undefined if nothing is redacted. */
export function redactionOf({ policy }: Agent, kept: KeptSecrecy, secrets: readonly string[]): Redaction | undefined {
  if (kept.redaction === 'off') return undefined;
  return new Redaction(secrets, (policy.redaction_patterns ?? []).map(compilePattern));
}

/** Whether another replica can go on with it and conceal what this one would. */
export function canBeInherited({ sensitive, secrets }: KeptSecrecy): boolean {
  return !sensitive || secrets !== undefined;
}

/** For the audit: what somebody has chosen to be shown or kept; undefined if it is nothing. */
export function disclosure({ redaction, live_stream, sensitive }: Omit<KeptSecrecy, 'secrets'>): string | undefined {
  const told = [redaction === 'off' && 'redaction off', live_stream === 'raw' && 'live stream raw', sensitive && 'with secrets'].filter(
    Boolean,
  );
  return told.length > 0 ? told.join(', ') : undefined;
}
