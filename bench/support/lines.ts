// Numbered lines as a program prints them and as somebody was shown them: what is missing, there twice, or out of its place. Knows no session.

/** What one was shown wrongly, in lines or in frames. */
export interface Wrongs {
  lost: number;
  doubled: number;
  outOfOrder: number;
}

export const noWrongs = (): Wrongs => ({ lost: 0, doubled: 0, outOfOrder: 0 });

/**
 * A program (bash) that prints a numbered line every `seconds` until there is a file `stop` in its folder, and then says how many they were.
 * It begins by naming its life: a session that goes on elsewhere has a second one.
 */
export const numberedLines = (seconds: number): string => `
exec 3<> <(:)
life=$$-$RANDOM
printf -v padding '%100s'
printf '\\nbegin:%s\\n' $life
for ((n = 1; ; n++)); do
  [ -e stop ] && break
  echo "$life:$n:\${padding:0:n%97}."
  read -rt ${seconds} -u 3
done
echo "$life:end:$((n - 1))."
`;

const LINE = /^(\d+-\d+):(\d+): *\.$/;
const END = /^(\d+-\d+):end:(\d+)\.$/;
const BEGIN = /^begin:(\d+-\d+)$/;

/** Takes the output in pieces, cut anywhere. Of each life all lines are there, once and in order; only the last may be torn, when the program died. */
export class Lines {
  readonly wrongs = noWrongs();
  /** Lines seen. */
  count = 0;
  /** Programs that began. */
  lives = 0;
  /** The program has said how many lines there were. */
  isComplete = false;
  #rest = '';
  #life = '';
  #last = 0;
  /** A line that is none was seen: no line of the same life may follow. */
  #torn = false;
  #afterHole = false;

  take(text: string): void {
    const lines = (this.#rest + text).split('\r\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') this.#line(line);
  }

  /** What follows is not what came next. */
  hole(): void {
    this.#afterHole = true;
    // The first may be the end of a line, which looks like one: it is none.
    this.#rest = '\0';
  }

  #line(line: string): void {
    const [, begun] = BEGIN.exec(line) ?? [];
    const [, life, number] = LINE.exec(line) ?? [];
    const [, ended, count] = END.exec(line) ?? [];
    if (begun !== undefined) this.#begin(begun);
    else if (life !== undefined) this.#number(life, Number(number));
    else if (ended !== undefined) this.#end(ended, Number(count));
    else this.#torn = !this.#afterHole;
  }

  #begin(life: string): void {
    if (life === this.#life) this.wrongs.doubled++;
    this.#life = life;
    this.#last = 0;
    this.#torn = false;
    this.#afterHole = false;
    this.lives++;
  }

  #number(life: string, number: number): void {
    this.count++;
    this.#goOn(life, number - 1);
    if (this.#torn || life !== this.#life) this.wrongs.outOfOrder++;
    if (number > this.#last) this.wrongs.lost += number - this.#last - 1;
    else this.wrongs.doubled++;
    this.#last = Math.max(this.#last, number);
    this.#torn = false;
  }

  /** After a hole, what was passed over is not lost. */
  #goOn(life: string, last: number): void {
    if (!this.#afterHole) return;
    this.#afterHole = false;
    this.#last = life === this.#life ? Math.max(last, this.#last) : last;
    this.#life = life;
  }

  #end(life: string, count: number): void {
    this.#goOn(life, count);
    if (life !== this.#life) this.wrongs.outOfOrder++;
    this.wrongs.lost += Math.abs(count - this.#last);
    this.isComplete = true;
  }
}
