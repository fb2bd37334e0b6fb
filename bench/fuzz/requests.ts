// HTTP requests on a bare socket: forged tokens, addresses, queries, bodies and JSON-RPC, many on one connection. Knows no WebSocket.
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { type Attack, type Findings, inBatches, strangeJson } from './attack.js';
import type { Place } from './place.js';
import { Wire } from './wire.js';

/** Requests that are sent at once on one connection. */
const AT_ONCE = 50;
/** Bytes that a request line, and all headers together, may have. */
const MAX_HEAD = 12_000;

interface Request {
  readonly bytes: Buffer;
  readonly what: string;
  /** Statuses of which one has to be the answer; any but a failure of the server's if absent. */
  readonly expected?: readonly number[];
}

/** Sends them, and looks at the answers in their order. A server may hang up after a request that it could not read, but not without an answer. */
async function exchange(place: Place, requests: readonly Request[], findings: Findings): Promise<void> {
  for (let left = requests; left.length > 0; ) {
    const wire = await Wire.open(place.port);
    wire.say(Buffer.concat(left.map(({ bytes }) => bytes)));
    let answered = 0;
    for (const request of left) {
      const status = await answer(wire);
      if (status === undefined) break;
      answered++;
      judge(request, status, findings);
    }
    if (answered === 0) findings.wrong('no answer', left[0]?.what);
    wire.close();
    findings.add(Math.max(1, answered));
    left = left.slice(Math.max(1, answered));
  }
}

function judge({ what, expected }: Request, status: number, findings: Findings): void {
  if (expected ? !expected.includes(status) : status >= 500 && status !== 503) findings.wrong(`${status}`, what);
}

/** The status of the next answer, which is read to its end; undefined if the connection ends before. */
async function answer(wire: Wire): Promise<number | undefined> {
  if (!(await wire.until(() => wire.heard.includes('\r\n\r\n')))) return undefined;
  const head = wire.take(wire.heard.indexOf('\r\n\r\n') + 4).toString('latin1');
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length !== undefined) {
    if (!(await wire.until(() => wire.heard.length >= Number(length)))) return undefined;
    wire.take(Number(length));
  } else if (/^transfer-encoding: chunked/im.test(head)) {
    if (!(await wire.until(() => wire.heard.includes('0\r\n\r\n')))) return undefined;
    wire.take(wire.heard.indexOf('0\r\n\r\n') + 5);
  }
  return Number(head.slice(9, 12));
}

function request(method: string, path: string, headers: readonly string[], body = ''): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', ...headers, `Content-Length: ${Buffer.byteLength(body)}`];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

// ── Tokens ──

const encode = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const soon = () => Math.floor(Date.now() / 1000) + 3600;
const claims = fc.record({ sub: fc.string(), scope: fc.constantFrom('pty:admin', 'pty:control pty:admin'), exp: fc.constant(soon()) });
const strangeHeader = fc.oneof(
  fc.constantFrom<object>(
    ...['none', 'None', 'nOnE', 'NONE', '', 'HS256 ', 'hs256', 'HS1', 'RS256', 'ES256', 'EdDSA', 'PS512', 'dir', '__proto__'].map(
      (alg) => ({ alg, typ: 'JWT' }),
    ),
    { alg: 'RS256', jwk: rsa.publicKey.export({ format: 'jwk' }) },
    { alg: 'RS256', x5u: 'http://127.0.0.1:9/x', jku: 'http://127.0.0.1:9/k', kid: '../../etc/passwd' },
    { alg: 'HS256', kid: "' OR 1=1 --" },
    { alg: 'HS256', crit: ['exp'], exp: 1 },
    { alg: 'HS256', b64: false },
    { alg: ['HS256'] },
    { alg: null },
    { alg: { toString: 'HS256' } },
  ),
  fc.dictionary(fc.constantFrom('alg', 'kid', 'typ', 'enc', 'zip', 'jwk', 'x5c'), fc.jsonValue()),
);
const forged = fc.oneof(
  fc.tuple(strangeHeader, claims).chain(([header, body]) => {
    const signed = `${encode(header)}.${encode(body)}`;
    const signatures = [
      '',
      'AA',
      createHmac('sha256', '').update(signed).digest('base64url'),
      rsaSignature(signed),
      encode(hmac(signed, pem())),
    ];
    return fc.constantFrom(...signatures).map((signature) => `${signed}.${signature}`);
  }),
  fc.string({ unit: fc.constantFrom(...'abcXYZ012.-_=+/'), minLength: 1, maxLength: 400 }),
  fc.tuple(fc.jsonValue(), fc.jsonValue()).map((parts) => `${parts.map(encode).join('.')}.AAAA`),
  fc.integer({ min: 1000, max: MAX_HEAD }).map((length) => `${encode({ alg: 'HS256' })}.${'A'.repeat(length)}.AAAA`),
);
const hmac = (text: string, key: string) => createHmac('sha256', key).update(text).digest();
const pem = () => rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const rsaSignature = (text: string) => sign('sha256', Buffer.from(text), rsa.privateKey).toString('base64url');

