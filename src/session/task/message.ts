// An A2A message as text, and text as keystrokes for a program (protocol, A2A 1.0). Knows no terminal and no task.
import type { Adapter } from '../../agents/adapter.js';
import { Fault } from '../../errors.js';
import type { MessageJson } from '../session.js';

/** UTF-16 units that one message may type. */
export const MAX_TYPED = 256 * 1024;

const PASTE = ['\x1b[200~', '\x1b[201~'] as const;

/**
 * Text parts as they are, data parts as JSON, and files that hold text (`raw`, with a media type `text/*`) as that text: a line each.
 * INVALID_REQUEST for anything else, with the part's number: a terminal takes nothing but text, and the gateway fetches no `url`.
 */
export function textOf({ parts }: MessageJson): string {
  if (parts.length === 0) throw new Fault('INVALID_REQUEST', 'message.parts: expected at least one');
  const text = parts.map(partText).join('\n');
  if (text.length > MAX_TYPED)
    throw new Fault('INVALID_REQUEST', `message.parts: at most ${MAX_TYPED} characters are typed, got ${text.length}`);
  return text;
}

function partText(part: Readonly<Record<string, unknown>>, index: number): string {
  const { text, data, raw, url, mediaType } = part;
  const where = `message.parts.${index}`;
  if (typeof text === 'string') return text;
  if (data !== undefined) return JSON.stringify(data);
  if (typeof raw === 'string' && typeof mediaType === 'string' && /^text\//i.test(mediaType)) return decoded(raw, where);
  if (raw !== undefined || url !== undefined) throw notSupported(where, index, url === undefined ? mediaType : 'url');
  throw new Fault('INVALID_REQUEST', `${where}: expected text, data or raw`);
}

function decoded(raw: string, where: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(raw, 'base64'));
  } catch {
    throw new Fault('INVALID_REQUEST', `${where}.raw: expected UTF-8 text in base64`);
  }
}

/** `details.reason` is A2A's name of the error. */
function notSupported(where: string, part: number, what: unknown): Fault {
  const told = what === 'url' ? 'a file behind a url' : `a file of the type ${JSON.stringify(what ?? null)}`;
  return new Fault('INVALID_REQUEST', `ContentTypeNotSupported: ${where}: a terminal takes text, and files of text/*, not ${told}`, {
    details: { reason: 'CONTENT_TYPE_NOT_SUPPORTED', part },
  });
}

/** What is typed for a text: the text itself, and the key that submits it. */
export interface Keystrokes {
  readonly text: Uint8Array;
  readonly submit: Uint8Array;
}

/** One paste where the program takes such; else every line is typed, and ended as by Enter. */
export function keystrokes(text: string, { paste, submit }: Pick<Adapter, 'paste' | 'submit'>, takesPastes: boolean): Keystrokes {
  const lines = text.replaceAll(/\r?\n/g, '\r');
  const isPaste = paste === 'bracketed' || (paste === 'auto' && takesPastes);
  return { text: Buffer.from(isPaste ? pasted(lines) : lines), submit: Buffer.from(submit) };
}

/** Without the control characters that would end the paste, or be keys. */
function pasted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return PASTE[0] + text.replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u0080-\u009f]/g, '') + PASTE[1];
}
