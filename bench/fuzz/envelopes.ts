// What a client may say and may not: every verb with right and wrong members, JSON that is none, the dialect of legacy clients, bytes to type.
import fc from 'fast-check';
import { verbs } from '../../src/protocol/verbs.js';
import { type Attack, type Findings, inBatches, strangeJson } from './attack.js';
import type { Place } from './place.js';
import { frame, RawSocket, text } from './wire.js';

/** Envelopes on one connection: fewer than it may send at once. */
const ON_ONE_CONNECTION = 500;

/** `broken`: it must not be granted. */
interface Said {
  readonly bytes: (id: string) => Buffer;
  readonly what: string;
  readonly broken: boolean;
}

const side = fc.integer({ min: 1, max: 1024 });
const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
const typed = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const message = fc.record({ messageId: word, role: fc.constant('ROLE_USER'), parts: fc.tuple(fc.record({ text: word })) });
const role = fc.constantFrom('controller', 'observer');
/** Members that are right, for each verb; none ends the session. */
const members: Readonly<Record<string, fc.Arbitrary<Record<string, unknown>>>> = {
  SendMessage: fc.record({ message, configuration: fc.constant({ returnImmediately: true }) }),
  GetTask: fc.record({ task_id: word, history_length: fc.nat() }),
  ListTasks: fc.record({ page_size: fc.integer({ min: 1, max: 100 }), filter: fc.dictionary(word, word) }),
  CancelTask: fc.record({ task_id: word }),
  SubscribeToTask: fc.record({ task_id: word }),
  Unsubscribe: fc.record({ task_id: word }),
  UpdateServiceParameters: fc.record({ service_parameters: fc.dictionary(word, word) }),
  ping: fc.record({ client_ts: word }),
  'pty.join_session': fc.record({ role, cols: side, rows: side, client_label: word }),
  'pty.session_input': fc.record({ data: typed }),
  'pty.session_resize': fc.record({ cols: side, rows: side }),
  'pty.request_role': fc.record({ role }),
};
const wrongValue = fc.constantFrom<unknown>(-1, 1.5, 1e308, [], [[]], { a: 1 }, true, `\u0000${'x'.repeat(5000)}`, Number.MAX_SAFE_INTEGER);
/** Members that are needed, of which no value of those is right. */
const needed: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(verbs).map(([verb, schema]) => [verb, (schema.required ?? []).filter((name: string) => name !== 'service_parameters')]),
);
const verb = fc.constantFrom(...Object.keys(members));

const envelope = (op: unknown, payload: unknown, more: object, id: string) => text(JSON.stringify({ op, id, payload, ...more }));
const first = { extensions: ['https://agentic-sandbox.aiwg.io/extensions/pty-extensions/v1'] };

const right: fc.Arbitrary<Said> = verb.chain((op) =>
  (members[op] as fc.Arbitrary<object>).map((payload) => ({
    what: `${op} ${JSON.stringify(payload)}`,
    broken: false,
    bytes: (id) => envelope(op, payload, {}, id),
  })),
);
const broken: fc.Arbitrary<Said> = verb
  .filter((op) => (needed[op] ?? []).length > 0)
  .chain((op) =>
    fc
      .tuple(members[op] as fc.Arbitrary<object>, fc.constantFrom(...(needed[op] as string[])), wrongValue)
      .map(([payload, name, value]) => {
        const wrong = { ...payload, [name]: value };
        return { what: `${op} ${JSON.stringify(wrong)}`, broken: true, bytes: (id) => envelope(op, wrong, {}, id) };
      }),
  );
const wrongAround: fc.Arbitrary<Said> = fc
  .tuple(
    verb,
    fc.constantFrom<object>(
      { sequence: 1 },
      { replay_from: -1 },
      { replay_from: 'x' },
      { extensions: 'x' },
      { payload: [] },
      { op: '' },
      { service_parameters: 7 },
    ),
  )
  .map(([op, more]) => ({ what: `${op} ${JSON.stringify(more)}`, broken: true, bytes: (id) => envelope(op, { task_id: 'x' }, more, id) }));
