import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClientCertificate, describeCertificate } from '../../src/access/certificates/certificate.js';
import { certificateIn } from '../../src/access/certificates/header.js';
import { openCertificateRules } from '../../src/access/certificates/rules.js';
import { trustedPeers } from '../../src/access/certificates/trusted-peers.js';
import { type Authority, type Issued, makeAuthority } from '../support/authority.js';
import { needs } from '../support/needs.js';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'rules-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function open(certificates: unknown, name = 'rules.json') {
  const file = path.join(dir, name);
  writeFileSync(file, typeof certificates === 'string' ? certificates : JSON.stringify({ certificates }));
  return openCertificateRules(file);
}

const certificate: ClientCertificate = {
  subject: 'CN=alice,O=Example',
  uri: ['spiffe://prod.example/ns/ci/sa/runner'],
  dns: ['a.example.org', 'b.example.org'],
  email: ['alice@example.org'],
  fingerprint: 'ab'.repeat(32),
  serial: '0f',
  notBefore: 0,
  expiresAt: 5000,
};
const rule = (match: object, more: object = {}) => ({ match, principal: 'p', scope: 'pty:observe', ...more });

describe('a rule for certificates', () => {
  it.each([
    [{ subject: 'CN=alice,O=Example' }, true],
    [{ subject: 'CN=alice' }, false],
    [{ subject: 'cn=alice,O=Example' }, false],
    [{ uri: 'spiffe://prod.example/*' }, true],
    [{ uri: 'spiffe://prod.example/ns/ci/sa/runner*' }, false],
    [{ uri: 'spiffe://prod.example/ns/*/runner' }, true],
    [{ dns: 'B.example.org' }, true],
    [{ dns: '*.example.org', email: '*@example.org' }, true],
    [{ dns: '*.example.org', email: '*@elsewhere.org' }, false],
    [{ fingerprint: Array(32).fill('AB').join(':') }, true],
  ])('that asks for %j fits: %s', (match, does) => {
    expect(open([rule(match)]).principalOf(certificate) !== undefined).toBe(does);
  });

  it('says who it is by what fitted, and what they may until the certificate ends; the first that fits counts', () => {
    const rules = open([
      rule({ email: '*@elsewhere.org' }),
      rule(
        { uri: 'spiffe://*', dns: '*.example.org' },
        { principal: '{uri} on {dns}', scope: 'pty:control', instances: ['a'], sessions: 'own' },
      ),
      rule({ email: '*' }),
    ]);
    expect(rules.principalOf(certificate)).toEqual({
      name: 'spiffe://prod.example/ns/ci/sa/runner on a.example.org',
      scope: 'pty:control',
      instances: ['a'],
      sessions: ['own'],
      expiresAt: 5000,
      certificate: { fingerprint: certificate.fingerprint, serial: '0f' },
    });
  });

  it('makes nobody of a name that is longer than names may be', () => {
    const uri = [`spiffe://${'x'.repeat(300)}`];
    expect(open([rule({ uri: 'spiffe://*' }, { principal: '{uri}' })]).principalOf({ ...certificate, uri })).toBeUndefined();
  });

  it.each([
    [[rule({})], /certificates\.0\.match: expected one of fingerprint, subject, uri, dns, email/],
    [[rule({ uri: 'a' }, { principal: '{dns}' })], /certificates\.0\.principal: "\{dns\}" is not in its match/],
    [[rule({ uri: 'a*b*' })], /certificates\.0\.match\.uri: expected a text of 1 to 1024 characters with at most one \*/],
    [[rule({ fingerprint: 'AB*' })], /certificates\.0\.match\.fingerprint: expected a SHA-256/],
    [[rule({ cn: 'a' })], /certificates\.0\.match\.cn is unknown here/],
    [[{ ...rule({ uri: 'a' }), scope: 'all' }], /certificates\.0\.scope: expected one of "pty:observe"/],
    [[], /certificates: expected an array of 1 to 10000 items/],
    ['{', /rules\.json cannot be read/],
  ])('that is wrong is refused in one line that says where: %j', (certificates, message) => {
    expect(() => open(certificates)).toThrow(message);
  });

  it('that is replaced by a bad file stays', () => {
    const rules = open([rule({ email: '*' })], 'kept.yaml');
    writeFileSync(path.join(dir, 'kept.yaml'), 'certificates: []');
    expect(() => rules.reload()).toThrow(/kept\.yaml: certificates/);
    expect(rules.principalOf(certificate)?.name).toBe('p');
    writeFileSync(path.join(dir, 'kept.yaml'), 'certificates: [{match: {uri: none}, principal: q, scope: "pty:admin"}]');
    rules.reload();
    expect(rules.principalOf(certificate)).toBeUndefined();
  });
});

describe('a peer', () => {
  const isTrusted = trustedPeers(['10.1.0.0/16', '192.0.2.7', '2001:db8::/32', 'loopback']);

  it.each(['10.1.255.255', '192.0.2.7', '::ffff:10.1.0.1', '2001:db8::1', '127.0.0.1', '::1'])('is trusted as %s', (address) => {
    expect(isTrusted(address)).toBe(true);
  });

  it.each(['10.2.0.1', '192.0.2.8', '::ffff:10.2.0.1', '2001:db9::1', '', undefined])('is not trusted as %s', (address) => {
    expect(isTrusted(address)).toBe(false);
  });
});

needs('openssl')('a certificate', () => {
  let authority: Authority;
  let issued: Issued;
  beforeAll(() => {
    authority = makeAuthority();
    issued = authority.issue('/C=US/O=Ex,ample/CN=alice', {
      names: ['URI:spiffe://x/y', 'DNS:A.example', 'email:Alice@Example.org', 'IP:10.0.0.1'],
    });
  });
  afterAll(() => authority.dispose());

  it('tells its subject and names; a comma in one of them makes no second', () => {
    const told = describeCertificate(issued.x509);
    expect(told).toMatchObject({
      subject: 'CN=alice,O=Ex\\,ample,C=US',
      uri: ['spiffe://x/y'],
      dns: ['a.example'],
      email: ['alice@example.org'],
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const sly = authority.issue('/CN=x', { names: ['URI:spiffe://x/y, email:admin@example.org'] });
    expect(describeCertificate(sly.x509)).toMatchObject({ uri: ['spiffe://x/y, email:admin@example.org'], email: [] });
  });

  it('is read from the header of RFC 9440 and of the common proxies, the last of several that Envoys add', () => {
    const der = issued.x509.raw.toString('base64');
    const pem = encodeURIComponent(issued.cert);
    const other = encodeURIComponent(authority.issue('/CN=other').cert);
    const headers = [`:${der}:`, der, pem, `Hash=00;Cert="${pem}";Subject="CN=x"`, `By=a;Cert="${other}",Hash=1;Cert="${pem}"`];
    for (const header of headers) expect(certificateIn(header).fingerprint256).toBe(issued.x509.fingerprint256);
  });

  it.each(['garbage!', '::', ':AAAA:', `:${'A'.repeat(20_000)}:`, 'Cert=""', '%', '-----BEGIN%'])('is not read from %s', (header) => {
    expect(() => certificateIn(header)).toThrow();
  });
});
