// What a client's certificate says of whom it is for. Knows no socket, no rule and no authority.
import type { X509Certificate } from 'node:crypto';

export interface ClientCertificate {
  /** As RFC 4514 writes it: the most specific first, as `CN=alice,O=Example`. */
  readonly subject: string;
  /** Of the subject alternative names. */
  readonly uri: readonly string[];
  readonly dns: readonly string[];
  readonly email: readonly string[];
  /** SHA-256 of the certificate, 64 digits of lower-case hex. */
  readonly fingerprint: string;
  /** Lower-case hex. */
  readonly serial: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly expiresAt: number;
}

export function describeCertificate(x509: X509Certificate): ClientCertificate {
  const names = alternativeNames(x509.subjectAltName ?? '');
  const of = (kind: string) => names.filter(([given]) => given === kind).map(([, name]) => name);
  return {
    subject: x509.subject.split('\n').reverse().join(','),
    uri: of('URI'),
    dns: of('DNS').map((name) => name.toLowerCase()),
    email: of('email').map((name) => name.toLowerCase()),
    fingerprint: hex(x509.fingerprint256),
    serial: hex(x509.serialNumber),
    notBefore: Date.parse(x509.validFrom),
    expiresAt: Date.parse(x509.validTo),
  };
}

/** Digits as people write them, `AB:CD`, in the one form in which they are compared. */
export function hex(digits: string): string {
  return digits.replaceAll(':', '').toLowerCase();
}

/** `kind:name, kind:name`; a name that could be taken for more than one is in quotes, as JSON. What is not of that form ends the list. */
function alternativeNames(text: string): Array<readonly [string, string]> {
  const names: Array<readonly [string, string]> = [];
  const one = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/y;
  for (let found = one.exec(text); found?.[0]; found = one.exec(text)) {
    const [, kind = '', name = ''] = found;
    names.push([kind, name.startsWith('"') ? JSON.parse(name) : name]);
  }
  return names;
}
