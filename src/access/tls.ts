// What TLS is spoken with: files that are read at the start, and again when they change. Knows no server and no certificate of a client.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { type Config, ConfigError } from '../config.js';

/** Throws ConfigError, which names the variable, for a file that cannot be read or used. */
export function readTls({ certFile, keyFile, clientCaFile }: NonNullable<Config['tls']>): SecureContextOptions & { readonly cert: string } {
  const given = {
    cert: read('TLS_CERT_FILE', certFile),
    key: read('TLS_KEY_FILE', keyFile),
    ...(clientCaFile !== undefined && { ca: readAuthorities('TLS_CLIENT_CA_FILE', clientCaFile) }),
  };
  try {
    createSecureContext(given);
    return given;
  } catch (error) {
    throw new ConfigError(`TLS_CERT_FILE, TLS_KEY_FILE or TLS_CLIENT_CA_FILE is not usable: ${(error as Error).message}`, { cause: error });
  }
}

/** When the certificate that ends first does so, in milliseconds since the epoch. */
export function endOf(pem: string): number {
  return Math.min(...certificatesIn(pem).map(({ validTo }) => Date.parse(validTo)));
}

export function certificatesIn(pem: string): X509Certificate[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)].map(([one]) => new X509Certificate(one));
}

function read(name: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${name}: ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  if (!text.includes('-----BEGIN')) throw new ConfigError(`${name}: ${file} is no PEM`);
  return text;
}

/** OpenSSL passes over what is no whole certificate: a file that is half written would trust fewer or nobody, and say nothing. */
function readAuthorities(name: string, file: string): string {
  const text = read(name, file);
  const begun = text.match(/-----BEGIN/g)?.length;
  const whole = text.match(/-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----/gs) ?? [];
  const authorities = whole.filter((block) => block.startsWith('-----BEGIN CERTIFICATE'));
  if (whole.length !== begun || authorities.length === 0 || !authorities.every(isCertificate))
    throw new ConfigError(`${name}: ${file} is not all of whole certificates`);
  return text;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
