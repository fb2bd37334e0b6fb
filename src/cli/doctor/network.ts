// Whether it can listen where it is told to, and whether what it says of itself is plausible. Knows no route but that of its own health.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Config, isLoopback, localUrl } from '../../config.js';
import { fetchWithin } from '../fetch.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** How long something that listens there already may take to say what it is, in milliseconds. */
const ANSWER_MS = 2000;

export async function networkFindings(config: Config): Promise<Finding[]> {
  return [await listening(config), publicUrl(config), ...origins(config), ...proxies(config)];
}

async function listening(config: Config): Promise<Finding> {
  const { host, port } = config.listen;
  const where = `${host}:${port}`;
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
    return ok('HOST and PORT', `${where} is free`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && (await isGateway(config))) return ok('HOST and PORT', `a gateway listens at ${where} already`);
    return fail('HOST and PORT', `${where} cannot be listened on (${code})`, 'end what has it, or choose another PORT or HOST');
  } finally {
    server.close();
  }
}

async function isGateway({ listen, tls }: Config): Promise<boolean> {
  const url = `${localUrl(listen.host, listen.port).http.replace(/^http/, tls ? 'https' : 'http')}/healthz`;
  return fetchWithin(ANSWER_MS, url)
    .then(async (response) => ((await response.json()) as { status?: unknown }).status === 'ok')
    .catch(() => false);
}

function publicUrl({ publicUrl: url, listen }: Config): Finding {
  const check = 'PUBLIC_URL';
  const here = isLoopback(listen.host);
  if (!url && here) return ok(check, 'not set: clients on this machine find it');
  const todo = 'set PUBLIC_URL to the https:// address by which clients find the gateway';
  if (!url) return warn(check, 'not set: cards and pty_ws_url name an address that is good on this machine alone', todo);
  const { protocol, hostname } = new URL(url.http);
  if (protocol === 'http:' && !isLoopback(hostname)) return warn(check, `${url.http}: tokens and terminals travel readable`, todo);
  if (isLoopback(hostname) && !here) return warn(check, `${url.http}, but it listens for others too`, todo);
  return ok(check, url.http);
}

function origins({ publicUrl: url, auth: { allowedOrigins } }: Config): Finding[] {
  if (!allowedOrigins) return [];
  const check = 'ALLOWED_ORIGINS';
  if (!url || allowedOrigins.includes(url.origin)) return [ok(check, allowedOrigins.join(', '))];
  return [warn(check, `${url.origin} is not among them: the gateway's own page may not attach`, `add ${url.origin}`)];
}

function proxies({ listen: { trustProxy, host, port }, publicUrl: url }: Config): Finding[] {
  const check = 'TRUST_PROXY';
  if (trustProxy === true)
    return [warn(check, 'true: whoever reaches the gateway may claim any address', 'name the proxies: their number, or their CIDRs')];
  const isBehind = url !== undefined && url.origin !== localUrl(host, port).origin;
  if (trustProxy === false && isBehind)
    return [
      warn(
        check,
        'false, and PUBLIC_URL is another address: behind a proxy all clients look like it',
        'name the proxies, if there are any',
      ),
    ];
  return [ok(check, String(trustProxy))];
}
