// Whether the certificates that the settings name can be used, whom they are for, and for how long they are good. Shows no key.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { openCertificateRules } from '../../access/certificates/rules.js';
import { certificatesIn, endOf, readTls } from '../../access/tls.js';
import type { Config } from '../../config.js';
import { attempt, type Finding, fail, ok, warn } from './finding.js';

/** How soon a certificate's end is told of, in days. */
const SOON_DAYS = 21;
const DAY_MS = 86_400_000;

export async function certificateFindings(config: Config): Promise<Finding[]> {
  return [...(await own(config)), ...(await rules(config))];
}

async function own({ tls, publicUrl }: Config): Promise<Finding[]> {
  if (!tls) return [];
  const usable = await attempt('TLS', 'give PEM files of a certificate and of its key', () => {
    readTls(tls);
    return 'certificate and key belong together';
  });
  if (usable.level !== 'ok') return [usable];
  const renew = 'put a new certificate there: it is read within ten seconds';
  return [
    usable,
    validity('TLS_CERT_FILE', tls.certFile, renew),
    ...(publicUrl ? [name(tls.certFile, publicUrl)] : []),
    ...(tls.clientCaFile === undefined
      ? []
      : [validity('TLS_CLIENT_CA_FILE', tls.clientCaFile, 'put the new authority there, beside the old')]),
  ];
}

/** Of the certificate in the file that ends first. */
function validity(check: string, file: string, todo: string): Finding {
  const end = endOf(readFileSync(file, 'utf8'));
  const days = Math.floor((end - Date.now()) / DAY_MS);
  const found = `good until ${new Date(end).toISOString()}`;
  if (days < 0) return fail(check, `${found}, which is over`, todo);
  return days < SOON_DAYS ? warn(check, `${found}, ${days} days from now`, todo) : ok(check, found);
}

/** Behind a proxy that ends TLS it is the proxy's certificate that has the name. */
function name(file: string, { http }: NonNullable<Config['publicUrl']>): Finding {
  const check = 'TLS_CERT_FILE and PUBLIC_URL';
  const { hostname } = new URL(http);
  const host = hostname.replace(/^\[|\]$/g, '');
  const [first] = certificatesIn(readFileSync(file, 'utf8'));
  if (isIP(host) ? first?.checkIP(host) : first?.checkHost(host)) return ok(check, `the certificate is good for ${host}`);
  return warn(
    check,
    `the certificate is not good for ${host}`,
    'clients that come to the gateway itself refuse it; take one with this name',
  );
}

async function rules({ clientCertificates: { mapFile } }: Config): Promise<Finding[]> {
  if (mapFile === undefined) return [];
  const read = await attempt('CLIENT_CERT_MAP_FILE', 'correct that rule', () => {
    openCertificateRules(mapFile);
    return `${mapFile} can be used`;
  });
  return [read];
}
