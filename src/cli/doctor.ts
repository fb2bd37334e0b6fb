// `pty-gateway doctor`: whether a start on these settings, on this machine, would go well, and what to do if not. Shows no secret.
import type { Command } from 'commander';
import { type Config, readConfig } from '../config.js';
import { agentFindings } from './doctor/agents.js';
import { archiveFindings } from './doctor/archive.js';
import { certificateFindings } from './doctor/certificates.js';
import { type Finding, fail } from './doctor/finding.js';
import { keyFindings } from './doctor/keys.js';
import { machineFindings } from './doctor/machine.js';
import { networkFindings } from './doctor/network.js';
import { redisFindings } from './doctor/redis.js';
import { revocationFindings } from './doctor/revocations.js';
import { diskSealFindings } from './doctor/seals.js';
import { traceFindings } from './doctor/traces.js';
import { harmless } from './table.js';

interface DoctorOptions {
  readonly json?: true;
}

/** Registers the command. */
export function doctor(program: Command): void {
  program
    .command('doctor')
    .description('check the settings, as `serve` takes them, and what they name, and say what to do')
    .option('--json', 'what was found, as a JSON array')
    .addHelpText('after', '\nNothing is changed. The exit code is 0, or 1 if something fails.')
    .action(async (options: DoctorOptions) => {
      const found = await findings(process.env);
      process.stdout.write(options.json ? `${JSON.stringify(found, null, 2)}\n` : found.map(line).join(''));
      process.exitCode = found.some(({ level }) => level === 'fail') ? 1 : 0;
    });
}

async function findings(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    return [fail('settings', (error as Error).message, 'correct it: the rest was not looked at')];
  }
  const { redis, agentsFile, encryptionKeys } = config;
  const parts = await Promise.all([
    keyFindings(config),
    certificateFindings(config),
    revocationFindings(config),
    agentFindings(agentsFile),
    redis ? redisFindings(redis, encryptionKeys) : diskSealFindings(config),
    archiveFindings(config),
    machineFindings(config),
    networkFindings(config),
    traceFindings(config),
  ]);
  return [{ level: 'ok', check: 'settings', found: 'each is as it should be' }, ...parts.flat()];
}

function line({ level, check, found, todo }: Finding): string {
  return `${level.padEnd(4)}  ${harmless(check)}: ${harmless(found)}${todo ? `\n      → ${harmless(todo)}` : ''}\n`;
}