const nonsense: fc.Arbitrary<Said> = strangeJson.map((json) => ({ what: json, broken: false, bytes: () => text(json) }));
const legacy: fc.Arbitrary<Said> = fc
  .tuple(fc.constantFrom('message/send', 'tasks/get', 'tasks/list', 'pty.release_role', 'pty.session_input', 'x'), fc.json({ maxDepth: 2 }))
  .map(([op, payload]) => ({
    what: `${op} ${payload}`,
    broken: false,
    bytes: () => text(`{"op":${JSON.stringify(op)},"payload":${payload}}`),
  }));
const binary: fc.Arbitrary<Said> = fc
  .tuple(fc.constantFrom('PW1I', 'PW1O', 'PW2I', 'PW', ''), fc.uint8Array({ maxLength: 40 }))
  .map(([magic, rest]) => ({
    what: `bytes ${magic}`,
    broken: false,
    bytes: () => frame(Buffer.concat([Buffer.from(magic), rest]), { opcode: 2 }),
  }));
const said = fc.oneof(right, { weight: 2, arbitrary: broken }, wrongAround, nonsense, legacy, binary);

/** One conversation: all is said at once, and then a ping that has to be answered. */
async function converse(place: Place, path: string, all: readonly Said[], findings: Findings): Promise<void> {
  const flavour = Math.floor(findings.sent / ON_ONE_CONNECTION) % 3;
  const broken = new Map<string, string>(all.flatMap(({ broken, what }, i) => (broken ? [[`${i}`, what] as const] : [])));
  let isAnswered = false;
  const protocol = flavour === 1 ? 'pty-ws.v1.binary' : 'pty-ws.v1';
  const scope = flavour === 2 ? 'pty:observe' : 'pty:control';
  const socket = await RawSocket.open(
    place.port,
    path,
    [`Authorization: Bearer ${place.token(scope)}`, `Sec-WebSocket-Protocol: ${protocol}`],
    ({ op, id = '', payload }) => {
      if (op === 'pong' && id === 'last') isAnswered = true;
      if (op === 'Error' && payload.code === 'INTERNAL') findings.wrong(`INTERNAL "${payload.message}"`, all[Number(id)]?.what ?? id);
      if (op !== 'Error' && broken.has(id)) findings.wrong(`was granted (${op})`, broken.get(id));
      broken.delete(id);
    },
  );
  if (!socket) return findings.wrong('the upgrade was refused', path);
  const last = text('{"op":"ping","id":"last","payload":{}}');
  const begins = envelope(flavour === 1 ? 'ping' : 'pty.join_session', { role: 'controller' }, first, 'first');
  socket.wire.say(Buffer.concat([begins, ...all.map(({ bytes }, i) => bytes(`${i}`)), last]));
  if (!(await socket.until(() => isAnswered)))
    findings.wrong(`no answer; closed with ${socket.code}`, all.map(({ what }) => what).join(' | '));
  else if (!(await socket.until(() => broken.size === 0))) findings.wrong('was taken without a word', [...broken.values()].join(' | '));
  if (scope === 'pty:observe') await expectUntouched(place, path, findings);
  socket.wire.close();
  findings.add(all.length);
}

/** Whoever may only look has left nothing behind: no control, no size, and no key that `cat` would have printed. */
async function expectUntouched(place: Place, attach: string, findings: Findings): Promise<void> {
  const session = attach.slice(0, -'/attach'.length);
  const { controllers, cols, rows } = JSON.parse((await place.ask('GET', session)).text);
  const { text: printed } = await place.ask('GET', `${session}/transcript?format=text`);
  if (controllers.length > 0 || printed !== '' || cols !== 120 || rows !== 30)
    findings.wrong('was let do what only controllers may', JSON.stringify({ controllers, cols, rows, printed }));
}

export const envelopes: Attack = {
  name: 'envelopes',
  share: 40,
  async run(place, seed, inputs, findings) {
    await inBatches(said, { seed, inputs, batch: ON_ONE_CONNECTION }, async (all) => {
      const session = await place.session();
      await converse(place, `${session}/attach`, all, findings);
      await place.ask('DELETE', session);
    });
  },
};
