// Frames as RFC 6455 has them and as it forbids them: opcodes, reserved bits, masks, lengths, fragments, close codes. Knows no verb.
import fc from 'fast-check';
import type { Attack, Findings } from './attack.js';
import type { Place } from './place.js';
import { frame, RawSocket, text } from './wire.js';

/** Frames that are in order on one connection, before the one that is not. */
const LEGAL_FRAMES = 200;
/** Conversations that are thought up at once. */
const CONVERSATIONS = 50;
/** Frames that are sent at once, each with one ping at most: who has more than 60 pings unanswered is hung up on. */
const BURST = 50;
const PING = '{"op":"ping","id":"%","payload":{}}';

const body = fc.uint8Array({ maxLength: 300 });
const control = fc.uint8Array({ maxLength: 125 });
/** A text in pieces, with a ping behind the first. */
const fragments = fc.tuple(fc.string({ maxLength: 40 }), fc.integer({ min: 1, max: 5 }), control).map(([said, size, ping]) => {
  const bytes = Buffer.from(said);
  const pieces = Array.from({ length: Math.max(1, Math.ceil(bytes.length / size)) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
  const [head, ...rest] = pieces.map((piece, i) => frame(piece, { opcode: i === 0 ? 1 : 0, fin: i === pieces.length - 1 }));
  return Buffer.concat([head as Buffer, frame(ping, { opcode: 9 }), ...(rest.length > 0 ? rest : [])]);
});
const legal: fc.Arbitrary<Buffer> = fc.oneof(
  fragments,
  control.map((bytes) => frame(bytes, { opcode: 9 })),
  control.map((bytes) => frame(bytes, { opcode: 10 })),
  fc.string({ maxLength: 300 }).map(text),
  body.map((bytes) => frame(bytes, { opcode: 2 })),
);

const data = fc.constantFrom(1, 2);
/** What ends a connection, whatever came before it. */
const illegal: fc.Arbitrary<Buffer> = fc.oneof(
  fc.tuple(body, data).map(([bytes, opcode]) => frame(bytes, { opcode, masked: false })),
  fc.tuple(body, data, fc.integer({ min: 1, max: 7 })).map(([bytes, opcode, rsv]) => frame(bytes, { opcode, rsv })),
  fc.tuple(body, fc.constantFrom(3, 4, 5, 6, 7, 11, 12, 13, 14, 15)).map(([bytes, opcode]) => frame(bytes, { opcode })),
  fc.constantFrom(8, 9, 10).map((opcode) => frame(new Uint8Array(126), { opcode })),
  fc.constantFrom(8, 9, 10).map((opcode) => frame(new Uint8Array(3), { opcode, fin: false })),
  body.map((bytes) => frame(bytes, { opcode: 0 })),
  data.map((opcode) => Buffer.concat([frame(Buffer.from('a'), { opcode: 1, fin: false }), frame(Buffer.from('b'), { opcode })])),
  fc
    .constantFrom([0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82])
    .map((bytes) => frame(Buffer.from(bytes), { opcode: 1 })),
  fc
    .constantFrom(0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535)
    .map((code) => frame(Buffer.from([code >> 8, code & 0xff]), { opcode: 8 })),
  fc.constant(frame(Buffer.from([3]), { opcode: 8 })),
  fc.constantFrom(2n ** 63n, 2n ** 64n - 1n, 2n ** 53n, 2n ** 40n).map((length) => frame(new Uint8Array(), { opcode: 2, length })),
);

async function one(place: Place, path: string, frames: readonly Buffer[], last: Buffer, findings: Findings): Promise<void> {
  const protocol = findings.sent % 2 === 0 ? 'pty-ws.v1' : 'pty-ws.v1.binary';
  const ponged = new Set<string | undefined>();
  const headers = [`Authorization: Bearer ${place.token()}`, `Sec-WebSocket-Protocol: ${protocol}`];
  const socket = await RawSocket.open(place.port, path, headers, ({ op, id }) => void (op === 'pong' && ponged.add(id)));
  if (!socket) return findings.wrong('the upgrade was refused', path);
  for (let at = 0; at < frames.length; at += BURST) {
    const burst = frames.slice(at, at + BURST);
    socket.wire.say(Buffer.concat([...burst, text(PING.replace('%', `${at}`))]));
    if (await socket.until(() => ponged.has(`${at}`))) continue;
    findings.wrong(`frames in order were closed with ${socket.code}`, hex(burst));
    break;
  }
  socket.wire.say(Buffer.concat([last, text(PING.replace('%', 'late'))]));
  await socket.until(() => ponged.has('late'));
  if (ponged.has('late')) findings.wrong('was taken', hex([last]));
  else if (socket.code === undefined || socket.code === 1011) findings.wrong(`was closed with ${socket.code}`, hex([last]));
  socket.wire.close();
  findings.add(frames.length + 1);
}

const hex = (frames: readonly Buffer[]) => Buffer.concat(frames).toString('hex');

export const websocketFrames: Attack = {
  name: 'WebSocket frames',
  share: 30,
  async run(place, seed, inputs, findings) {
    const path = `${await place.session()}/attach`;
    const conversation = fc.tuple(fc.array(legal, { minLength: 1, maxLength: LEGAL_FRAMES, size: 'max' }), illegal);
    for (let batch = 0; findings.sent < inputs; batch++)
      for (const [frames, last] of fc.sample(conversation, { seed: seed + batch, numRuns: CONVERSATIONS })) {
        if (findings.sent < inputs) await one(place, path, frames, last, findings);
      }
  },
};
