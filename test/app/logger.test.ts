import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.js';
import { loggerOptions } from '../../src/logging/logger.js';

function logged(...args: [object, string]): string {
  let text = '';
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      text += chunk;
      done();
    },
  });
  pino(loggerOptions(readConfig({ REPLICA_ID: 'r1' })), sink).info(...args);
  return text;
}

describe('the log', () => {
  it('is JSON that names the replica', () => {
    expect(JSON.parse(logged({ session_id: 's' }, 'started'))).toMatchObject({
      level: 30,
      replica_id: 'r1',
      session_id: 's',
      msg: 'started',
    });
  });

  it('tells of a request its method and path, not what stood behind the question mark', () => {
    const req = { method: 'GET', url: '/agents?token=SECRET', ip: '10.0.0.1', headers: { authorization: 'Bearer SECRET' } };
    expect(JSON.parse(logged({ req }, 'incoming')).req).toEqual({ method: 'GET', path: '/agents', address: '10.0.0.1' });
  });

  it.each(['authorization', 'cookie', 'sec-websocket-protocol', 'token', 'secret', 'secrets'])(
    'hides %s, however deep it stands',
    (name) => {
      for (const wrap of [
        (x: object) => x,
        (x: object) => ({ headers: x }),
        (x: object) => ({ request: { headers: x } }),
        (x: object) => ({ a: { b: { c: x } } }),
      ]) {
        const text = logged(wrap({ [name]: 'SECRET' }), 'x');
        expect(text).not.toContain('SECRET');
        expect(text).toContain('[hidden]');
      }
    },
  );
});
