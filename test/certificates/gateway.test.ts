// Clients that come with a certificate: over TLS of their own, or through a proxy that says which it was.
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { type Authority, type Issued, makeAuthority } from '../support/authority.js';
import { needs } from '../support/needs.js';
import { samplesOf } from '../support/samples.js';

type Shown = Pick<Issued, 'cert' | 'key'>;
type Headers = Record<string, string>;

needs('openssl')('a client certificate', () => {
  let authority: Authority;
  let stranger: Authority;
  let server: Issued;
  let gateway: Gateway | undefined;
  beforeAll(() => {
    [authority, stranger] = [makeAuthority(), makeAuthority('Another CA')];
    server = authority.issue('/CN=localhost', { names: ['IP:127.0.0.1', 'DNS:localhost'] });
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });
  afterAll(() => {
    authority.dispose();
    stranger.dispose();
  });

  const rules = (content: unknown, name = 'certificates.json') => {
    const file = path.join(authority.dir, name);
    writeFileSync(file, JSON.stringify({ certificates: content }));
    return file;
  };
  const ofCi = () => rules([{ match: { uri: 'spiffe://ci/*' }, principal: '{uri}', scope: 'pty:control', sessions: 'own' }]);
  const ci = (name = 'runner', more = {}) => authority.issue(`/CN=${name}`, { names: [`URI:spiffe://ci/${name}`], ...more });

  /** With TLS of its own; `header` is where a proxy puts certificates. */
  const start = async (more: NodeJS.ProcessEnv = {}): Promise<Gateway> => {
    gateway = await startGateway({
      TLS_CERT_FILE: server.certFile,
      TLS_KEY_FILE: server.keyFile,
      TLS_CLIENT_CA_FILE: authority.caFile,
      CLIENT_CERT_MAP_FILE: ofCi(),
      ...more,
    });
    return gateway;
  };
  const behindProxy = async (trusted: string, header = 'Client-Cert'): Promise<Gateway> => {
    gateway = await startGateway({ CLIENT_CERT_HEADER: header, TRUST_PROXY: trusted, CLIENT_CERT_MAP_FILE: ofCi() });
    return gateway;
  };

  const call = ({ base }: Gateway, method: string, at: string, shown?: Shown, headers: Headers = {}) =>
    new Promise<{ status: number; json: ReturnType<typeof JSON.parse> }>((resolve, reject) => {
      const { cert, key } = shown ?? {};
      const asked = request(
        base + at,
        { method, ca: authority.ca, headers, agent: false, ...(cert && { cert, key }) },
        async (response) => {
          const text = Buffer.concat(await response.toArray()).toString();
          resolve({ status: response.statusCode ?? 0, json: text === '' ? undefined : JSON.parse(text) });
        },
      );
      asked.on('error', reject).end();
    });

  /** What has changed, as the gateway does by itself every ten seconds, twice for what ends in the middle of a line; what could not be used. */
  const reread = async ({ app }: Gateway): Promise<string[]> => {
    const wrong: string[] = [];
    for (let looks = 0; looks < 2; looks++) await app.reloads.look({ info: () => {}, error: (_, message) => void wrong.push(message) });
    return wrong;
  };

  const attach = (url: string, shown?: Shown, headers: Headers = {}) => {
    const { cert, key } = shown ?? {};
    const ws = new WebSocket(url, ['pty-ws.v1'], { ca: authority.ca, headers, ...(cert && { cert, key }) });
    const goodbye = new Promise<object>((resolve) => {
      ws.on('message', (data) => {
        const { op, payload } = JSON.parse(String(data));
        if (op === 'binding_hello')
          ws.send(JSON.stringify({ op: 'pty.join_session', id: '1', payload: { role: 'controller' }, extensions: [EXTENSION_URI] }));
        if (op === 'binding_goodbye') resolve(payload);
      });
    });
    const closed = new Promise<number>((resolve) => ws.on('close', resolve));
    return new Promise<{ ws: WebSocket; goodbye: Promise<object>; closed: Promise<number> }>((resolve, reject) => {
      ws.on('open', () => resolve({ ws, goodbye, closed }));
      ws.on('error', reject);
    });
  };

  describe('over TLS', () => {
    it('is who a rule says, with what it may: it creates a session, attaches to it, and sees no others', async () => {
      const g = await start();
      const runner = ci();
      const made = await call(g, 'POST', '/agents/free/sessions', runner);
      expect(made).toMatchObject({ status: 201, json: { created_by: 'spiffe://ci/runner', pty_ws_url: expect.stringMatching(/^wss:/) } });
      const { ws } = await attach(made.json.pty_ws_url, runner);
      ws.terminate();
      const other = await call(g, 'GET', `/agents/free/sessions/${made.json.session_id}`, ci('other'));
      expect(other).toMatchObject({ status: 404 });
      await expect
        .poll(() => g.audit())
        .toContainEqual(expect.objectContaining({ event: 'session_create', principal: 'spiffe://ci/runner' }));
    });

    it('is not needed for cards and probes, nor with a token, which counts before it', async () => {
      const g = await start();
      expect((await call(g, 'GET', '/healthz')).status).toBe(200);
      const authorization = `Bearer ${g.token('pty:observe', { sub: 'alice' })}`;
      expect((await call(g, 'GET', '/agents/free/sessions', undefined, { authorization })).status).toBe(200);
      expect((await call(g, 'POST', '/agents/free/sessions', ci(), { authorization })).status).toBe(403);
    });

    it.each<[string, () => Shown | undefined, RegExp]>([
      ['none at all', () => undefined, /needs a token/],
      ['one of another authority', () => stranger.issue('/CN=x', { names: ['URI:spiffe://ci/x'] }), /not trusted/],
      ['one that has expired', () => ci('old', { from: -100, to: -10 }), /CERT_HAS_EXPIRED/],
      ['one that is not good yet', () => ci('young', { from: 100 }), /CERT_NOT_YET_VALID/],
      ['one that no rule fits', () => authority.issue('/CN=x', { names: ['URI:spiffe://prod/x'] }), /no rule/],
    ])('is refused with 401 if it is %s', async (_, shown, message) => {
      const refused = await call(await start(), 'GET', '/agents/free/sessions', shown());
      expect(refused).toMatchObject({ status: 401, json: { error: { code: 'UNAUTHENTICATED', message: expect.stringMatching(message) } } });
    });

    it('that ends while it is attached ends the connection, as the end of a token does', async () => {
      const g = await start();
      const brief = ci('brief', { to: 4 });
      const made = await call(g, 'POST', '/agents/free/sessions', brief);
      const { goodbye, closed } = await attach(made.json.pty_ws_url, brief);
      expect(await goodbye).toEqual({ reason: 'principal_revoked', detail: 'the certificate has expired' });
      expect(await closed).toBe(4401);
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(brief.x509.validTo));
    });

    it.each<[string, (issued: Issued) => string]>([
      ['its fingerprint, as openssl writes it', ({ x509 }) => `cert:${x509.fingerprint256}`],
      ['its serial number', ({ x509 }) => `serial:${x509.serialNumber}`],
      ['its principal', () => 'sub:spiffe://ci/runner'],
    ])('is revoked by %s, connections included', async (_, word) => {
      const file = path.join(authority.dir, 'revoked.txt');
      writeFileSync(file, '');
      const g = await start({ REVOCATION_FILE: file });
      const runner = ci();
      const made = await call(g, 'POST', '/agents/free/sessions', runner);
      const { goodbye, closed } = await attach(made.json.pty_ws_url, runner);
      writeFileSync(file, `${word(runner)}\n`);
      expect(await goodbye).toEqual({ reason: 'principal_revoked', detail: 'the certificate was revoked' });
      expect(await closed).toBe(4401);
      expect(await call(g, 'GET', '/agents/free/sessions', runner)).toMatchObject({ status: 401 });
    });

    it('is judged by the new authorities and rules once they are read again, and so is what the gateway shows', async () => {
      const [certFile, keyFile, caFile] = ['now.pem', 'now.key', 'now-ca.pem'].map((name) => path.join(authority.dir, name)) as [
        string,
        string,
        string,
      ];
      const use = (shown: Issued, ca: string) => {
        writeFileSync(certFile, shown.cert);
        writeFileSync(keyFile, shown.key);
        writeFileSync(caFile, ca);
      };
      use(server, authority.ca);
      const g = await start({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, TLS_CLIENT_CA_FILE: caFile });
      const theirs = stranger.issue('/CN=x', { names: ['URI:spiffe://ci/x'] });
      expect((await call(g, 'GET', '/agents/free/sessions', theirs)).status).toBe(401);
      use(authority.issue('/CN=new', { names: ['IP:127.0.0.1'] }), stranger.ca);
      await reread(g);
      expect((await call(g, 'GET', '/agents/free/sessions', theirs)).status).toBe(200);
      expect((await call(g, 'GET', '/agents/free/sessions', ci())).status).toBe(401);
      writeFileSync(keyFile, 'no key');
      expect(await reread(g)).toContainEqual(expect.stringMatching(/^TLS_CERT_FILE stays as it was: TLS_KEY_FILE: .*now\.key is no PEM$/));
      expect((await call(g, 'GET', '/agents/free/sessions', theirs)).status).toBe(200);
    });

    it('is told of until when the one is good that the gateway shows, and that it has ended', async () => {
      const [certFile, keyFile] = ['ends.pem', 'ends.key'].map((name) => path.join(authority.dir, name)) as [string, string];
      const use = ({ cert, key }: Issued) => {
        writeFileSync(certFile, cert);
        writeFileSync(keyFile, key);
      };
      const end = async ({ app }: Gateway) => samplesOf(await app.metrics.text()).get('pty_gateway_certificate_end_seconds');
      use(server);
      const g = await start({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, LOG_LEVEL: 'warn' });
      expect(await end(g)).toBe(Date.parse(server.x509.validTo) / 1000);
      expect(g.logged()).not.toContain('has ended');
      const over = authority.issue('/CN=over', { names: ['IP:127.0.0.1'], from: -7200, to: -3600 });
      use(over);
      await reread(g);
      expect(await end(g)).toBe(Date.parse(over.x509.validTo) / 1000);
      expect(g.logged()).toContain('the certificate that is shown has ended: clients refuse it');
    });

    it.each([
      ['half written', (ca: string) => ca.slice(0, ca.length / 2)],
      ['half written behind a whole one', (ca: string) => ca + ca.slice(0, ca.length / 2)],
      ['no certificate', (ca: string) => ca.replace(/-----\n[^-]*/, '-----\nAAAA\n')],
    ])('is judged by the authorities as they were, while their file is %s', async (_how, spoil) => {
      const caFile = path.join(authority.dir, 'spoilt-ca.pem');
      writeFileSync(caFile, authority.ca);
      const g = await start({ TLS_CLIENT_CA_FILE: caFile });
      writeFileSync(caFile, spoil(authority.ca));
      expect(await reread(g)).toContainEqual(expect.stringMatching(/^TLS_CERT_FILE stays as it was: TLS_CLIENT_CA_FILE: .*spoilt-ca\.pem/));
      expect((await call(g, 'GET', '/agents/free/sessions', ci())).status).toBe(200);
    });
  });

  describe('in the header of a proxy', () => {
    const rfc9440 = ({ x509 }: Issued) => `:${x509.raw.toString('base64')}:`;
    const ask = (g: Gateway, headers: Headers) => g.call('GET', '/agents/free/sessions', { token: '', headers });

    it('is believed when the proxy is listed in TRUST_PROXY, for upgrades as well', async () => {
      const g = await behindProxy('loopback');
      const headers = { 'client-cert': rfc9440(ci()) };
      const made = await g.call('POST', '/agents/free/sessions', { token: '', headers, body: {} });
      expect(made).toMatchObject({ status: 201, json: { created_by: 'spiffe://ci/runner' } });
      const { ws } = await attach(made.json.pty_ws_url, undefined, headers);
      ws.terminate();
    });

    it('is ignored when it comes from anybody else, and the audit says from whom', async () => {
      const g = await behindProxy('10.0.0.0/8');
      const refused = await ask(g, { 'client-cert': rfc9440(ci()), 'x-forwarded-for': '10.0.0.1' });
      expect(refused).toMatchObject({ status: 401, json: { error: { message: expect.stringMatching(/needs a token/) } } });
      const forged = () => g.audit().filter(({ event }) => event === 'key_error');
      const line = {
        outcome: 'denied',
        address: '127.0.0.1',
        detail: 'forged certificate: client-cert came from 127.0.0.1, which TRUST_PROXY does not list',
      };
      await expect.poll(forged).toMatchObject([line]);
    });

    it('takes the place of the certificate of the proxy itself', async () => {
      const g = await start({ CLIENT_CERT_HEADER: 'Client-Cert', TRUST_PROXY: '127.0.0.1' });
      const proxy = ci('proxy');
      const created = (headers: Headers) => call(g, 'POST', '/agents/free/sessions', proxy, headers);
      expect(await created({ 'client-cert': rfc9440(ci('client')) })).toMatchObject({ json: { created_by: 'spiffe://ci/client' } });
      expect((await created({})).status).toBe(401);
    });

    it.each<[string, () => string, RegExp]>([
      ['something else', () => 'alice', /holds no certificate/],
      ['two', () => `${rfc9440(ci())}, ${rfc9440(ci('other'))}`, /holds no certificate/],
      ['one that has expired', () => rfc9440(ci('old', { from: -100, to: -10 })), /has expired/],
      ['one that is not good yet', () => rfc9440(ci('young', { from: 100 })), /not good yet/],
    ])('is refused with 401 if it is %s', async (_, header, message) => {
      const refused = await ask(await behindProxy('127.0.0.1'), { 'client-cert': header() });
      expect(refused).toMatchObject({ status: 401, json: { error: { message: expect.stringMatching(message) } } });
    });
  });
});
