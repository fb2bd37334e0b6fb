// What browsers are told not to do with the page. Knows no route.
import helmet from '@fastify/helmet';
import fp from 'fastify-plugin';

const self = "'self'";
const none = "'none'";

/** Scripts come from the gateway alone. Styles may be inline: xterm.js makes style elements, and style attributes for colours. */
function policy(host: string) {
  return {
    'default-src': [self],
    'script-src': [self],
    'style-src': [self, "'unsafe-inline'"],
    'img-src': [self, 'data:'],
    // Not every browser takes 'self' for the WebSockets of the same host.
    'connect-src': [self, `ws://${host}`, `wss://${host}`],
    'object-src': [none],
    'base-uri': [none],
    'form-action': [none],
    'frame-ancestors': [none],
  };
}

export default fp(
  async (app) => {
    await app.register(helmet, {
      global: true,
      contentSecurityPolicy: false,
      strictTransportSecurity: false,
      xFrameOptions: { action: 'deny' },
    });
    app.addHook('onRequest', async (_request, reply) => {
      const { origin } = app.publicUrl();
      const directives = policy(new URL(origin).host);
      const text = Object.entries(directives).map(([name, values]) => `${name} ${values.join(' ')}`);
      reply.header('content-security-policy', text.join('; '));
      if (origin.startsWith('https:')) reply.header('strict-transport-security', 'max-age=31536000');
    });
  },
  { name: 'security', dependencies: ['context'] },
);
