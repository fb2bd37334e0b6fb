// What a new session runs: the agent's command with what a request may change of it (contract: POST …/sessions). Knows no PTY.
import { realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Agent, SessionRequest } from '../agents/agents.js';
import { Fault } from '../errors.js';
import { childEnvironment } from '../terminal/environment.js';
import type { Command } from '../terminal/terminal.js';

export async function commandOf(agent: Agent, request: SessionRequest): Promise<Command> {
  if ((request.argv || request.env) && !agent.allow_command_override) {
    throw new Fault(
      'PERMISSION_DENIED',
      `${request.argv ? 'argv' : 'env'}: ${agent.id} does not allow another command or environment; its allow_command_override would`,
    );
  }
  return {
    argv: request.argv ?? agent.command,
    cwd: await folder(agent, request.cwd),
    env: childEnvironment(agent.env, request.env),
    cols: request.cols ?? agent.pty.default_cols,
    rows: request.rows ?? agent.pty.default_rows,
  };
}

async function folder(agent: Agent, asked: string | undefined): Promise<string> {
  const own = agent.cwd ?? os.homedir();
  if (asked === undefined) return own;
  const wanted = path.resolve(own, asked);
  if (agent.cwd !== undefined && !isWithin(await real(agent.cwd), await real(wanted))) {
    throw new Fault('PERMISSION_DENIED', `cwd: ${asked} is outside the folder of ${agent.id}`);
  }
  return wanted;
}

/** Where a path leads; what does not exist leads to itself. */
const real = (file: string): Promise<string> => realpath(file).catch(() => path.resolve(file));

function isWithin(parent: string, child: string): boolean {
  const relative = path.relative(parent, child);
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative));
}
