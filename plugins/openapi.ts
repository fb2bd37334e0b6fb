// Tells the HTTP routes as OpenAPI, from their schemas. Knows no handler.
import swagger from '@fastify/swagger';
import fp from 'fastify-plugin';

const description = 'Share live terminals between people and agents. The WebSocket side is pty-ws/v1 with pty-extensions/v1.';

export default fp(
  async (app) => {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: { title: 'pty-gateway', version: '1', description },
        components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
      },
      // Refs would need names for schemas that are used once; whole ones read as well.
      refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
    });
    app.get('/openapi.json', { schema: { hide: true } }, async () => {
      const { servers: _, ...document } = app.swagger() as Record<string, unknown>;
      return { ...document, servers: [{ url: app.publicUrl().http }] };
    });
  },
  { name: 'openapi', dependencies: ['context'] },
);
