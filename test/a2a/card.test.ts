// The AgentCard: what A2A's own library reads of it, what its signature covers, and what it tells one caller.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AgentCard, canonicalizeAgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { Value } from '@sinclair/typebox/value';
import fc from 'fast-check';
import { calculateJwkThumbprint, decodeProtectedHeader, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { extendedCard, publicCard } from '../../src/a2a/card.js';
import { openCardSigner, signedContent } from '../../src/a2a/card-signer.js';
import { scopes } from '../../src/access/principal.js';
import { type Agent, AgentConfig } from '../../src/agents/agents.js';
import { ConfigError } from '../../src/config.js';
import { BINDING_URI, CORE_OPERATIONS, EXTENSION_URI, PTY_OPERATIONS } from '../../src/protocol/names.js';
import { type Gateway, startGateway } from '../routes/gateway.js';

const newKey = (namedCurve = 'P-256') =>
  generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const address = '/agents/free/.well-known/agent-card.json';
const base = { http: 'https://gateway.example/t', ws: 'wss://gateway.example/t' };

/** Any agent that a file may describe. */
const text = fc.string({ unit: 'grapheme', minLength: 1 });
const skill = fc.record({ id: text, name: text, description: text, tags: fc.array(text, { minLength: 1 }) });
const agents: fc.Arbitrary<Agent> = fc
  .record({ name: text, description: text, version: text, skills: fc.array(skill), max_observers: fc.nat(10_000) })
  .map(({ max_observers, ...said }) => ({
    ...(Value.Default(AgentConfig, { command: ['cat'], pty: { max_observers }, policy: {}, ...said }) as AgentConfig),
    id: 'inst-a',
  }));
const grants = fc.constantFrom(
  { scopes: scopes.slice(0, 1), operations: ['GetTask' as const] },
  { scopes: scopes.slice(0, 2), operations: [...CORE_OPERATIONS, ...PTY_OPERATIONS] },
);
const cards = fc.oneof(
  agents.map((agent) => publicCard(agent, base)),
  fc.tuple(agents, grants).map(([agent, grant]) => extendedCard(agent, base, grant)),
);

/** The library (1.3.0) reads a card again before it verifies it, and loses the security schemes of one that it has read already. */
const asReceived = (json: unknown) => json as AgentCard;

describe('a card', () => {
  it('is read by A2A’s own library without a loss, whatever the agent is called', () => {
    fc.assert(
      fc.property(cards, (card) => {
        const parsed = AgentCard.fromJSON(card);
        expect(parsed.supportedInterfaces.map(({ protocolBinding }) => protocolBinding)).toEqual(['HTTP+JSON', 'JSONRPC', BINDING_URI]);
        expect(parsed.securitySchemes.bearer?.scheme?.$case).toBe('httpAuthSecurityScheme');
        expect(withRequired(AgentCard.toJSON(parsed))).toEqual(card);
      }),
    );
  });

  it('has the canonical form that A2A’s own library finds for it', () => {
    fc.assert(
      fc.property(cards, (card) => {
        expect(signedContent(card)).toBe(canonicalizeAgentCard(asReceived(card)));
      }),
    );
  });
});

/** `required: false` is a default, which the library leaves out; it stands in the card all the same (pty-ext §4). */
function withRequired(json: unknown) {
  const card = json as ReturnType<typeof publicCard>;
  const extensions = card.capabilities.extensions.map((entry) => ({ ...entry, required: entry.required ?? false }));
  return { ...card, capabilities: { ...card.capabilities, extensions } };
}

describe('a signed card', () => {
  let gw: Gateway;
  beforeAll(async () => {
    gw = await startGateway({ CARD_SIGNING_KEY: newKey() });
  });
  afterAll(() => gw.close());

  const published = async (kid: string, jku?: string) => {
    const { keys } = (await (await fetch(jku ?? '')).json()) as { keys: JWK[] };
    return keys.find((key) => key.kid === kid) ?? Promise.reject(new Error(`${jku} has no key ${kid}`));
  };
  const verify = (card: unknown) => verifyAgentCardSignature(published)(asReceived(card));

  it('is verified with the key that its own header names, as the public, the extended and every card of the catalog', async () => {
    await verify((await gw.call('GET', address, { token: '' })).json);
    await verify((await gw.call('GET', '/agents/free/extendedAgentCard')).json);
    for (const card of (await gw.call('GET', '/agents')).json.agents) await verify(card);
  });

  it('is not verified once anything in it was changed', async () => {
    const { json } = await gw.call('GET', address);
    const forged = [
      { ...json, name: 'Someone else' },
      { ...json, supportedInterfaces: json.supportedInterfaces.toReversed() },
      { ...json, capabilities: { ...json.capabilities, streaming: false } },
    ];
    // The library prints each signature that does not fit.
    vi.spyOn(console, 'debug').mockReturnValue();
    for (const card of forged) await expect(verify(card)).rejects.toThrow('No valid signatures found');
  });

  it('names algorithm, type, thumbprint and address of the key, of which only the public half is published', async () => {
    const [signature] = (await gw.call('GET', address)).json.signatures;
    const { keys } = (await gw.call('GET', '/.well-known/jwks.json', { token: '' })).json;
    expect(decodeProtectedHeader(signature)).toEqual({
      alg: 'ES256',
      typ: 'JOSE',
      kid: await calculateJwkThumbprint(keys[0]),
      jku: `${gw.base}/.well-known/jwks.json`,
    });
    expect(keys.map((key: JWK) => Object.keys(key).sort())).toEqual([['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']]);
  });

  it('keeps its ETag from one signature to the next, but not from one key to the next', async () => {
    const tags = async (gateway: Gateway) => {
      const answers = [
        await gateway.call('GET', '/agents/free/extendedAgentCard'),
        await gateway.call('GET', '/agents/free/extendedAgentCard'),
      ];
      expect(new Set(answers.map(({ json }) => json.signatures[0].signature)).size).toBe(2);
      return new Set(answers.map(({ headers }) => headers.get('etag')));
    };
    const other = await startGateway({
      CARD_SIGNING_KEY: newKey(),
      PUBLIC_URL: gw.base,
      AGENTS_FILE: path.join(gw.dataDir, 'agents.json'),
    });
    const [mine, theirs] = [await tags(gw), await tags({ ...other, call: callAt(other) })];
    expect([mine.size, theirs.size, new Set([...mine, ...theirs]).size]).toEqual([1, 1, 2]);
    await other.close();
  });
});

/** Of a gateway whose PUBLIC_URL is not its own address. */
function callAt(gateway: Gateway): Gateway['call'] {
  const { port } = gateway.app.server.address() as { port: number };
  return async (method, at) => {
    const response = await fetch(`http://127.0.0.1:${port}${at}`, { method, headers: { authorization: `Bearer ${gateway.token()}` } });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
  };
}

describe('CARD_SIGNING_KEY', () => {
  const pem = newKey();

  it('is a PEM in one line or several, or the path of one, and none but a private key on P-256', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'card-key-'));
    const file = path.join(folder, 'key.pem');
    writeFileSync(file, pem);
    const kids = [];
    for (const source of [pem, pem.replaceAll('\n', '\\n'), file]) kids.push((await openCardSigner(source)).keys.keys[0]?.kid);
    rmSync(folder, { recursive: true });
    expect(new Set(kids).size).toBe(1);
  });

  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  it.each([
    ['a key on another curve', newKey('P-384')],
    ['an RSA key', rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['a public key', rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()],
    ['a damaged key', pem.replace(/[A-Za-z]{8}/, 'xxxxxxxx')],
    ['a file that is not there', '/no/such/file'],
    ['a key without its frame', pem.split('\n').slice(1, -2).join('')],
  ])('that is %s is refused in one line, which tells nothing of it', async (_what, source) => {
    const fault = await openCardSigner(source).then(
      () => undefined,
      (error) => error,
    );
    expect(fault).toBeInstanceOf(ConfigError);
    expect(fault.message).toMatch(/^CARD_SIGNING_KEY is not usable \([^\n]+\); expected the PEM of a private EC key on P-256, [^\n]+$/);
    expect(fault.message).not.toContain(source.slice(-40));
  });

  it('need not be: then cards have no signature, and no keys are published', async () => {
    const gw = await startGateway();
    expect((await gw.call('GET', address)).json.signatures).toBeUndefined();
    expect((await gw.call('GET', '/.well-known/jwks.json')).status).toBe(404);
    await gw.close();
  });
});

