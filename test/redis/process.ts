// A replica in a process of its own, to be killed or held still. A line of its output is what it was told, or a message that came; a line
// of its input asks whether it believes itself alive.
import { createInterface } from 'node:readline';
import { openReplica } from './replica.js';

const [url = '', id = '', leaseSeconds = '2'] = process.argv.slice(2);
const say = (line: string) => void process.stdout.write(`${line}\n`);

const { leases, bus } = await openReplica({ url }, id, { leaseSeconds: Number(leaseSeconds) });
leases.onLost(() => say('lost'));
leases.onUsurped(() => say('usurped'));
leases.onRegained((life) => say(`regained ${life}`));
createInterface(process.stdin).on('line', () => say(`alive: ${leases.isAlive(id)}`));
bus.receive((from, message) => say(`${from}: ${Buffer.from(message).toString()}`));
say('open');
