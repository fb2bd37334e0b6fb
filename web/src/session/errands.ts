// What is fetched and done beside the terminal: the clipboard, links, the end of the session. Knows no connection and no control.
import { writeClipboard } from '../shared/clipboard.js';
import type { Gateway } from '../shared/gateway.js';
import { fragmentOf, type Place } from '../shared/place.js';
import { failureText } from '../shared/words.js';
import { showShares } from './share-dialog.js';

const END = 'End this session for everyone? Its process is killed.';

export interface ErrandParts {
  readonly gateway: Gateway;
  readonly place: Place;
  tell(text: string): void;
  /** Back to the terminal. */
  back(): void;
}

export class Errands {
  readonly #parts: ErrandParts;

  constructor(parts: ErrandParts) {
    this.#parts = parts;
  }

  /** `said` is told when it is done; empty: nothing. */
  async copy(text: string, said = ''): Promise<void> {
    if (text !== '') await this.try(writeClipboard(text).then(() => this.#parts.tell(said)));
    this.#parts.back();
  }

  copyLink(): Promise<void> {
    const link = new URL(fragmentOf(this.#parts.place), document.baseURI);
    return this.copy(link.href, 'The link is copied. Whoever opens it needs a token of their own.');
  }

  /** Leaves for the session's history. */
  replay(): void {
    location.hash = fragmentOf({ ...this.#parts.place, at: 0 });
  }

  async share(): Promise<void> {
    await showShares(this.#parts.gateway, this.#parts.place).closed;
    this.#parts.back();
  }

  async end(): Promise<void> {
    const { gateway, place } = this.#parts;
    if (confirm(END)) await this.try(gateway.end(place.instanceId, place.sessionId));
  }

  /** Says so when it fails. */
  async try<Value>(attempt: Promise<Value>): Promise<Value | undefined> {
    try {
      return await attempt;
    } catch (error) {
      this.#parts.tell(failureText(error));
      return undefined;
    }
  }
}
