// Who a client with a certificate is, and what it may: the rules of CLIENT_CERT_MAP_FILE. Knows no socket and no authority.
import { type Static, Type } from '@sinclair/typebox';
import { checker, shown } from '../../protocol/check.js';
import { readSettings } from '../../settings-file.js';
import type { Principal } from '../principal.js';
import { OWN, scopes } from '../principal.js';
import { Ids, MAX_NAME_CHARS } from '../token.js';
import { type ClientCertificate, hex } from './certificate.js';

const kinds = ['fingerprint', 'subject', 'uri', 'dns', 'email'] as const;
type Kind = (typeof kinds)[number];

const pattern = Type.Optional(
  Type.String({ minLength: 1, maxLength: 1024, pattern: '^[^*]*\\*?[^*]*$', title: 'a text of 1 to 1024 characters with at most one *' }),
);

const fingerprint = Type.Optional(
  Type.String({ pattern: '^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$', title: 'a SHA-256 as 64 digits of hex, with or without colons' }),
);

const Rule = Type.Object(
  {
    match: Type.Object({ fingerprint, subject: pattern, uri: pattern, dns: pattern, email: pattern }, { additionalProperties: false }),
    principal: Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS }),
    scope: Type.Union(scopes.map((scope) => Type.Literal(scope))),
    instances: Type.Optional(Ids),
    sessions: Type.Optional(Type.Union([Ids, Type.Literal(OWN)])),
  },
  { additionalProperties: false },
);
type Rule = Static<typeof Rule>;

const RulesFile = Type.Object({ certificates: Type.Array(Rule, { minItems: 1, maxItems: 10_000 }) }, { additionalProperties: false });
const check = checker(RulesFile, '');

/** Rules that cannot be used; the message is one line that names the file, the rule and what is wrong. */
export class CertificateRulesError extends Error {
  override readonly name = 'CertificateRulesError';
}

export interface CertificateRules {
  /** By the first rule that fits; undefined if none does. Good until the certificate ends. */
  principalOf(certificate: ClientCertificate): Principal | undefined;
  /** Reads the file again. Throws CertificateRulesError, and then keeps the rules as they were. */
  reload(): void;
}

/** Throws CertificateRulesError. */
export function openCertificateRules(file: string): CertificateRules {
  let rules = readRules(file);
  return {
    principalOf: (certificate) => {
      for (const rule of rules) {
        const found = matched(rule, certificate);
        const name = found && nameOf(rule, found);
        if (name !== undefined) return principal(rule, name, certificate);
      }
      return undefined;
    },
    reload: () => {
      rules = readRules(file);
    },
  };
}

function readRules(file: string): readonly Rule[] {
  try {
    const content = readSettings(file);
    const problem = check(content) ?? unusable((content as Static<typeof RulesFile>).certificates);
    if (problem !== undefined) throw new Error(`${file}: ${problem}`);
    return (content as Static<typeof RulesFile>).certificates;
  } catch (error) {
    throw new CertificateRulesError((error as Error).message, { cause: error });
  }
}

/** A rule that fits everybody, or names somebody by what it does not look at, is a slip. */
function unusable(rules: readonly Rule[]): string | undefined {
  for (const [i, { match, principal: name }] of rules.entries()) {
    if (Object.keys(match).length === 0) return `certificates.${i}.match: expected one of ${kinds.join(', ')}`;
    const stray = [...name.matchAll(/\{(\w*)\}/g)].find(([, kind = '']) => !(kind in match));
    if (stray) return `certificates.${i}.principal: ${shown(stray[0])} is not in its match`;
  }
  return undefined;
}

/** What fits each part of the match; undefined unless all do. */
function matched({ match }: Rule, certificate: ClientCertificate): Partial<Record<Kind, string>> | undefined {
  const found: Partial<Record<Kind, string>> = {};
  for (const kind of kinds) {
    const wanted = match[kind];
    if (wanted === undefined) continue;
    const fitting = [certificate[kind]].flat().find((given) => fits(inOneForm(kind, wanted), given));
    if (fitting === undefined) return undefined;
    found[kind] = fitting;
  }
  return found;
}

/** As a certificate is described: hex without colons, names of hosts and mailboxes in lower case. */
function inOneForm(kind: Kind, wanted: string): string {
  if (kind === 'fingerprint') return hex(wanted);
  return kind === 'dns' || kind === 'email' ? wanted.toLowerCase() : wanted;
}

/** `*` stands for one or more characters. */
function fits(wanted: string, given: string): boolean {
  const [before = '', after] = wanted.split('*');
  if (after === undefined) return given === wanted;
  return given.length > before.length + after.length && given.startsWith(before) && given.endsWith(after);
}

/** `{uri}` and its like stand for what fitted. A name that is too long is nobody's. */
function nameOf({ principal: name }: Rule, found: Partial<Record<Kind, string>>): string | undefined {
  const whole = name.replace(/\{(\w+)\}/g, (_, kind: Kind) => found[kind] ?? '');
  return whole.length <= MAX_NAME_CHARS ? whole : undefined;
}

function principal({ scope, instances, sessions }: Rule, name: string, { fingerprint, serial, expiresAt }: ClientCertificate): Principal {
  return { name, scope, instances, sessions: sessions === OWN ? [OWN] : sessions, expiresAt, certificate: { fingerprint, serial } };
}
