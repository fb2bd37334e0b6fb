// How long until a key is seen while another session prints without end? Its worst percent, beside that of the same server at rest.
import type { Line } from '../load/jobs.js';
import { LoadClient } from '../load/load-client.js';
import { compile } from '../peers/c-programs.js';
import { Gateway } from '../peers/gateway.js';
import { echoing } from '../peers/programs.js';
import { TTYD_MISSING, Ttyd, ttydPath } from '../peers/ttyd.js';
import { type Arena, type Contender, figure, type Question, type Round } from '../support/question.js';
import { openWorkshop } from '../support/workshop.js';
import { echoes } from './echo.js';

/** What a flood prints at once, in bytes; it never pauses and never ends. */
const BURST = 64 * 1024;

const [IDLE, FLOODED] = ['at rest', 'beside a flood'];

/** p99 beside a flood, as a multiple of p99 at rest. */
const slowdown =
  (server: string) =>
  (round: Round): number | undefined => {
    const [idle, flooded] = [IDLE, FLOODED].map((name) => figure(`${server}, ${name}`, 'p99 ms')(round));
    return idle === undefined || flooded === undefined ? undefined : flooded / idle;
  };

export const flood: Question = {
  name: 'flood',
  title: 'a key is echoed in one session while another, which somebody watches, prints without end',
  budgets: [
    { path: 'echo p99 beside a flood', unit: '× at rest', must: { atMost: 3 }, aim: { atMost: 1.5 }, of: slowdown('gateway') },
    { path: 'echo p99 beside a flood, ttyd', unit: '× at rest', of: slowdown('ttyd') },
    { path: 'echo p99 beside a flood', unit: 'ms', of: figure(`gateway, ${FLOODED}`, 'p99 ms') },
    { path: 'echo p50 beside a flood', unit: 'ms', of: figure(`gateway, ${FLOODED}`, 'p50 ms') },
  ],
  open,
};

/** How sessions are begun and ended. */
interface Server {
  begin(argv: readonly string[]): Promise<Line>;
  end(line: Line): Promise<void>;
}

async function open(): Promise<Arena> {
  const workshop = openWorkshop();
  const printer = [compile(workshop.folder).printer, `${BURST}`, '0', '0'];
  const [gateway, load] = [await Gateway.start(), new LoadClient()];
  const path = ttydPath();
  const ttyd = path === undefined ? undefined : await Ttyd.start(path);
  const both = (name: string, server: Server): Contender[] => [
    { name: `${name}, ${IDLE}`, measure: () => echoesOf(load, server) },
    { name: `${name}, ${FLOODED}`, measure: () => beside(server, printer, () => echoesOf(load, server)) },
  ];
  // A session of ttyd ends with its connection.
  const ofTtyd = ttyd ? both('ttyd', { begin: async (argv) => ttyd.line(argv), end: async () => {} }) : [];
  return {
    contenders: [...ofTtyd, ...both('gateway', gateway)],
    missing: ttyd ? [] : [TTYD_MISSING],
    async close() {
      await Promise.all([gateway.close(), load.close(), ttyd?.close()]);
      workshop.close();
    },
  };
}

async function echoesOf(load: LoadClient, server: Server) {
  const line = await server.begin(echoing);
  const figures = await echoes(load, line);
  await server.end(line);
  return figures;
}

/** Measures while another session floods a client of its own. */
async function beside<T>(server: Server, argv: readonly string[], measure: () => Promise<T>): Promise<T> {
  const watcher = new LoadClient();
  const line = await server.begin(argv);
  const over = watcher.ask('drain', { line }).catch(() => {});
  try {
    return await measure();
  } finally {
    await server.end(line);
    await watcher.close();
    await over;
  }
}
