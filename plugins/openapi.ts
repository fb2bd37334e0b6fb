// Tells the HTTP routes as OpenAPI, from their schemas. Knows no handler.
import swagger from '@fastify/swagger';
import fp from 'fastify-plugin';

/** The parts of the API, and the addresses that belong to each: to the first that takes it. */
const parts = [
  { name: 'A2A', of: /^\/agents\/:inst\/a2a\//, description: 'Tasks on terminals: A2A 1.0 as HTTP+JSON and as JSON-RPC.' },
  { name: 'Sessions', of: /^\/agents\/:inst\/sessions/, description: 'Terminals: begun, listed, read and ended.' },
  { name: 'Agents', of: /^\/(agents|\.well-known)/, description: 'What can be run here, as A2A AgentCards.' },
  { name: 'Operation', of: /^\/(healthz|readyz|admin)/, description: 'For those who run it.' },
];

const partOf = (url: string): string => parts.find(({ of }) => of.test(url))?.name ?? 'Operation';

const description = 'Share live terminals between people and agents. The WebSocket side is pty-ws/v1 with pty-extensions/v1.';

/** An address and a method, as OpenAPI tells them; `x-verbs` is a route's word for what is there at `{id}` ('') and at each `{id}:verb`. */
interface Operation {
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>;
  readonly responses?: object;
  readonly 'x-verbs'?: Readonly<Record<string, { readonly summary: string; readonly answer: object }>>;
}
type Paths = Record<string, Record<string, Operation>>;

/** To the router `{id}` and `{id}:verb` are one address, `{idVerb}`; in A2A each is its own. */
function eachVerb(paths: Paths): Paths {
  const spelled: Paths = {};
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { 'x-verbs': verbs = {}, ...operation }] of Object.entries(methods)) {
      const addresses = path.endsWith('{idVerb}') ? ofVerbs(path, operation, verbs) : [[path, operation] as const];
      for (const [address, told] of addresses) spelled[address] = { ...spelled[address], [method]: told };
    }
  }
  return spelled;
}

function ofVerbs(path: string, operation: Operation, verbs: NonNullable<Operation['x-verbs']>): Array<readonly [string, Operation]> {
  return Object.entries(verbs).map(([verb, { summary, answer }]) => {
    const id = verb === '' ? '{id}' : `{id}:${verb}`;
    const parameters = (operation.parameters ?? [])
      .filter((parameter) => verb === '' || parameter.in === 'path')
      .map((parameter) => (parameter.name === 'idVerb' ? { ...parameter, name: 'id' } : parameter));
    return [path.replace('{idVerb}', id), { ...operation, summary, parameters, responses: { ...operation.responses, 200: answer } }];
  });
}

export default fp(
  async (app) => {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: { title: 'pty-gateway', version: '1', description },
        tags: parts.map(({ name, description }) => ({ name, description })),
        components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
      },
      transform: ({ schema, url }) => ({ schema: { ...schema, tags: [partOf(url)] }, url }),
      // Refs would need names for schemas that are used once; whole ones read as well.
      refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
    });
    app.get('/openapi.json', { schema: { hide: true } }, async () => {
      const document = app.swagger() as { readonly paths: Paths };
      return { ...document, paths: eachVerb(document.paths), servers: [{ url: app.publicUrl().http }] };
    });
  },
  { name: 'openapi', dependencies: ['context'] },
);
