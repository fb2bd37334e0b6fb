// A terminal in a page of yours, with the session's pty_ws_url and a token from the fragment: #url=…&token=…
// Where you embed it, the token comes from your own server instead, which knows who is looking.
import { Terminal } from '@xterm/xterm';
import { connect } from 'pty-gateway/client';
import { SessionAddon } from 'pty-gateway/xterm';
import '@xterm/xterm/css/xterm.css';

const { url, token } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const client = connect({ url, token, role: 'controller', size: { cols: 80, rows: 24 } });
const terminal = new Terminal();
terminal.open(document.getElementById('terminal'));
terminal.loadAddon(new SessionAddon(client));

client.on('state', ({ name, message }) => {
  document.getElementById('state').textContent = message ?? name;
});
