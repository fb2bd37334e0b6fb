// `pty-gateway end`: ends a session. Knows HTTP answers (contract, DELETE …/sessions/:id), no process.
import type { Command } from 'commander';
import { done } from './failure.js';
import { type GatewayOptions, withGateway } from './gateway.js';
import { askJson } from './http.js';
import type { ListedSession } from './listing.js';
import { HOW_TO_NAME, namedSession } from './named-session.js';

interface EndOptions extends GatewayOptions {
  readonly json?: true;
}

/** Registers the command. */
export function end(program: Command): void {
  withGateway(program.command('end').description('end a session and its program (for who began it, or a token with pty:admin)'))
    .argument('<session>', HOW_TO_NAME)
    .option('--json', 'print the session as JSON')
    .addHelpText('after', '\nWhat it has shown stays to be read. The exit code is 0, or 1 for every failure, also if it had ended already.')
    .action((name: string, { json, ...options }: EndOptions) =>
      done(async () => {
        const { gateway, path, id } = await namedSession(name, options);
        const session = await askJson<ListedSession>(gateway, path, { method: 'DELETE' });
        process.stdout.write(json ? `${JSON.stringify(session, null, 2)}\n` : `${id} ends\n`);
      }),
    );
}
