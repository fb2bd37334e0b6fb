// Which extensions are active on a connection, and by whose word (pty-ext §1, protocol R5). Knows not what they do.
import { activateOnWebSocket } from '../a2a/extensions.js';

export class Activation {
  readonly #byUpgrade: readonly string[];
  #byFirstFrame: readonly string[] = [];

  constructor(namedByUpgrade: readonly string[]) {
    this.#byUpgrade = activateOnWebSocket(namedByUpgrade);
  }

  firstFrame(extensions: readonly string[] = []): void {
    this.#byFirstFrame = activateOnWebSocket(extensions);
  }

  has(extension: string): boolean {
    return [...this.#byUpgrade, ...this.#byFirstFrame].includes(extension);
  }

  /** For the hello: what was active before the first frame. */
  get greeted(): readonly string[] {
    return this.#byUpgrade;
  }

  /** For the RoleAssigned: what the first frame activated. */
  get echoed(): readonly string[] | undefined {
    return this.#byFirstFrame.length > 0 ? this.#byFirstFrame : undefined;
  }
}