/** A good token of which a part is gone, or is another's. */
function damaged(token: string): fc.Arbitrary<string> {
  const [header, body, signature = ''] = token.split('.') as [string, string, string];
  const other = encode({ sub: 'eve', scope: 'pty:admin', exp: soon() });
  return fc.oneof(
    fc.integer({ min: 0, max: token.length - 2 }).map((length) => token.slice(0, length) || '.'),
    fc.constant(`${header}.${other}.${signature}`),
    fc.constantFrom(`${header}.${body}.`, `${header}.${body}`, `.${body}.${signature}`, `${token}.`, `${token}.${signature}`),
    fc.tuple(fc.nat(signature.length - 3), fc.constantFrom(...'ABCabc019-_')).map(([at, letter]) => {
      const changed = signature.slice(0, at) + letter + signature.slice(at + 1);
      return changed === signature ? `${header}.${other}.${signature}` : `${header}.${body}.${changed}`;
    }),
  );
}

export const tokens: Attack = {
  name: 'tokens',
  share: 10,
  async run(place, seed, inputs, findings) {
    await inBatches(fc.oneof(forged, damaged(place.token('pty:admin'))), { seed, inputs, batch: AT_ONCE }, (all) =>
      exchange(
        place,
        all.map((token) => ({
          what: token,
          expected: [401],
          bytes: request('GET', '/agents/shell/sessions', [`Authorization: Bearer ${token}`]),
        })),
        findings,
      ),
    );
  },
};

// ── Addresses, queries, bodies ──

const piece = fc.oneof(
  fc.constantFrom(
    'agents',
    'shell',
    'sessions',
    'a2a',
    'v1',
    'tasks',
    'attach',
    'screen',
    'transcript',
    '..',
    '.',
    '',
    '%2e%2e',
    '%00',
    '%',
    '%zz',
    '%c0%af',
    '__proto__',
  ),
  fc.string({ unit: fc.constantFrom(...'abc019-_.~!$&()*+,;=:@%'), maxLength: 40 }),
  fc.integer({ min: 1, max: 8000 }).map((length) => 'a'.repeat(length)),
);
const names = fc.constantFrom(
  'state',
  'page_size',
  'page_token',
  'format',
  'from',
  'to',
  'q',
  'limit',
  'replay_from',
  'A2A-Version',
  '__proto__',
  'a[b]',
);
const query = fc
  .array(fc.tuple(names, piece), { maxLength: 4 })
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`));
const address = fc
  .tuple(fc.array(piece, { maxLength: 6 }), query)
  .map(([pieces, search]) => `/${pieces.join('/')}${search}`.slice(0, MAX_HEAD));

export const addresses: Attack = {
  name: 'addresses and queries',
  share: 10,
  async run(place, seed, inputs, findings) {
    const session = await place.session();
    const method = fc.constantFrom('GET', 'HEAD', 'DELETE', 'PUT', 'OPTIONS', 'PATCH');
    const known = fc.tuple(fc.constantFrom('/screen', '/transcript', '/attach', ''), query).map(([end, search]) => session + end + search);
    // HEAD has no body to be read to its end, and what it would be answered is what GET is.
    const all = fc
      .tuple(method, fc.oneof(address, known))
      .map(([name, path]) => [name === 'HEAD' || name === 'DELETE' ? 'GET' : name, path] as const);
    await inBatches(all, { seed, inputs, batch: AT_ONCE }, (batch) =>
      exchange(
        place,
        batch.map(([name, path]) => ({
          what: `${name} ${path}`,
          bytes: request(name, path, [`Authorization: Bearer ${place.token('pty:observe')}`]),
        })),
        findings,
      ),
    );
  },
};

const wrongMember = fc.constantFrom<object>(
  { cols: 0 },
  { rows: 'x' },
  { argv: [] },
  { argv: [1] },
  { secrets: ['abc'] },
  { redaction: 7 },
  { unknown: 1 },
  { env: { a: 1 } },
);
const wrongSession = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue()), wrongMember)
  .map(([more, wrong]) => JSON.stringify({ ...more, ...wrong }));
const methods = [
  'GetTask',
  'ListTasks',
  'CancelTask',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'x',
  '__proto__',
];
const rpc = fc
  .tuple(fc.constantFrom(...methods), strangeJson)
  .map(([method, params]) => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params || 'null'}}`);
/** A message without a part begins no session. */
const empty = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((more) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: { ...more, parts: [] } } }));

export const bodies: Attack = {
  name: 'bodies and JSON-RPC',
  share: 9,
  async run(place, seed, inputs, findings) {
    const headers = [`Authorization: Bearer ${place.token()}`, 'Content-Type: application/json', 'A2A-Version: 1.0'];
    const post = (path: string, expected?: readonly number[]) => (body: string) => ({
      what: `${path} ${body}`,
      bytes: request('POST', path, headers, body),
      ...(expected && { expected }),
    });
    const all = fc.oneof(
      fc
        .oneof(
          wrongSession,
          strangeJson.filter((json) => !/^\s*(\{\}|\{"toString":null\})?\s*$/.test(json)),
        )
        .map(post('/agents/shell/sessions', [400, 413, 415])),
      fc.oneof(rpc, empty, strangeJson).map(post('/agents/shell/a2a/jsonrpc')),
      fc.oneof(strangeJson, wrongSession).map(post('/agents/shell/a2a/v1/message:send')),
    );
    await inBatches(all, { seed, inputs, batch: AT_ONCE }, (batch) => exchange(place, batch, findings));
  },
};
