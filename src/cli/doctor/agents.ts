// Whether what the agents run is there. Knows no terminal.

import type { Agent } from '../../agents/agents.js';
import { openAgentsFile } from '../../agents/agents-file.js';
import { commandOf } from '../../session/command.js';
import { checkStartable } from '../../terminal/startable.js';
import { attempt, type Finding } from './finding.js';

export async function agentFindings(file: string | undefined): Promise<Finding[]> {
  let agents: readonly Agent[] = [];
  const read = await attempt('AGENTS_FILE', 'correct the file', () => {
    agents = openAgentsFile(file).list();
    return file === undefined ? 'not set: a shell for whoever has pty:control' : `${file}: ${agents.length} agents`;
  });
  return [read, ...(await Promise.all(agents.map(startable)))];
}

function startable(agent: Agent): Promise<Finding> {
  return attempt(`agent ${agent.id}`, 'install it here, or correct its command and cwd', async () => {
    await checkStartable(await commandOf(agent, {}));
    return `${agent.command[0]} can be started`;
  });
}
