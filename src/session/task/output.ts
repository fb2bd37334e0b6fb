// The answer to one message, as artifacts: what was printed since, told bit by bit, and the screen as the task rests. Knows no log and no clock but the one it is given.
import type { Adapter } from '../../agents/adapter.js';
import { newest } from '../../terminal/since-mark.js';
import type { Look, PrintedPlace } from '../../terminal/terminal.js';
import type { ArtifactJson } from '../session.js';
import { answerIn, newLines, type Prompts, screenText } from './text.js';
import type { ArtifactChange } from './updates.js';

/** UTF-16 units of an answer; of a longer one the newest are kept. */
export const MAX_OUTPUT = 1024 * 1024;
/** UTF-16 units that one update tells. */
const MAX_CHUNK = 64 * 1024;
/** UTF-16 units a second that updates may tell while the program works, so that an answer which changes as a whole is told the less often the longer it is. */
const UNITS_PER_SECOND = 256 * 1024;

/** What a message was typed at. */
export interface Asked {
  readonly messageId: string;
  readonly text: string;
  /** The screen before it was typed; undefined if it could not be seen. */
  readonly before: Look | undefined;
  readonly prompts: Prompts;
  /** What a former life of the session told of the answer; something may be missing behind it. */
  readonly former?: string;
}

export class TaskOutput {
  readonly #asked: Asked;
  readonly #reply: Adapter['reply'];
  readonly #now: () => number;
  /** What has left the screen, from the unit numbered `#from` on. */
  #settled = '';
  #from = 0;
  #place: PrintedPlace | undefined;
  #isLate = false;
  #collected: Look | undefined;
  /** As it was told last, and how much is missing before it. */
  #told: string | undefined;
  #cut = 0;
  /** What was told last was said to be all. */
  #isWhole = false;
  #screen: string | undefined;
  #notBefore = 0;

  /** `now` is in milliseconds. */
  constructor(asked: Asked, reply: Adapter['reply'], now: () => number = () => performance.now()) {
    this.#asked = asked;
    this.#reply = reply;
    this.#now = now;
    this.#told = asked.former || undefined;
  }

  /** Where the text is marked that this is made from. */
  get markAt(): 'cursor' | 'top' {
    return this.#reply === 'new' && this.#asked.former === undefined ? 'top' : 'cursor';
  }

  get place(): PrintedPlace | undefined {
    return this.#place;
  }

  get artifacts(): ArtifactJson[] {
    const output = this.#told === undefined ? [] : [this.#artifact('output', this.#told)];
    return this.#screen === undefined ? output : [...output, this.#artifact('screen', this.#screen)];
  }

  /** What is new to tell, the program being at work. */
  saw(look: Look): ArtifactChange[] {
    this.#collect(look);
    if (this.#reply !== 'output' || look.onAlternate || this.#now() < this.#notBefore) return [];
    const changes = this.#tell(this.#answer(look, false), false);
    const units = changes.reduce((sum, { artifact }) => sum + (artifact.parts[0]?.text.length ?? 0), 0);
    this.#notBefore = this.#now() + (units / UNITS_PER_SECOND) * 1000;
    return changes;
  }

  /** What is new to tell, the task being at rest. */
  rests(look: Look): ArtifactChange[] {
    this.#collect(look);
    const output = this.#tell(this.#answer(look, true), true);
    const screen = newest(screenText(look), MAX_OUTPUT);
    if (screen === (this.#screen ?? '')) return output;
    this.#screen = screen;
    return [...output, ...this.#chunks('screen', screen, false, true)];
  }

  #collect(look: Look): void {
    const { printed, fold } = look;
    if (!printed || look === this.#collected) return;
    this.#collected = look;
    const end = this.#from + this.#settled.length;
    const goesOn = this.#place?.fold === fold && printed.from === end;
    this.#settled = goesOn ? this.#settled + printed.text : printed.text;
    if (!goesOn) this.#from = printed.from;
    if (this.#settled.length > MAX_OUTPUT) {
      const kept = newest(this.#settled, MAX_OUTPUT);
      this.#from += this.#settled.length - kept.length;
      this.#settled = kept;
    }
    this.#isLate = printed.isLate;
    this.#place = { fold, until: printed.until };
  }

  #answer(look: Look, atRest: boolean): string {
    const { before, text: message, prompts } = this.#asked;
    if (this.#reply === 'screen' || look.onAlternate) {
      return this.#reply === 'new' ? newLines(look.lines, before?.lines ?? [], message) : screenText(look);
    }
    const { open = [], rest = [], replaced } = look.printed ?? {};
    const text = this.#settled + open.map((line) => `${line}\n`).join('');
    if (this.#reply === 'new') return newLines([...text.split('\n').slice(0, -1), ...rest], before?.lines ?? [], message);
    const isWhole = this.#from === 0 && !this.#isIncomplete;
    return this.#former + answerIn(text, atRest ? rest : [], { message: isWhole ? message : undefined, prompts, replaced });
  }

  /** Whole lines: the program that goes on begins one of its own. */
  get #former(): string {
    const { former = '' } = this.#asked;
    return former === '' || former.endsWith('\n') ? former : `${former}\n`;
  }

  get #isIncomplete(): boolean {
    return this.#isLate || this.#asked.former !== undefined;
  }

  /** As a continuation of what was told, if it is one. */
  #tell(whole: string, lastChunk: boolean): ArtifactChange[] {
    const text = newest(whole, MAX_OUTPUT);
    const before = this.#told;
    this.#cut = this.#from + whole.length - text.length;
    if (text === (before ?? '') && (before === undefined || !lastChunk || this.#isWhole)) return [];
    this.#told = text;
    this.#isWhole = lastChunk;
    const goesOn = before !== undefined && text.startsWith(before);
    return this.#chunks('output', goesOn ? text.slice(before.length) : text, goesOn, lastChunk);
  }

  #chunks(id: ArtifactJson['artifactId'], text: string, append: boolean, lastChunk: boolean): ArtifactChange[] {
    const pieces = inPieces(text, MAX_CHUNK);
    return pieces.map((piece, i) => ({
      artifact: this.#artifact(id, piece),
      append: append || i > 0,
      lastChunk: lastChunk && i === pieces.length - 1,
    }));
  }

  #artifact(artifactId: ArtifactJson['artifactId'], text: string): ArtifactJson {
    const { messageId } = this.#asked;
    const cut = artifactId === 'output' && this.#cut > 0 ? { cut: this.#cut } : {};
    const incomplete = artifactId === 'output' && this.#isIncomplete ? { incomplete: true as const } : {};
    return { artifactId, name: artifactId, parts: [{ text, mediaType: 'text/plain' }], metadata: { messageId, ...cut, ...incomplete } };
  }
}

/** As it is kept beside the log: the newest of it. */
export function shortened(artifact: ArtifactJson, most: number): ArtifactJson {
  const text = artifact.parts.map((part) => part.text).join('');
  if (text.length <= most || !artifact.metadata) return artifact;
  const kept = newest(text, most);
  const cut = (artifact.metadata.cut ?? 0) + text.length - kept.length;
  return { ...artifact, parts: [{ text: kept, mediaType: 'text/plain' }], metadata: { ...artifact.metadata, cut } };
}

/** At least one; no character is cut in two. */
function inPieces(text: string, most: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length || pieces.length === 0; ) {
    const isSplit = /[\ud800-\udbff]/.test(text[at + most - 1] ?? '');
    const piece = text.slice(at, at + most - (isSplit ? 1 : 0));
    pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}
