// The ways in which a leased secret shows up in output: as it is, in base64, in a URL, in JSON. Knows no stream.

/** Characters: a form that is shorter than this is not looked for, since too much else looks like it. */
export const LEAST_FORM = 4;

/** Each form as the visible bytes that a terminal is sent (controls, line breaks above all, are no visible text), without doubles. */
export function formsOf(secret: string): Uint8Array[] {
  const forms = [secret, ...base64Forms(Buffer.from(secret)), ...urlForms(secret), ...jsonForms(secret)];
  const visible = new Set(forms.map(visibleText).filter((form) => form.length >= LEAST_FORM));
  return [...visible].map((form) => Buffer.from(form));
}

/** Characters beyond ASCII that a terminal gives no column: nobody sees whether they are there (default-ignorable, in Unicode's words). */
const ZERO_WIDTH = /\u034f|[\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\ufe00-\ufe0f]/g;

/** Whether these bytes of UTF-8 are one of them. */
export function isZeroWidth(character: readonly number[]): boolean {
  const [lead = 0] = character;
  const mayBe = lead === 0xcd || lead === 0xd8 || lead === 0xe1 || lead === 0xe2 || lead === 0xef;
  return mayBe && Buffer.from(character).toString().replace(ZERO_WIDTH, '') === '';
}

/** Without what a terminal shows nothing of. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
export const visibleText = (text: string): string => text.replaceAll(/[\0-\x1f\x7f-\x9f]/g, '').replaceAll(ZERO_WIDTH, '');

/** By itself, and inside of something longer, where it may begin at any of three places of a group. */
function base64Forms(secret: Buffer): string[] {
  const whole = secret.toString('base64').replace(/=+$/, '');
  const inside = [0, 1, 2].map((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), secret]);
    // The characters at both ends tell of the neighbours, too.
    return shifted.toString('base64').slice(Math.ceil((shift * 8) / 6), Math.floor((shifted.length * 8) / 6));
  });
  return [whole, ...inside].flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}

function urlForms(secret: string): string[] {
  // A half of a surrogate pair is printed as something else, too.
  const component = encodeURIComponent(Buffer.from(secret).toString());
  const form = new URLSearchParams({ '': secret }).toString().slice(1);
  return [component, form].flatMap((encoded) => [encoded, encoded.replaceAll(/%../g, (hex) => hex.toLowerCase())]);
}

/** With and without characters beyond ASCII. */
function jsonForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const ascii = json.replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [json, ascii, json.replaceAll('/', '\\/')];
}
