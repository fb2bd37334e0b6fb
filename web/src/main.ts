// The page: takes the token out of the address, and shows the form or the shell. Knows no session.
import '../css/base.css';
import '../css/lobby.css';
import '../css/folds.css';
import '../css/session.css';
import { fragmentOf, readFragment } from './place.js';
import { Shell } from './shell.js';
import { signIn } from './sign-in.js';
import { forgetToken, storedToken, storeToken } from './token.js';

const root = document.getElementById('app') as HTMLElement;
let shell: Shell | undefined;

/** Before anything else can see it there. Returns whether there was one. */
function takeToken(): boolean {
  const { token, place } = readFragment(location.hash);
  if (token === undefined) return false;
  storeToken(token);
  history.replaceState(null, '', place ? fragmentOf(place) : location.pathname + location.search);
  return true;
}

function start(why?: string): void {
  shell?.dispose();
  shell = undefined;
  const token = storedToken();
  if (token === undefined) askForToken(why);
  else openShell(token);
}

function askForToken(why: string | undefined): void {
  document.title = 'Sign in · pty-gateway';
  const form = signIn(why, (given) => {
    storeToken(given);
    start();
  });
  root.replaceChildren(form);
  form.querySelector('input')?.focus();
}

function openShell(token: string): void {
  document.title = 'pty-gateway';
  shell = new Shell({ token, refused: (why) => signOut(`That token was refused: ${why}`), signOut: () => signOut() });
  root.replaceChildren(shell.element);
  shell.follow(location.hash);
}

function signOut(why?: string): void {
  forgetToken();
  start(why);
}

window.addEventListener('hashchange', () => {
  if (takeToken()) start();
  else shell?.follow(location.hash);
});
// iOS lays its keyboard over the page instead of making it smaller. Zooming in must not: the scale takes it out again.
window.visualViewport?.addEventListener('resize', () => {
  const { height, scale } = window.visualViewport ?? { height: window.innerHeight, scale: 1 };
  root.style.height = `${Math.round(height * scale)}px`;
});
takeToken();
start();
