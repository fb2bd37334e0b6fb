// Cuts out of output what asks the terminal something: the past was answered when it was new, a part of a screen cannot be passed on. Knows no frame.

/** An unfinished sequence longer than this, in bytes, is let through: it is no query. */
const MAX_HELD = 256;

const ESC = '\x1b';
const CSI = `${ESC}\\[`;
/** BEL or ST. */
const END = `(?:\x07|${ESC}\\\\)`;
const TEXT = `[^\x07${ESC}]*`;

/** DA, DSR, DECRQM, XTVERSION, keyboard flags, window reports, DECREQTPARM; ENQ and DECID; OSC with a question; DECRQSS and XTGETTCAP. */
const QUERY = new RegExp(
  [
    `${CSI}[?>=]?[\\d;]*[cn]`,
    `${CSI}\\??\\d*\\$p`,
    `${CSI}>[\\d;]*q`,
    `${CSI}\\?u`,
    `${CSI}(?:1[1-9]|2[01])(?:;\\d*)*t`,
    `${CSI}[01]?x`,
    `\x05|${ESC}Z`,
    `${ESC}\\](?:\\w*;)+\\?(?:;${TEXT})?${END}`,
    `${ESC}P[+$]q${TEXT}${END}`,
  ].join('|'),
  'g',
);
const UNFINISHED = new RegExp(`${ESC}(?:\\[[ -?]*|[\\]P]${TEXT}${ESC}?)?$`);

export class QueryFilter {
  readonly #asked: (query: Uint8Array) => void;
  #held = '';

  /** `asked` is given each query that is cut out. */
  constructor(asked: (query: Uint8Array) => void = () => {}) {
    this.#asked = asked;
  }

  /** The same bytes without the queries; what may be the beginning of one is kept for the next call. */
  take(bytes: Uint8Array): Uint8Array {
    const text = this.#held + Buffer.from(bytes).toString('latin1');
    const unfinished = UNFINISHED.exec(text)?.[0] ?? '';
    this.#held = unfinished.length <= MAX_HELD ? unfinished : '';
    const finished = text.slice(0, text.length - this.#held.length);
    return Buffer.from(finished.replace(QUERY, this.#cut), 'latin1');
  }

  readonly #cut = (query: string): string => {
    this.#asked(Buffer.from(query, 'latin1'));
    return '';
  };

  /** What is still held, at the end of the past. */
  end(): Uint8Array {
    const held = Buffer.from(this.#held, 'latin1');
    this.#held = '';
    return held;
  }
}
