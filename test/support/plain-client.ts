// A bare WebSocket at a gateway, which keeps every frame it is sent, twice if it comes twice. Knows no gateway.
import { WebSocket } from 'ws';
import { Client, nameOf, type Told } from './attach-server.js';

/** How a gateway refused an upgrade. */
export class Refused extends Error {
  readonly status: number;
  readonly retryAfter: number;
  constructor(status: number, retryAfter: number) {
    super(`the upgrade was refused with ${status}`);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Resolves when the gateway has said hello; rejects with Refused. */
export async function plainClient(url: string, token: string): Promise<Client> {
  const ws = new WebSocket(url, ['pty-ws.v1'], { headers: { authorization: `Bearer ${token}` } });
  const client = new Client(ws);
  await new Promise<void>((resolve, reject) => {
    ws.once('open', resolve).once('error', reject);
    ws.once('unexpected-response', (request, { statusCode = 0, headers }) => {
      reject(new Refused(statusCode, Number(headers['retry-after'])));
      request.destroy();
    });
  });
  await client.until('binding_hello');
  return client;
}

/** The session's frames of a kind that it has been sent. */
export function framesOf(client: Client, kind: string): Told[] {
  return client.frames.filter((frame): frame is Told => !Buffer.isBuffer(frame) && nameOf(frame) === kind);
}
