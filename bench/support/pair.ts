// Two replicas on one Redis, each of a build of its own, and what has to go well between them: a session runs on the one, its people are at the other.
import { type Gateways, type Replica, startGateways, tokenFor } from '../../test/support/gateways.js';
import { Onlooker } from '../../test/support/onlooker.js';
import { until } from '../../test/support/redis.js';

/** Echoes nothing, so that what is shown was printed. */
const SHELL = 'stty -echo; exec /bin/bash --noprofile --norc';
const BEGINS = ['/bin/bash', '-c', `echo began; ${SHELL}`];
const REATTACH = ['/bin/bash', '-c', `echo came-back; ${SHELL}`];

/** Folders of builds. */
export interface Builds {
  readonly owner: string;
  readonly other: string;
}

interface Stage {
  readonly gateways: Gateways;
  readonly owner: Replica;
  readonly other: Replica;
  /** The session, which runs on `owner` at first. */
  readonly id: string;
  /** Who controls it, at `other`. */
  readonly controller: Onlooker;
  readonly observer: Onlooker;
}

export interface Outcome {
  readonly what: string;
  /** Undefined: it went well. */
  readonly wrong: string | undefined;
}

/** Each builds on those before it. */
const trials: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  'each knows the other': knowEachOther,
  'what is typed at the other is printed': types,
  'a resize, a Keyframe and a role go to the owner': asksTheOwner,
  'a message is a task': sendsMessage,
  'screen and transcript are read through the other': readsOverHttp,
  'control is moved, and a member sent away': administers,
  'all that was shown is replayed by either, with the same numbers': replays,
  'the owner drains: the other goes on': (stage) => goesOn(stage, 'SIGTERM'),
  'the owner dies: the other goes on': (stage) => goesOn(stage, 'SIGKILL'),
  'a session is ended through the other': ends,
};

/** All trials; one that fails does not keep the next from being tried. */
export async function tryPair(builds: Builds): Promise<Outcome[]> {
  const buildOf = (index: number) => (index === 0 ? builds.owner : builds.other);
  const gateways = await startGateways({ buildOf, policy: { reattach: REATTACH } });
  const [owner, other] = [gateways.at(0), gateways.at(1)];
  const id = await gateways.begin(owner, ...BEGINS);
  const at = (role: 'controller' | 'observer', sub: string) =>
    new Onlooker({ url: gateways.urlOf(id, other), token: tokenFor(sub, 'pty:control'), role });
  const controller = at('controller', 'typist');
  await controller.isLive();
  const stage: Stage = { gateways, owner, other, id, controller, observer: at('observer', 'onlooker') };
  try {
    const outcomes: Outcome[] = [];
    for (const [what, attempt] of Object.entries(trials)) outcomes.push({ what, wrong: await attempt(stage).then(() => undefined, words) });
    return outcomes;
  } finally {
    for (const { client } of [controller, stage.observer]) client.close();
    await gateways.dispose();
  }
}

const words = (error: Error): string => error.message;

function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

async function knowEachOther({ gateways, owner, other }: Stage): Promise<void> {
  for (const { port } of [owner, other]) {
    const headers = { authorization: `Bearer ${tokenFor('operator', 'pty:admin')}` };
    const { replicas } = (await (await fetch(`http://127.0.0.1:${port}/admin/replicas`, { headers })).json()) as {
      replicas: Array<{ state: string }>;
    };
    demand(replicas.length === gateways.replicas.length, `${replicas.length} replicas are listed`);
    demand(
      replicas.every(({ state }) => state === 'ready'),
      `not all are ready: ${JSON.stringify(replicas)}`,
    );
  }
}

async function types({ controller, observer }: Stage): Promise<void> {
  await until('one controls', () => controller.client.role === 'controller');
  controller.client.input('echo typed-$((6 * 7))\n');
  for (const one of [controller, observer]) await one.sees('typed-42\r\n');
}

async function asksTheOwner({ controller, observer }: Stage): Promise<void> {
  controller.client.resize({ cols: 91, rows: 31 });
  await until('the observer is told of the size', () => observer.client.size?.cols === 91);
  let keyframes = 0;
  const stop = observer.client.on('keyframe', () => {
    keyframes += 1;
  });
  observer.client.requestKeyframe();
  await until('a Keyframe comes', () => keyframes > 0);
  stop();
  const { role } = await observer.client.requestRole('controller');
  demand(role === 'observer', `control that somebody has was given away: ${role}`);
}