describe('the extended card', () => {
  let gw: Gateway;
  beforeAll(async () => {
    gw = await startGateway();
  });
  afterAll(() => gw.close());

  const told = async (scope: 'pty:observe' | 'pty:control' | 'pty:admin') => {
    const { json, headers } = await gw.call('GET', '/agents/free/extendedAgentCard', { token: gw.token(scope) });
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual(['private, no-cache', 'Authorization']);
    const { params } = json.capabilities.extensions.find(({ uri }: { uri: string }) => uri === BINDING_URI);
    return { scopes: params.scopes, operations: params.operations, skills: json.skills.map(({ id }: { id: string }) => id) };
  };

  it('tells who may only look what is left to them', async () => {
    expect(await told('pty:observe')).toEqual({
      scopes: ['pty:observe'],
      operations: [
        'GetTask',
        'ListTasks',
        'SubscribeToTask',
        'pty.join_session',
        'pty.leave_session',
        'pty.request_role',
        'pty.request_keyframe',
      ],
      skills: ['watch'],
    });
  });

  it('tells who may control of every operation and skill, and an administrator the same with one scope more', async () => {
    const all = { operations: [...CORE_OPERATIONS, ...PTY_OPERATIONS], skills: ['terminal', 'watch'] };
    expect(await told('pty:control')).toEqual({ scopes: ['pty:observe', 'pty:control'], ...all });
    expect(await told('pty:admin')).toEqual({ scopes: ['pty:observe', 'pty:control', 'pty:admin'], ...all });
  });

  it('says with each skill which scope it needs, and is otherwise the public one', async () => {
    const { json: open } = await gw.call('GET', address);
    const { json: extended } = await gw.call('GET', '/agents/free/extendedAgentCard');
    const needed = (card: { skills: Array<{ id: string; securityRequirements: Array<{ schemes: { bearer: { list: string[] } } }> }> }) =>
      card.skills.map(({ id, securityRequirements: [first] }) => [id, first?.schemes.bearer.list]);
    expect(needed(open)).toEqual([['terminal', ['pty:control']]]);
    expect(needed(extended)).toEqual([
      ['terminal', ['pty:control']],
      ['watch', ['pty:observe']],
    ]);
    const extension = (card: typeof open) => card.capabilities.extensions.find(({ uri }: { uri: string }) => uri === EXTENSION_URI);
    expect(extension(extended)).toEqual(extension(open));
    expect({ ...extended, skills: 0, capabilities: 0 }).toEqual({ ...open, skills: 0, capabilities: 0 });
  });
});
