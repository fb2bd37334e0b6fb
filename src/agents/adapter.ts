// How a message is given to the program of an agent, and how its answer is known: presets, and what the agents file says. Knows no session.
import { type Static, Type } from '@sinclair/typebox';
import { RE2JS } from 're2js';

/** What is typed for each way to submit. The ones with a modifier are as terminals send them that report all keys (CSI u). */
export const submitKeys = {
  enter: '\r',
  'ctrl-enter': '\x1b[13;5u',
  'shift-enter': '\x1b[13;2u',
  'alt-enter': '\x1b\r',
  'ctrl-j': '\n',
  'ctrl-d': '\x04',
  none: '',
} as const;

const word = <const W extends string>(all: readonly W[], description: string) =>
  Type.Optional(
    Type.Union(
      all.map((each) => Type.Literal(each)),
      { description },
    ),
  );

/** `adapter` of an agent. In the agents file a word stands for `{like: word}`. */
export const AdapterConfig = Type.Object(
  {
    like: word(['shell', 'tui'], 'The preset from which the rest differs; shell if it is left out.'),
    submit: word(Object.keys(submitKeys) as Array<keyof typeof submitKeys>, 'The key that submits a message.'),
    submit_after_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 5000, description: 'From the text to the key that submits it, in milliseconds.' }),
    ),
    paste: word(['auto', 'bracketed', 'plain'], 'Whether the text is a bracketed paste; auto: if the program asks for such.'),
    done: Type.Optional(
      Type.Object(
        {
          quiet_ms: Type.Optional(
            Type.Integer({
              minimum: 100,
              maximum: 600_000,
              description: 'The answer is there when the screen has not changed for so long.',
            }),
          ),
          prompt: Type.Optional(
            Type.String({ minLength: 1, maxLength: 1000, description: 'RE2: and when a line of the screen matches this.' }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    reply: word(['output', 'screen', 'new'], 'What the answer is: what was printed, the screen, or what is new on the screen.'),
  },
  { additionalProperties: false, description: 'How messages are typed, and how their answers are known.' },
);
export type AdapterConfig = Static<typeof AdapterConfig>;

export interface Adapter {
  /** What is typed after the text. */
  readonly submit: string;
  readonly submitAfterMs: number;
  /** `auto`: a bracketed paste if the program has asked for them. */
  readonly paste: 'auto' | 'bracketed' | 'plain';
  readonly quietMs: number;
  /** Whether one of these lines matches the pattern; undefined if there is none. */
  readonly prompt: ((lines: readonly string[]) => boolean) | undefined;
  /** What the artifact `output` is made from: what was printed, all of the screen, or what is new on it. */
  readonly reply: 'output' | 'screen' | 'new';
}

const shell: Adapter = { submit: submitKeys.enter, submitAfterMs: 0, paste: 'auto', quietMs: 1000, prompt: undefined, reply: 'output' };
/** Full-screen programs redraw while they work, and take an Enter that comes with a paste for a part of it. */
const tui: Adapter = { ...shell, submitAfterMs: 300, quietMs: 2000, reply: 'new' };

/** Throws SyntaxError, in one sentence, if `done.prompt` is no pattern. */
export function adapterOf({ like, submit, submit_after_ms, paste, done, reply }: AdapterConfig = {}): Adapter {
  const base = like === 'tui' ? tui : shell;
  return {
    submit: submit === undefined ? base.submit : submitKeys[submit],
    submitAfterMs: submit_after_ms ?? base.submitAfterMs,
    paste: paste ?? base.paste,
    quietMs: done?.quiet_ms ?? base.quietMs,
    prompt: done?.prompt === undefined ? undefined : matcher(done.prompt),
    reply: reply ?? base.reply,
  };
}

function matcher(source: string): (lines: readonly string[]) => boolean {
  try {
    const pattern = RE2JS.compile(source);
    return (lines) => lines.some((line) => pattern.matcher(line).find());
  } catch (error) {
    throw new SyntaxError(`done.prompt: expected an RE2 pattern: ${(error as Error).message}`, { cause: error });
  }
}