async function sendsMessage({ controller, observer }: Stage): Promise<void> {
  const { id, status } = await controller.client.send('echo message-$((7 * 8))');
  await observer.sees('message-56\r\n');
  demand(status?.state === 'TASK_STATE_INPUT_REQUIRED', `the task ${id} is ${status?.state}`);
}

async function readsOverHttp({ gateways, owner, other, id }: Stage): Promise<void> {
  const headers = { authorization: `Bearer ${tokenFor('operator', 'pty:admin')}` };
  const read = async ({ port }: Replica, path: string) =>
    (await fetch(`http://127.0.0.1:${port}/agents/shell/sessions/${id}/${path}`, { headers })).text();
  for (const path of ['screen?format=text', 'transcript?format=text']) {
    const [one, two] = [await read(owner, path), await read(other, path)];
    demand(one === two && one.includes('typed-42'), `${path} is not the same through both:\n${one}\n${two}`);
  }
  demand((await gateways.ask(other, 'GET', '')).body.sessions !== undefined, 'sessions are not listed');
}

async function administers({ gateways, other, id, controller, observer }: Stage): Promise<void> {
  const { status } = await gateways.ask(other, 'POST', `/${id}/controller`, { client_id: observer.client.clientId });
  demand(status < 300, `moving control is answered with ${status}`);
  await until('the observer controls', () => observer.client.role === 'controller');
  await gateways.ask(other, 'POST', `/${id}/controller`, { client_id: controller.client.clientId });
  await until('the first controls again', () => controller.client.role === 'controller');
  const guest = new Onlooker({ url: gateways.urlOf(id, other), token: tokenFor('guest', 'pty:observe'), role: 'observer' });
  await guest.isLive();
  const sent = await gateways.ask(other, 'DELETE', `/${id}/members/${guest.client.clientId}`);
  await until(`a member is sent away, and not answered with ${sent.status}`, () => guest.client.state.name === 'ended');
}

/** Whoever comes now is shown what those were who were there all the time. */
async function replays({ gateways, owner, other, id, observer }: Stage): Promise<void> {
  for (const at of [owner, other]) {
    const late = new Onlooker({ url: gateways.urlOf(id, at), token: tokenFor('late', 'pty:observe'), role: 'observer' });
    await until(`all is replayed by ${at.id}`, () => (late.numbers.at(-1) ?? 0) >= (observer.numbers.at(-1) ?? 0));
    const isSame = late.text === observer.text && `${late.numbers}` === `${observer.numbers}`;
    late.client.close();
    demand(isSame, `${at.id} replays something else`);
  }
}

/** And back again: what ran on the owner runs on the other, whose clients stay. */
async function goesOn(stage: Stage, ending: NodeJS.Signals): Promise<void> {
  const { gateways, owner, other, controller, observer } = stage;
  const id = ending === 'SIGTERM' ? stage.id : await gateways.begin(owner, ...BEGINS);
  const watcher = ending === 'SIGTERM' ? observer : new Onlooker({ url: gateways.urlOf(id, other), token: tokenFor('x', 'pty:observe') });
  await watcher.isLive();
  await watcher.sees('began\r\n');
  const before = watcher.states.length;
  await owner.stop(ending);
  await watcher.sees('came-back\r\n').finally(() => owner.start());
  demand(watcher.states.length === before, `who is at the other was disturbed: ${watcher.states}`);
  demand(isAscending(watcher.numbers), `numbers are not in order: ${watcher.numbers}`);
  if (watcher !== observer) return watcher.client.close();
  controller.client.input('echo again-$((8 * 9))\n');
  await observer.sees('again-72\r\n');
  await replays(stage);
}

const isAscending = (numbers: readonly number[]): boolean => numbers.every((n, i) => i === 0 || n > (numbers[i - 1] ?? 0));

async function ends({ gateways, owner, other }: Stage): Promise<void> {
  const id = await gateways.begin(owner, ...BEGINS);
  const watcher = new Onlooker({ url: gateways.urlOf(id, other), token: tokenFor('x', 'pty:observe') });
  await watcher.sees('began\r\n');
  const { status } = await gateways.ask(other, 'DELETE', `/${id}`);
  demand(status === 202, `ending it is answered with ${status}`);
  await until('it is told as closed', () => watcher.closed.length === 1);
  watcher.client.close();
}
