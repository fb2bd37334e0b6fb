// The links of a gateway that is alone, in a file, so that one that was revoked stays so after a start. Knows no token and no route.
import { open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../folder.js';
import { lives, MAX_SHARES, type Share, shareIn } from './share.js';
import { type Shares, tooMany } from './shares.js';

/** For the owner of the process alone. */
const MODE = 0o600;

export class SharesFile implements Shares {
  readonly #file: string;
  #shares: readonly Share[];
  /** One write at a time, in the order of the changes. */
  #written: Promise<void> = Promise.resolve();

  private constructor(file: string, shares: readonly Share[]) {
    this.#file = file;
    this.#shares = shares;
  }

  /** A file that is not there has no links. Rejects with the reason if it cannot be read. */
  static async open(file: string): Promise<SharesFile> {
    return new SharesFile(file, sharesIn(await textOf(file)));
  }

  async add(share: Share): Promise<void> {
    const living = this.#shares.filter((each) => lives(each));
    if (living.filter(({ session_id }) => session_id === share.session_id).length >= MAX_SHARES) throw tooMany();
    await this.#keep([...living, share]);
  }

  async list(sessionId: string): Promise<Share[]> {
    return this.#shares.filter((share) => share.session_id === sessionId && lives(share));
  }

  async revoke(sessionId: string, shareId: string): Promise<boolean> {
    const rest = this.#shares.filter((share) => share.session_id !== sessionId || share.share_id !== shareId);
    if (rest.length === this.#shares.length) return false;
    await this.#keep(rest);
    return true;
  }

  async among(words: readonly string[]): Promise<ReadonlySet<string>> {
    const kept = new Set(this.#shares.filter((share) => lives(share)).map(({ share_id }) => share_id));
    return new Set(words.filter((word) => !kept.has(shareIn(word)?.shareId ?? '') && shareIn(word) !== undefined));
  }

  /** In memory at once; resolves when the disk has it. */
  #keep(shares: readonly Share[]): Promise<void> {
    this.#shares = shares;
    const write = () => replaceFile(this.#file, JSON.stringify({ shares: this.#shares }));
    const written = this.#written.then(write, write);
    this.#written = written.catch(() => {});
    return written;
  }
}

async function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

function sharesIn(text: string | undefined): readonly Share[] {
  const { shares } = text === undefined ? { shares: [] } : (JSON.parse(text) as { shares?: unknown });
  if (!Array.isArray(shares)) throw new Error('it has no list of links');
  return shares as Share[];
}

/** The old file or the new one is there, whole. */
async function replaceFile(file: string, text: string): Promise<void> {
  await makeFolder(path.dirname(file));
  const draft = await open(`${file}.new`, 'w', MODE);
  try {
    await draft.writeFile(text);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(`${file}.new`, file);
}
