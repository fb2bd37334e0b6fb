// Both hosts keep the contract: sessions with real terminals, and the fixture agent. Knows no binding.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FixtureHost } from '../../src/a2a/fixture/host.js';
import { SessionHost } from '../../src/a2a/session-host.js';
import type { Agent } from '../../src/agents/agents.js';
import { createIdempotency } from '../../src/idempotency.js';
import { noSender } from '../../src/session/pushes.js';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { taskHostContract } from './task-host-contract.js';

describe('the fixture agent', () => {
  const host = new FixtureHost(noSender);
  taskHostContract(() => host, {
    rest: () => ({ messageId: `tck-input-required-${randomUUID()}` }),
    end: () => ({ messageId: `tck-complete-task-${randomUUID()}` }),
  });

  test('may answer without a task', async () => {
    const message = { messageId: 'tck-message-response-1', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    const principal = { name: 'alice', scope: 'pty:control', instances: undefined, sessions: undefined } as const;
    expect(await host.begin(message, principal, { author: 'message' }, async () => {})).toMatchObject({
      message: { role: 'ROLE_AGENT', parts: [{ text: 'Direct message response' }], contextId: expect.any(String) },
    });
  });
});

describe('sessions', () => {
  let gateway: Gateway;
  let host: SessionHost;

  beforeAll(async () => {
    gateway = await startGateway();
    const agent = gateway.app.agents.get('free') as Agent;
    host = new SessionHost({ agent, sessions: gateway.app.sessions, begun: createIdempotency() });
  });
  afterAll(() => gateway.close());

  test('a program that ends before it can be typed to is a task that ended so', async () => {
    const agent = { ...(gateway.app.agents.get('free') as Agent), command: ['/bin/sh', '-c', 'exit 3'] };
    const broken = new SessionHost({ agent, sessions: gateway.app.sessions, begun: createIdempotency() });
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    const principal = { name: 'alice', scope: 'pty:control', instances: undefined, sessions: undefined } as const;
    const begun = await broken.begin(message, principal, { author: 'message' }, async () => {});
    if (!('task' in begun)) throw new Error('expected a task');
    expect((await begun.task.snapshot()).status.state).toBe('TASK_STATE_FAILED');
    await expect(begun.task.send(message, { author: 'message' })).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  });

  taskHostContract(() => host, { rest: () => ({ parts: [{ text: 'true' }] }), end: () => ({ parts: [{ text: 'exit 0' }] }) });
});
