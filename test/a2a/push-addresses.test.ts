// Where notifications may go, and where they may not, whatever a name means a moment later.
import type { LookupAddress } from 'node:dns';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { AddressGuard, type Resolve } from '../../src/a2a/push/address-guard.js';
import { readAllowedHost } from '../../src/a2a/push/allowed-hosts.js';
import { Notifier } from '../../src/a2a/push/notifier.js';
import { openReceiver, type Receiver } from '../support/receiver.js';

const allowed = (...texts: string[]) => texts.map((text) => readAllowedHost(text) ?? expect.fail(`${text} was not read`));
const guard = (...texts: string[]) => new AddressGuard(allowed(...texts));
const retries = { attempts: 1, withinMs: 1000, firstMs: 1, mostMs: 1 };
const event = { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } };

describe('Without an allow-list', () => {
  it.each(['https://receiver.example/hook?key=1', 'https://receiver.example:8443/', 'https://1.1.1.1/', 'https://[2606:4700:4700::1111]/'])(
    '%s may be told',
    (url) => expect(guard().refusal(url)).toBeUndefined(),
  );

  it.each([
    ['http://receiver.example/', 'https://'],
    ['ftp://receiver.example/', 'https://'],
    ['file:///etc/passwd', 'https://'],
    ['receiver', 'https://'],
    ['https://user:pass@receiver.example/', 'user name'],
    ['https://localhost/', 'localhost is no address'],
    ['https://a.localhost./', 'a.localhost is no address'],
    ['https://127.0.0.1/', '127.0.0.1 is no address'],
    ['https://127.1/', '127.0.0.1 is no address'],
    ['https://0x7f000001/', '127.0.0.1 is no address'],
    ['https://2130706433/', '127.0.0.1 is no address'],
    ['https://0.0.0.0/', 'no address'],
    ['https://10.1.2.3/', 'no address'],
    ['https://172.16.0.1/', 'no address'],
    ['https://192.168.1.1/', 'no address'],
    ['https://169.254.169.254/latest/meta-data', 'no address'],
    ['https://100.64.0.1/', 'no address'],
    ['https://198.18.0.1/', 'no address'],
    ['https://224.0.0.1/', 'no address'],
    ['https://255.255.255.255/', 'no address'],
    ['https://240.0.0.1/', 'no address'],
    ['https://[::]/', 'no address'],
    ['https://[::1]/', 'no address'],
    ['https://[::ffff:127.0.0.1]/', 'no address'],
    ['https://[::127.0.0.1]/', 'no address'],
    ['https://[64:ff9b::7f00:1]/', 'no address'],
    ['https://[2002:7f00:1::]/', 'no address'],
    ['https://[fe80::1]/', 'no address'],
    ['https://[fec0::1]/', 'no address'],
    ['https://[fd00::1]/', 'no address'],
    ['https://[ff02::1]/', 'no address'],
  ])('%s is refused, and why is said', (url, words) => expect(guard().refusal(url)).toContain(words));
});

describe('What the operator allows', () => {
  it.each([
    ['receiver.internal', 'http://receiver.internal:9000/x', true],
    ['Receiver.Internal', 'https://RECEIVER.internal./x', true],
    ['receiver.internal', 'http://other.internal/x', false],
    ['receiver.internal:9000', 'http://receiver.internal:9000/', true],
    ['receiver.internal:9000', 'http://receiver.internal/', false],
    ['10.0.0.0/8', 'http://10.9.8.7:1234/', true],
    ['10.0.0.0/8', 'https://11.0.0.1/', true],
    ['10.0.0.0/8', 'http://11.0.0.1/', false],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/', true],
    ['127.0.0.1:8080', 'http://127.0.0.1:8081/', false],
    ['127.0.0.0/8', 'https://localhost/', true],
    ['[::1]:8080', 'http://[::1]:8080/', true],
    ['fd00::/8', 'http://[fd12::1]/', true],
    ['fd00::/8', 'http://[fe80::1]/', false],
  ])('with %s, of %s: %s', (entry, url, may) => expect(guard(entry).refusal(url) === undefined).toBe(may));

  it.each([
    '',
    'a b',
    'http://receiver',
    'receiver:0',
    'receiver:99999',
    '10.0.0.0/33',
    '10/8',
    '127.1',
    '8080',
    '*',
    '::ffff:10.0.0.1',
    'a/8',
    '[receiver]',
  ])('cannot be said as %j', (text) => expect(readAllowedHost(text)).toBeUndefined());
});

