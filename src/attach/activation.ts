// Whether pty-extensions/v1 is active on a connection, and by whose word (pty-ext §1, protocol R5). Knows no other extension.
import { EXTENSION_URI } from '../protocol/names.js';

export class Activation {
  readonly #byUpgrade: boolean;
  #byFirstFrame = false;

  constructor(namedByUpgrade: readonly string[]) {
    this.#byUpgrade = namedByUpgrade.includes(EXTENSION_URI);
  }

  firstFrame(extensions: readonly string[] = []): void {
    this.#byFirstFrame = extensions.includes(EXTENSION_URI);
  }

  get isOn(): boolean {
    return this.#byUpgrade || this.#byFirstFrame;
  }

  /** For the hello: what was active before the first frame. */
  get greeted(): readonly string[] {
    return this.#byUpgrade ? [EXTENSION_URI] : [];
  }

  /** For the RoleAssigned: what the first frame activated. */
  get echoed(): readonly string[] | undefined {
    return this.#byFirstFrame ? [EXTENSION_URI] : undefined;
  }
}
