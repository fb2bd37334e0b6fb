// Addresses of Redis, as an operator writes them.
import { describe, expect, it } from 'vitest';
import { RedisAddressError, readAddress } from '../../src/redis/connect.js';

describe('an address of Redis', () => {
  it('is of one server, with its credentials and database', () => {
    expect(readAddress({ url: 'redis://user:p%40ss@db.example:7000/3' })).toEqual({
      kind: 'single',
      nodes: [{ host: 'db.example', port: 7000 }],
      master: undefined,
      access: { db: 3, username: 'user', password: 'p@ss' },
      name: 'db.example:7000',
    });
    expect(readAddress({ url: 'rediss://[::1]' })).toMatchObject({ nodes: [{ host: '::1', port: 6379 }], access: { db: 0, tls: {} } });
  });

  it('is of a cluster where it is a list, even of one', () => {
    expect(readAddress({ url: 'redis://a:1, redis://b' })).toMatchObject({
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 6379 },
      ],
      name: 'a:1, b:6379',
    });
    expect(readAddress({ url: 'redis://a,' }).kind).toBe('cluster');
  });

  it('leads to Sentinels where a master is named, one or several', () => {
    const target = readAddress({ url: 'redis://:secret@a,redis://b:5', sentinelMaster: 'main' });
    expect(target).toMatchObject({ kind: 'sentinel', master: 'main', access: { password: 'secret' }, name: 'main of a:26379, b:5' });
    expect(readAddress({ url: 'redis://a', sentinelMaster: 'main' }).kind).toBe('sentinel');
  });

  it('that is none is refused in words that hold no password', () => {
    const wrong = {
      '': /is empty/,
      'localhost:6379': /"localhost:6379" is not/,
      'http://:secret@a': /"http:\/\/…@a" is not/,
      'redis://:secret@': /is not/,
      'redis://a/cache': /number of a database/,
      'redis://a/1,redis://b': /no database but 0/,
    };
    for (const [url, words] of Object.entries(wrong)) {
      expect(() => readAddress({ url }), url).toThrow(RedisAddressError);
      expect(() => readAddress({ url }), url).toThrow(words);
      expect(() => readAddress({ url }), url).not.toThrow(/secret/);
    }
  });
});
