// Tells the audit who sends a certificate in a header without being a proxy that may. Behind the rate limits, so that nobody fills the file with it.
import fp from 'fastify-plugin';

export default fp(
  async (app) => {
    const { header } = app.config.clientCertificates;
    app.addHook('onRequest', async (request) => {
      if (!app.isForged(request)) return;
      request.record('key_error', 'denied', {
        detail: `forged certificate: ${header} came from ${request.raw.socket.remoteAddress}, which TRUST_PROXY does not list`,
      });
    });
  },
  { name: 'forged-certificates', dependencies: ['audit', 'rate-limit'] },
);
