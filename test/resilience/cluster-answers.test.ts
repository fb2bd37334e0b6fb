// What a program asks its terminal is answered once, also where all who watch are connected to another replica. Knows a session from outside alone.
import { afterEach, expect, it, vi } from 'vitest';
import { AnsweringTerminal } from '../support/answering-terminal.js';
import { type Gateways, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';

// Several processes start and die in each test, and the machine may be busy with others.
vi.setConfig({ testTimeout: 90_000 });

/** On `go.` it asks three things, one of whose answers may be a key; then, as on `rest.`, it tells all that is typed for it. */
const PROGRAM = `stty raw -echo
rest() { got=; while IFS= read -rs -t 0.7 -n 1 -d '' char; do got+=$char; done; printf 'got:%q.\\r\\n' "$got"; }
printf ready
while IFS= read -rs -d . order; do
  [ "$order" = go ] && printf '\\e[1;9H\\e[c\\e[6n\\e[>c'
  rest
done`;

needs('redis-server', 'redis-cli')('a program whose session is watched through another replica', () => {
  let gateways: Gateways;
  const terminals: AnsweringTerminal[] = [];
  afterEach(async () => {
    for (const terminal of terminals.splice(0)) terminal.close();
    await gateways.dispose();
  });

  it('is answered once, however many terminals answer there, live and to what is replayed', async () => {
    gateways = await startGateways({ pty: { max_controllers: 3, default_cols: 80, default_rows: 24 } });
    const [owner, other] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(owner, '/bin/bash', '--noprofile', '--norc', '-c', PROGRAM);
    const lines = async () => ((await gateways.ask(owner, 'GET', `/${id}/screen`)).body.lines as string[]).join('\n');
    const shows = (what: RegExp) => expect.poll(lines, { timeout: 20_000 }).toMatch(what);
    const attach = async () => {
      const terminal = new AnsweringTerminal({ url: gateways.urlOf(id, other), token: tokenFor('alice', 'pty:control') });
      terminals.push(terminal);
      await terminal.controls();
      return terminal;
    };
    await shows(/ready/);
    const [one, two] = [await attach(), await attach()];
    one.type('go.');
    await shows(/got:\$'\\E\[\?62;22c\\E\[1;9R\\E\[>0;276;0c'\./);
    for (const terminal of [one, two]) await terminal.hasAnswered(/0c.*R.*0c$|c.*R.*c$/);
    const late = await attach();
    await late.hasAnswered(/R/);
    late.type('rest.');
    await shows(/got:''\./);
  });
});
