// How much the log makes of what a connection could not do.
import { expect, it } from 'vitest';
import type { Principal } from '../../src/access/principal.js';
import { Account } from '../../src/attach/account.js';
import { asFault, Fault } from '../../src/errors.js';
import { LogError } from '../../src/log/log.js';

it('a refusal is told as what happens, what passes as a warning, and only what is the gateway’s own as an error', () => {
  const levels: string[] = [];
  const at = (level: string) => () => void levels.push(level);
  const logger = { info: at('info'), warn: at('warn'), error: at('error') };
  const audit = { record: () => {}, close: async () => {} };
  const session = { id: 'a session', instanceId: 'shell' };
  const principal: Principal = { name: 'alice', scope: 'pty:observe', instances: undefined, sessions: undefined };
  const standing = { clientId: undefined, role: undefined, serviceParameters: undefined };
  const account = new Account({ audit, logger }, { session, principal, address: '::1', trace: undefined }, standing);
  const reasons = [
    new Fault('PERMISSION_DENIED', 'join the session first'),
    new LogError('unknown_session', 'the session was removed'),
    new Fault('INTERNAL', 'the replica that runs this session has died', { status: 503 }),
    new LogError('fenced', 'another writer claimed the session'),
    new LogError('corrupt', 'a number is missing'),
    new TypeError('undefined is not a function'),
  ];
  for (const reason of reasons) account.complain(asFault(reason), 'a member could not leave');
  expect(levels).toEqual(['info', 'info', 'warn', 'warn', 'error', 'error']);
});
