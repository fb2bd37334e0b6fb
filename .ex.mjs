import { connect } from 'pty-gateway/client';

const session = connect({ url: process.argv[2], token: process.env.PTY_GATEWAY_TOKEN, role: 'observer', replayFrom: 0 });
session.on('output', (bytes) => process.stdout.write(bytes));
session.on('state', (state) => console.error(state.name));
const { message } = await session.ended;
console.error(message);
