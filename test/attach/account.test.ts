// How much the log makes of what a connection could not do.
import { expect, it } from 'vitest';
import type { Principal } from '../../src/access/principal.js';
import { Account } from '../../src/attach/account.js';
import { asFault, Fault } from '../../src/errors.js';
import { LogError } from '../../src/log/log.js';
import { Seldom } from '../../src/logging/seldom.js';

it('a refusal is told as what happens, what passes as a warning, and only what is the gateway’s own as an error', () => {
  const levels: string[] = [];
  const told: object[] = [];
  const at = (level: string) => (fields: object) => {
    levels.push(level);
    told.push(fields);
  };
  const logger = { info: at('info'), warn: at('warn'), error: at('error') };
  const seldom = new Seldom(60_000);
  const audit = { record: () => {}, close: async () => {} };
  const session = { id: 'a session', instanceId: 'shell' };
  const principal: Principal = { name: 'alice', scope: 'pty:observe', instances: undefined, sessions: undefined };
  const standing = { clientId: undefined, role: undefined, serviceParameters: undefined };
  const account = new Account({ audit, logger, seldom }, { session, principal, address: '::1', trace: undefined }, standing);
  const reasons = [
    new Fault('PERMISSION_DENIED', 'join the session first'),
    new LogError('unknown_session', 'the session was removed'),
    new Fault('INTERNAL', 'the replica that runs this session has died', { status: 503, cause: new Error('replica r2') }),
    new LogError('fenced', 'another writer claimed the session'),
    new LogError('corrupt', 'a number is missing'),
    new TypeError('undefined is not a function'),
  ];
  for (const reason of reasons) account.complain(asFault(reason), 'a member could not leave');
  expect(levels).toEqual(['info', 'info', 'warn', 'warn', 'error', 'error']);
  expect(told[2]).toMatchObject({ session_id: 'a session', reason: 'the replica that runs this session has died (replica r2)', times: 1 });
  // Each refusal has its line; what fails many is told again in a while, or at the end, of the last of them.
  for (let i = 0; i < 3; i++) for (const reason of reasons) account.complain(asFault(reason), 'a member could not leave');
  expect(levels.splice(6)).toEqual(Array(6).fill('info'));
  seldom.close();
  expect(levels.splice(6)).toEqual(['warn', 'warn', 'error', 'error']);
  expect(told.at(-1)).toMatchObject({ session_id: 'a session', times: 3 });
});
