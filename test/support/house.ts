// Sessions on real parts (a log in a folder of its own, real screens, real terminals), without HTTP. Knows no test.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Value } from '@sinclair/typebox/value';
import type { PushSender } from '../../src/a2a/push.js';
import { type Agent, AgentConfig } from '../../src/agents/agents.js';
import type { Disk } from '../../src/log/embedded/disk.js';
import { openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import type { Log } from '../../src/log/log.js';
import type { Frame, Role } from '../../src/protocol/frames.js';
import { readPayload } from '../../src/protocol/make-frames.js';
import type { OwnedSessionParts } from '../../src/session/owned-session.js';
import { noSender, whichever } from '../../src/session/pushes.js';
import type { Sessions } from '../../src/session/registry.js';
import type { Delivery, Joined, Session } from '../../src/session/session.js';
import { createSessions } from '../../src/session/sessions.js';
import { spawnTerminal } from '../../src/terminal/pty.js';
import { createScreenHost } from '../../src/terminal/screen-host.js';
import type { ScreenHost } from '../../src/terminal/terminal.js';

/** What is told of is dropped. */
const quiet: Record<'info' | 'warn' | 'error', (fields: object, message: string) => void> = {
  info: () => {},
  warn: () => {},
  error: () => {},
};

export interface House {
  readonly log: Log;
  readonly screens: ScreenHost;
  readonly sessions: Sessions;
  readonly dir: string;
  close(): Promise<void>;
}

/** What a session needs that tells nobody of its task. */
export const noPush: OwnedSessionParts['push'] = {
  sender: noSender,
  after: whichever(() => Promise.reject(new Error('nothing is pushed here'))),
  failed: () => {},
};

interface HouseOptions {
  readonly dir?: string;
  readonly maxSessions?: number;
  readonly sender?: PushSender;
  readonly disk?: Disk;
  readonly logger?: typeof quiet;
}

/** Opens sessions on a fresh folder, or on what another house left in one. */
export async function openHouse({ dir, maxSessions = 100, sender, disk, logger = quiet }: HouseOptions = {}): Promise<House> {
  const folder = dir ?? (await mkdtemp(path.join(os.tmpdir(), 'house-')));
  const log = await openEmbeddedLog({ dir: folder, ...(disk && { disk }) });
  const screens = createScreenHost({});
  const sessions = await createSessions({
    log,
    screens,
    spawn: spawnTerminal,
    replicaId: 'here',
    maxSessions,
    logger,
    ...(sender && { sender }),
  });
  const close = async () => {
    await sessions.close();
    await screens.close();
    await log.close();
    if (!dir) await rm(folder, { recursive: true, force: true });
  };
  return { log, screens, sessions, dir: folder, close };
}

type Settings = { id?: string; pty?: Partial<Agent['pty']>; policy?: Partial<Agent['policy']> } & Partial<Omit<Agent, 'pty' | 'policy'>>;

/** An agent whose command is a plain shell, unless told otherwise. */
export function agent({ id = 'inst', pty = {}, policy = {}, ...rest }: Settings = {}): Agent {
  const plain = { name: 'shell', command: ['/bin/bash', '--noprofile', '--norc'], env: { PS1: '$ ' }, allow_command_override: true };
  const config = Value.Default(AgentConfig, { ...plain, ...rest, pty: { ...pty }, policy: { ...policy } }) as AgentConfig;
  return { ...config, id };
}

/** Someone who has joined: everything that the session told everyone since, and what it told them alone. */
export class Watcher {
  readonly deliveries: Delivery[] = [];
  readonly frames: Frame[] = [];
  readonly dismissals: Array<{ reason: string; code: number }> = [];
  joined!: Joined;
  readonly #session: Session;
  #wake: Array<() => void> = [];

  private constructor(session: Session) {
    this.#session = session;
    session.frames.follow((entries) => {
      this.frames.push(...entries);
      for (const wake of this.#wake.splice(0)) wake();
    });
  }

  static async join(
    session: Session,
    role: Role = 'controller',
    more: { mayControl?: boolean; label?: string; size?: { cols?: number; rows?: number } } = {},
  ) {
    const watcher = new Watcher(session);
    watcher.joined = await session.join(
      { role, mayControl: true, principal: 'someone', ...more },
      {
        deliver: (delivery) => {
          watcher.deliveries.push(delivery);
          for (const wake of watcher.#wake.splice(0)) wake();
        },
        dismiss: (reason, code) => void watcher.dismissals.push({ reason, code }),
      },
    );
    return watcher;
  }

  get id(): string {
    return this.joined.clientId;
  }

  type(text: string): Promise<void> {
    return this.#session.input({ clientId: this.id }, Buffer.from(text));
  }

  /** All that was printed since the join. */
  output(): string {
    return Buffer.concat(this.frames.filter((f) => f.kind === 'Output').map((f) => f.body)).toString();
  }

  kinds(): string[] {
    return this.frames.map((f) => f.kind);
  }

  payloads(kind: string): Array<Record<string, unknown>> {
    return this.frames.filter((f) => f.kind === kind).map((f) => readPayload(f) as unknown as Record<string, unknown>);
  }

  /** Waits until it holds; a test's own time limit bounds it. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  async delivered(n: number): Promise<Record<string, unknown>> {
    await this.until(() => this.deliveries.length > n);
    return readPayload(await (this.deliveries[n] as Delivery).frame) as unknown as Record<string, unknown>;
  }
}
