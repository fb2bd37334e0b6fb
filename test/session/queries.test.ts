// Programs that ask their terminal something get one answer, from the session itself, on a real PTY.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agent, type House, openHouse, Watcher } from '../support/house.js';
import { needs } from '../support/needs.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

/** Asks in bash, and prints what came up to its last character, `got:` before it; then whatever else came, until nothing does for half a second. */
const ASK = `stty raw -echo
ask() { printf "$1"; IFS= read -rs -t 10 -d "$2" got; printf 'got:%q ' "$got$2"; }
rest() { got=; while IFS= read -rs -t 0.5 -n 1 -d '' char; do got+=$char; done; printf 'rest:%q.' "$got"; }
`;
const script = (body: string): string[] => ['/bin/bash', '--noprofile', '--norc', '-c', `${ASK}\n${body}`];

async function start(argv: string[]) {
  const session = await house.sessions.create(agent(), { argv, cols: 80, rows: 24 }, 'someone');
  const screen = async () => (await session.view()).lines.join('\n');
  const shows = (text: string | RegExp) => expect.poll(screen, { timeout: 15_000 }).toMatch(text);
  return { session, screen, shows };
}

describe('a program that asks its terminal', () => {
  it('is answered once with nobody attached, in the order in which it asked', async () => {
    const { shows, screen } = await start(
      script(`
        ask '\\e[c' c; ask '\\e[>c' c; ask '\\e[=c' '\\'; ask '\\e[5n' n; ask 'ab\\e[6n' R; ask '\\e[?6n' R; ask '\\e[?2004$p' y
        ask '\\eP$qm\\e\\\\' '\\'; ask '\\e[>q' '\\'; ask '\\e[14t' t; ask '\\e[18t' t; ask '\\e]11;?\\a' '\\'; ask '\\e]4;1;?\\a' '\\'
        ask '\\eP+q544e\\e\\\\' '\\'; printf '\\e[?u\\e[c'; rest; read -t 60`),
    );
    await shows(/rest:.*\./s);
    const got = (await screen()).replaceAll('\n', '');
    expect([...got.matchAll(/got:(?:\$')?(.*?)'? /g)].map(([, answer]) => answer)).toEqual([
      '\\E[?62;22c',
      '\\E[>0;276;0c',
      '\\EP!|50545947\\E\\\\',
      '\\E[0n',
      expect.stringMatching(/^\\E\[\d+;\d+R$/),
      expect.stringMatching(/^\\E\[\?\d+;\d+R$/),
      '\\E[?2004;2$y',
      '\\EP1$r0m\\E\\\\',
      '\\EP>|pty-gateway\\E\\\\',
      '\\E[4;384;640t',
      '\\E[8;24;80t',
      '\\E]11;rgb:0e0e/1313/1818\\E\\\\',
      '\\E]4;1;rgb:e5e5/7878/6d6d\\E\\\\',
      '\\EP1+r544e=787465726D2D323536636F6C6F72\\E\\\\',
    ]);
    expect(got).toContain("rest:$'\\E[?62;22c'.");
  });

  it('gets its answer behind a flood that it printed before', async () => {
    const { shows } = await start(script(`seq 400000; printf '\\e[H\\e[2J'; ask '\\e[3;5H\\e[6n' R; read -t 60`));
    await shows("got:$'\\E[3;5R'");
  });

  it('cannot feed a flood of queries by its own echo', async () => {
    const { session, shows, screen } = await start(script(`read -rs -n 1; printf '\\e[>c\\e[c\\e[6n'; cat`));
    const watcher = await Watcher.join(session);
    await watcher.type('.');
    await watcher.until(() => /\[\d+;\d+R/.test(watcher.output()));
    await watcher.type('typed');
    await shows(/typed/);
    const before = watcher.output().length;
    await watcher.type('-and-more');
    await shows(/typed-and-more/);
    expect(watcher.output().length - before).toBe('-and-more'.length);
    expect(await screen()).not.toMatch(/276.*276/s);
  });

  it('is not kept waiting by the answers to a program before it that never read any', async () => {
    const { session, shows } = await start(
      script(
        `for ((i = 0; i < 20000; i++)); do printf '\\e[6n\\e[c'; done; rest >/dev/null; printf ready; read -rs -n 3 got; echo "$got"; read`,
      ),
    );
    await shows(/ready/);
    const watcher = await Watcher.join(session);
    await watcher.type('key');
    await shows(/readykey/);
  });
});

needs('vim')('vim', () => {
  it('learns what it asks for, and types nothing of it', async () => {
    const { session, shows, screen } = await start(['vim', '-u', 'NONE', '-N']);
    await shows(/VIM - Vi IMproved/);
    const watcher = await Watcher.join(session);
    await watcher.type(':echo "DA2 " . v:termresponse[1:]\r');
    await shows(/DA2 \[>0;276;0c/);
    await watcher.type('\x1b:echo "as it was: " . line("$") . getline(1) . "."\r');
    await shows(/as it was: 1\./);
    expect(await screen()).not.toMatch(/;\d+R|\$y|rgb:/);
    await watcher.type(':q!\r');
  });
});

needs('htop')('htop', () => {
  it('draws its screen with nobody attached, and has typed nothing of what it was answered', async () => {
    const { session, shows } = await start(['htop', '-d', '5']);
    await shows(/PID.*USER/);
    const watcher = await Watcher.join(session);
    await watcher.type('q');
    await expect.poll(() => watcher.kinds().includes('Closed'), { timeout: 15_000 }).toBe(true);
  });
});

needs('tmux')('tmux', () => {
  it('learns of its terminal, and passes nothing of it on to the shell inside', async () => {
    const { session, shows, screen } = await start(['tmux', '-L', 'answers', '-f', '/dev/null', 'new-session', 'cat -v']);
    await shows(/\[0\]/);
    const watcher = await Watcher.join(session);
    await watcher.type('typed\r');
    await shows(/typed\s+typed/);
    expect(await screen()).not.toMatch(/\^\[|276;0c|rgb:/);
    await watcher.type('\x04');
    await expect.poll(() => watcher.kinds().includes('Closed'), { timeout: 15_000 }).toBe(true);
  });
});
