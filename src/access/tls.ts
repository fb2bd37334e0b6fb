// What TLS is spoken with: files that are read at the start, and again when they change. Knows no server and no certificate of a client.
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { type Config, ConfigError } from '../config.js';

/** Throws ConfigError, which names the variable, for a file that cannot be read or used. */
export function readTls({ certFile, keyFile, clientCaFile }: NonNullable<Config['tls']>): SecureContextOptions {
  const given = {
    cert: read('TLS_CERT_FILE', certFile),
    key: read('TLS_KEY_FILE', keyFile),
    ...(clientCaFile !== undefined && { ca: read('TLS_CLIENT_CA_FILE', clientCaFile) }),
  };
  try {
    createSecureContext(given);
    return given;
  } catch (error) {
    throw new ConfigError(`TLS_CERT_FILE, TLS_KEY_FILE or TLS_CLIENT_CA_FILE is not usable: ${(error as Error).message}`, { cause: error });
  }
}

function read(name: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${name}: ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  // A file of authorities without one would trust nobody, and say nothing.
  if (!text.includes('-----BEGIN')) throw new ConfigError(`${name}: ${file} is no PEM`);
  return text;
}
