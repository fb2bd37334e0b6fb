// A certificate authority in a folder of its own, made with openssl when a test runs. Knows no gateway.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Issued {
  readonly certFile: string;
  readonly keyFile: string;
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  readonly x509: X509Certificate;
}

export interface Authority {
  readonly dir: string;
  readonly caFile: string;
  /** PEM. */
  readonly ca: string;
  /** `names` as `URI:spiffe://x/y`, `DNS:x.example`; times in seconds from now. */
  issue(subject: string, more?: { names?: readonly string[]; from?: number; to?: number }): Issued;
  dispose(): void;
}

const DAY_SECONDS = 86_400;
const keyArgs = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** As openssl writes a time, so many seconds from now. */
function inSeconds(seconds: number): string {
  const iso = new Date(Date.now() + seconds * 1000).toISOString();
  return `${iso.replace(/[-:T]/g, '').slice(0, 14)}Z`;
}

export function makeAuthority(name = 'Test CA'): Authority {
  const dir = mkdtempSync(path.join(tmpdir(), 'authority-'));
  const at = (file: string) => path.join(dir, file);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  writeFileSync(at('index.txt'), '');
  writeFileSync(at('config'), config);
  openssl('req', '-x509', '-config', 'config', ...keyArgs, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '1', '-subj', `/CN=${name}`);
  let issued = 0;
  return {
    dir,
    caFile: at('ca.pem'),
    ca: readFileSync(at('ca.pem'), 'utf8'),
    issue: (subject, { names, from = -60, to = DAY_SECONDS } = {}) => {
      issued += 1;
      const [key, request, cert, extensions] = ['key', 'csr', 'pem', 'ext'].map((ending) => `${issued}.${ending}`) as [
        string,
        string,
        string,
        string,
      ];
      openssl('req', '-new', '-config', 'config', ...keyArgs, '-keyout', key, '-out', request, '-subj', subject);
      writeFileSync(at(extensions), `[e]\nbasicConstraints=CA:FALSE\n${names ? `subjectAltName=@names\n[names]\n${namesIn(names)}` : ''}`);
      const times = ['-startdate', inSeconds(from), '-enddate', inSeconds(to)];
      openssl(
        'ca',
        '-batch',
        '-notext',
        '-config',
        'config',
        '-in',
        request,
        '-out',
        cert,
        '-extfile',
        extensions,
        '-extensions',
        'e',
        ...times,
      );
      const read = (file: string) => readFileSync(at(file), 'utf8');
      return { certFile: at(cert), keyFile: at(key), cert: read(cert), key: read(key), x509: new X509Certificate(read(cert)) };
    },
    dispose: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** A line each, so that a comma in one makes no second. */
const namesIn = (names: readonly string[]) => names.map((name, i) => name.replace(':', `.${i}=`)).join('\n');

const config = `
[req]
distinguished_name = dn
x509_extensions = v3_ca
[dn]
[v3_ca]
basicConstraints = critical,CA:TRUE
[ca]
default_ca = here
[here]
database = index.txt
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
default_md = sha256
rand_serial = yes
unique_subject = no
policy = any
[any]
C = optional
O = optional
CN = optional
`;