describe('A connection', () => {
  let receiver: Receiver;
  afterEach(() => receiver.close());

  const answering =
    (...addresses: LookupAddress[]): Resolve =>
    (_name, _options, callback) =>
      callback(null, addresses);
  const private4 = { address: '127.0.0.1', family: 4 };
  /** Nobody listens there. */
  const nobody = { address: '127.0.0.2', family: 4 };
  const public4 = { address: '203.0.114.9', family: 4 };

  async function told(url: string, resolve: Resolve, ...entries: string[]) {
    const lines: object[] = [];
    const notifier = new Notifier({
      guard: new AddressGuard(allowed(...entries), resolve),
      logger: { warn: (fields) => lines.push(fields) },
      retries,
      patienceMs: 0,
    });
    const outcome = await notifier.notify({ taskId: 't', id: 'c', url }, event);
    await notifier.close();
    return { outcome, lines };
  }

  it('is not made to a private address that a public name means', async () => {
    receiver = await openReceiver();
    const { outcome, lines } = await told(`https://rebound.example:${receiver.port}/`, answering(private4));
    expect([outcome, lines]).toMatchObject(['failed', [{ why: 'rebound.example is no address that notifications may be sent to' }]]);
    expect(receiver.got).toEqual([]);
  });

  it('is made to the address that was looked at: a name that means something else a moment later gains nothing', async () => {
    receiver = await openReceiver();
    let asked = 0;
    const resolve: Resolve = (_name, _options, callback) => callback(null, [asked++ === 0 ? nobody : private4]);
    const { outcome } = await told(`http://rebound.example:${receiver.port}/`, resolve, '127.0.0.2');
    expect([outcome, asked, receiver.got]).toEqual(['failed', 1, []]);
  });

  it('is made to the permitted ones among several addresses', async () => {
    receiver = await openReceiver();
    const url = `http://receiver.example:${receiver.port}/`;
    expect((await told(url, answering(nobody, private4), '127.0.0.1')).outcome).toBe('delivered');
    expect((await told(url, answering(nobody), '127.0.0.1')).outcome).toBe('failed');
    expect((await told(url, answering(private4), `127.0.0.1:${receiver.port + 1}`)).outcome).toBe('failed');
  });

  it('is not made in the clear to a public address, also where private ones are allowed', async () => {
    receiver = await openReceiver();
    const { lines } = await told('http://receiver.example/', answering(public4), '10.0.0.0/8');
    expect(lines).toMatchObject([{ why: 'receiver.example is no address that notifications may be sent to' }]);
  });

  it('is never made to what is not public, whatever the form of its address', async () => {
    receiver = await openReceiver();
    const refused = (address: string) => guard().refusal(`https://${address.includes(':') ? `[${address}]` : address}/`) !== undefined;
    const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
    const privates = [
      /^10\./,
      /^127\./,
      /^0\./,
      /^169\.254\./,
      /^192\.168\./,
      /^172\.(1[6-9]|2\d|3[01])\./,
      /^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
    ];
    fc.assert(
      fc.property(octets, fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 224, undefined), (drawn, first) => {
        const address = (first === undefined ? drawn : [first, ...drawn.slice(1)]).join('.');
        const isPrivate = privates.some((one) => one.test(address)) || Number(address.split('.')[0]) >= 224;
        if (isPrivate) expect([refused(address), refused(`::ffff:${address}`), refused(`::${address}`)]).toEqual([true, true, true]);
      }),
    );
  });
});
