// Who a client is by its certificate: that of its own TLS connection, or the one that a trusted proxy has put into a header. Knows no token and no route.
import type { Server } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { describeCertificate } from '../src/access/certificates/certificate.js';
import { certificateIn } from '../src/access/certificates/header.js';
import { openCertificateRules } from '../src/access/certificates/rules.js';
import { trustedPeers } from '../src/access/certificates/trusted-peers.js';
import type { Principal } from '../src/access/principal.js';
import { endOf, readTls } from '../src/access/tls.js';
import { Fault } from '../src/errors.js';
import type { Reading } from '../src/metrics/metrics.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined for a request without a certificate. UNAUTHENTICATED for one that is not trusted, not good now, or nobody's. */
    certifiedPrincipal(request: FastifyRequest): Principal | undefined;
    /** Whether the request has the header of CLIENT_CERT_HEADER from somebody who is no trusted proxy; it is not believed. */
    isForged(request: FastifyRequest): boolean;
  }
}

type X509 = ReturnType<typeof certificateIn>;

/** Where certificates in a header are believed, the one of the connection below is the proxy's own. */
function certificateOf(request: FastifyRequest, header: string | undefined, isProxy: boolean): X509 | undefined {
  if (header !== undefined && isProxy) return inHeader(request, header);
  return ofConnection(request);
}

function inHeader({ headers }: FastifyRequest, header: string): X509 | undefined {
  const text = headers[header];
  if (text === undefined || text === '') return undefined;
  try {
    return certificateIn(String(text));
  } catch (cause) {
    throw new Fault('UNAUTHENTICATED', `the header ${header} holds no certificate`, { cause });
  }
}

function ofConnection({ raw: { socket } }: FastifyRequest): X509 | undefined {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  if (certificate === undefined || !(socket instanceof TLSSocket)) return undefined;
  if (!socket.authorized) throw new Fault('UNAUTHENTICATED', `the client certificate is not trusted (${socket.authorizationError})`);
  return certificate;
}

function principalBy(rules: Pick<ReturnType<typeof openCertificateRules>, 'principalOf'>, x509: X509): Principal {
  const certificate = describeCertificate(x509);
  const now = Date.now();
  if (!(certificate.expiresAt > now)) throw new Fault('UNAUTHENTICATED', 'the client certificate has expired');
  if (certificate.notBefore > now) throw new Fault('UNAUTHENTICATED', 'the client certificate is not good yet');
  const principal = rules.principalOf(certificate);
  if (!principal) throw new Fault('UNAUTHENTICATED', 'no rule of the gateway fits the client certificate');
  return principal;
}

/** On SIGHUP, and when they have changed, each for itself. */
function rereadOnDemand(app: FastifyInstance, rules: ReturnType<typeof openCertificateRules> | undefined): void {
  const { tls, clientCertificates } = app.config;
  const add = (variable: string, reread: () => void, files: ReadonlyArray<string | undefined>) => {
    const told = () => {
      reread();
      return 'it holds for those who connect from now on';
    };
    app.reloads.add(variable, told, files);
  };
  const shown = new ShownCertificate(app);
  app.metrics.read('certificate_end_seconds', () => shown.ends());
  if (tls) add('TLS_CERT_FILE', () => shown.reread(), [tls.certFile, tls.keyFile, tls.clientCaFile]);
  if (rules) add('CLIENT_CERT_MAP_FILE', () => rules.reload(), [clientCertificates.mapFile]);
}

/** What clients are shown, and until when it is good. */
class ShownCertificate {
  readonly #app: FastifyInstance;
  /** Milliseconds since the epoch. */
  #end: number | undefined;

  constructor(app: FastifyInstance) {
    this.#app = app;
    const { tls } = app.config;
    if (tls) this.#note(readTls(tls).cert);
  }

  /** Who connects from now on is shown the new certificate, and judged by the new authorities. */
  reread(): void {
    const { config, server } = this.#app;
    if (!config.tls) return;
    const given = readTls(config.tls);
    (server as unknown as Server).setSecureContext(given);
    this.#note(given.cert);
  }

  ends(): Reading {
    return this.#end === undefined ? [] : [[{}, this.#end / 1000]];
  }

  #note(cert: string): void {
    this.#end = endOf(cert);
    const fields = { variable: 'TLS_CERT_FILE', ended: new Date(this.#end).toISOString() };
    if (this.#end <= Date.now()) this.#app.log.warn(fields, 'the certificate that is shown has ended: clients refuse it');
  }
}

export default fp(
  async (app) => {
    const { mapFile, header } = app.config.clientCertificates;
    const { trustProxy } = app.config.listen;
    const isTrusted = trustedPeers(Array.isArray(trustProxy) ? trustProxy : []);
    const rules = mapFile === undefined ? undefined : openCertificateRules(mapFile);
    const isProxy = ({ raw }: FastifyRequest) => isTrusted(raw.socket.remoteAddress);

    app.decorate('certifiedPrincipal', (request: FastifyRequest) => {
      const x509 = rules && certificateOf(request, header, isProxy(request));
      return x509 && rules && principalBy(rules, x509);
    });
    app.decorate('isForged', (request: FastifyRequest) => header !== undefined && header in request.headers && !isProxy(request));
    rereadOnDemand(app, rules);
  },
  { name: 'client-certificates', dependencies: ['context'] },
);
