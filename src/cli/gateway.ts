// The options by which a command finds the gateway that it asks, and who asks. Knows no command.
import { type Command, Option } from 'commander';
import { defaultGateway, gatewayAddress, tokenFrom } from './address.js';

export interface GatewayOptions {
  readonly url?: string;
  readonly token?: string;
}

/** Where a gateway is, without a slash at the end, and who asks. */
export interface Gateway {
  readonly base: string;
  readonly token: string;
}

export function withGateway(command: Command): Command {
  return command
    .option('--url <url>', 'where the gateway is (default: PTY_GATEWAY_URL, else PUBLIC_URL, else HOST and PORT, as `serve` takes them)')
    .addOption(new Option('--token <token>', 'who you are; in the environment it is seen by fewer').env('PTY_GATEWAY_TOKEN'));
}

/** Throws a CommandError. */
export function gatewayOf({ url, token }: GatewayOptions): Gateway {
  const address = gatewayAddress(url ?? defaultGateway(process.env));
  return { base: address.base, token: tokenFrom(token, address) };
}
