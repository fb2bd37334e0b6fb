// A2A's JSON as it comes in: properties of what is read, whatever a client writes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromProtoJson, parseBody, reader } from '../../src/a2a/json.js';
import { SendMessageRequest } from '../../src/a2a/requests.js';
import { Fault } from '../../src/errors.js';

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const word = fc.stringMatching(/^[a-z]{1,6}([A-Z][a-z]{1,6}){0,2}$/).filter((name) => name !== 'metadata' && name !== 'data');
const { tree } = fc.letrec((tie) => ({
  tree: fc.dictionary(
    word,
    fc.oneof({ maxDepth: 4 }, fc.constantFrom('a', 1, true), tie('tree'), fc.array(tie('tree'), { maxLength: 3 })),
    { maxKeys: 4 },
  ),
}));

/** Every name of a tree in the other spelling. */
function spelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(spelled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snake(name), spelled(member)]));
}

test('both spellings of a request are the same request', () => {
  fc.assert(
    fc.property(tree, (value) => {
      expect(fromProtoJson(spelled(value))).toEqual(fromProtoJson(value));
    }),
  );
});

test('what is the client’s own is let be, whatever it holds', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (own) => {
      expect(fromProtoJson({ metadata: { snake_case: own } })).toEqual({ metadata: { snake_case: own } });
    }),
  );
});

test('whatever is sent is read or refused by a Fault that names members, and only known members are read', () => {
  const read = reader(SendMessageRequest);
  const known = fc.record({
    message: fc.record({ messageId: fc.jsonValue(), role: fc.jsonValue(), parts: fc.jsonValue(), odd: fc.jsonValue() }),
  });
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), known), (value) => {
      try {
        expect(Object.keys(read(value).message)).not.toContain('odd');
      } catch (error) {
        expect(error).toBeInstanceOf(Fault);
        expect((error as Fault).message).toMatch(/^[\w.]*: expected /);
      }
    }),
  );
});

test('a name that means something to objects is refused, however it is written', () => {
  for (const text of ['{"__proto__": {}}', '{"a": [{"\\u005f_proto__": 1}]}']) expect(() => parseBody(text)).toThrow(Fault);
});
