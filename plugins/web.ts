// Serves the built terminal page, where there is one. Knows no API.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import fp from 'fastify-plugin';

/** `dist/web`, seen from the compiled plugin and from its source. */
const here = fileURLToPath(import.meta.url);
const built = path.join(path.dirname(here), here.endsWith('.ts') ? '../dist/web' : '../web');

export default fp<{ root?: string }>(
  async (app, { root = built }) => {
    if (!existsSync(path.join(root, 'index.html'))) {
      app.log.warn('the terminal page was not built; only the API is served');
      return;
    }
    const prefix = app.config.publicUrl?.prefix;
    // The page's addresses are relative to its folder.
    if (prefix) app.get(prefix, { schema: { hide: true } }, async (_request, reply) => reply.redirect(`${prefix}/`, 308));
    await app.register(fastifyStatic, {
      root,
      schemaHide: true,
      decorateReply: false,
      // One route for each file that is there, and none that could lead elsewhere.
      wildcard: false,
      dotfiles: 'ignore',
      cacheControl: false,
      // Built assets carry a hash in their names; the page itself must be asked for again.
      setHeaders: (response, file) => {
        response.setHeader('cache-control', file.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
  },
  { name: 'web', dependencies: ['context'] },
);
