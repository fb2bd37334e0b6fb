// Finds many literals at once in a stream of bytes, at a cost per byte that does not depend on them (Aho–Corasick). Knows no secret.

export interface Literal<T> {
  /** At least one byte. */
  readonly bytes: Uint8Array;
  readonly tag: T;
  /** Who stands inside this literal has to wait for its end; after so many bytes of it, what waited is taken for it. Absent: nobody waits. */
  readonly guard?: number;
}

interface Trie<T> {
  /** `rows[state * classes + class]`: the child, 0 if there is none. */
  readonly rows: Int32Array;
  readonly depth: Int32Array;
  readonly tags: T[][];
  /** The least guard of all literals that go on below a state; 0 if none has one. */
  readonly guard: Int32Array;
  readonly count: number;
}

/** States are opaque numbers; the first is 0. Built once, it may serve any number of streams. */
export class Automaton<T> {
  /** Bytes that no literal has are of class 0. */
  readonly classOf = new Uint8Array(256);
  /** `next[state + classOf[byte]]`: the state after the byte, or its complement (`~state`) where literals end. */
  readonly next: Int32Array;
  /** Whether anybody has to wait inside of any literal. */
  readonly isWaitedFor: boolean;
  readonly #classes: number;
  readonly #tags: readonly T[][];
  readonly #waiting: Int32Array;
  readonly #guarded: Int32Array;

  constructor(literals: readonly Literal<T>[]) {
    this.isWaitedFor = literals.some(({ guard = 0 }) => guard > 0);
    this.#classes = this.#classify(literals);
    const trie = this.#trie(literals);
    const { count, depth, guard } = trie;
    this.#tags = trie.tags;
    this.#waiting = depth.map((d, state) => (guard[state] ? d : 0));
    this.#guarded = depth.map((d, state) => (guard[state] && d >= (guard[state] as number) ? d : 0));
    this.#connect(trie);
    this.next = trie.rows.subarray(0, count * this.#classes).map((state) => this.#reference(state));
  }

  /** What ends in this state, the longest first. */
  ending(state: number): readonly T[] {
    return this.#tags[state / this.#classes] as T[];
  }

  /** How many of the newest bytes may be the beginning of a literal that is waited for. */
  waiting(state: number): number {
    return this.#waiting[state / this.#classes] as number;
  }

  /** How many of the newest bytes are so long a beginning that they are taken for the literal if nothing comes. */
  guarded(state: number): number {
    return this.#guarded[state / this.#classes] as number;
  }

  #classify(literals: readonly Literal<T>[]): number {
    let classes = 1;
    for (const { bytes } of literals) for (const byte of bytes) if (this.classOf[byte] === 0) this.classOf[byte] = classes++;
    return classes;
  }

  #trie(literals: readonly Literal<T>[]): Trie<T> {
    const most = 1 + literals.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const rows = new Int32Array(most * this.#classes);
    const depth = new Int32Array(most);
    const guard = new Int32Array(most);
    const tags: T[][] = [[]];
    let count = 1;
    for (const { bytes, tag, guard: own = 0 } of literals) {
      let state = 0;
      for (const [i, byte] of bytes.entries()) {
        if (i > 0 && own > 0) guard[state] = Math.min(guard[state] || own, own);
        const edge = state * this.#classes + (this.classOf[byte] as number);
        if (rows[edge] === 0) {
          depth[count] = i + 1;
          tags.push([]);
          rows[edge] = count++;
        }
        state = rows[edge] as number;
      }
      (tags[state] as T[]).push(tag);
    }
    return { rows, depth: depth.subarray(0, count), tags, guard, count };
  }

  /** Breadth first: the row of a state is completed by that of its longest proper suffix, which is complete already. */
  #connect({ rows, tags, count }: Trie<T>): void {
    const suffix = new Int32Array(count);
    const queue = [0];
    for (const state of queue) {
      const own = state * this.#classes;
      const other = (suffix[state] as number) * this.#classes;
      for (let c = 1; c < this.#classes; c++) {
        const child = rows[own + c] as number;
        const beside = state === 0 ? 0 : (rows[other + c] as number);
        if (child === 0) rows[own + c] = beside;
        else {
          suffix[child] = beside;
          this.#inherit(child, beside, tags);
          queue.push(child);
        }
      }
    }
  }

  #inherit(state: number, suffix: number, tags: T[][]): void {
    (tags[state] as T[]).push(...(tags[suffix] as T[]));
    this.#waiting[state] ||= this.#waiting[suffix] as number;
    this.#guarded[state] ||= this.#guarded[suffix] as number;
  }

  #reference(state: number): number {
    const row = state * this.#classes;
    return (this.#tags[state] as T[]).length > 0 ? ~row : row;
  }
}
