// The page: signs in, and shows the list beside the session that the fragment names. Knows no protocol.
import '../css/base.css';
import '../css/lobby.css';
import '../css/folds.css';
import '../css/session.css';
import { h } from './dom.js';
import { createGateway } from './gateway.js';
import { type Lobby, lobby } from './lobby.js';
import { fragmentOf, type Place, readFragment, samePlace } from './place.js';
import { SessionView } from './session-view.js';
import { signIn } from './sign-in.js';
import { forgetToken, nameIn, storedToken, storeToken } from './token.js';

const root = document.getElementById('app') as HTMLElement;
let leaveShell: (() => void) | undefined;

/** Takes a token out of the address bar before anything else can see it there. */
function takeToken(): void {
  const { token, place } = readFragment(location.hash);
  if (token === undefined) return;
  storeToken(token);
  history.replaceState(null, '', place ? fragmentOf(place) : location.pathname + location.search);
}

function start(why?: string): void {
  leaveShell?.();
  leaveShell = undefined;
  const token = storedToken();
  if (token !== undefined) {
    leaveShell = openShell(token);
    return;
  }
  document.title = 'Sign in · pty-gateway';
  root.replaceChildren(
    signIn(why, (given) => {
      storeToken(given);
      start();
    }),
  );
  root.querySelector('input')?.focus();
}

function signOut(why?: string): void {
  forgetToken();
  start(why);
}

/** Returns the way to leave it. */
function openShell(token: string): () => void {
  const gateway = createGateway(token);
  const refused = (why: string) => signOut(`That token was refused: ${why}`);
  const list: Lobby = lobby(gateway, nameIn(token), refused, () => signOut());
  const shell = h('div', { class: 'shell' }, list.element);
  root.replaceChildren(shell);
  let open: { readonly place: Place; readonly view: SessionView } | undefined;
  let empty: HTMLElement | undefined;

  const show = () => {
    const { place } = readFragment(location.hash);
    if (samePlace(place, open?.place) && (open || empty)) return;
    open?.view.dispose();
    open?.view.element.remove();
    empty?.remove();
    shell.dataset.open = place ? 'session' : 'list';
    empty = place ? undefined : emptyView();
    open = place && { place, view: new SessionView({ gateway, token, place, refused, changed: list.refresh }) };
    shell.append(open?.view.element ?? (empty as HTMLElement));
    open?.view.start();
    list.select(place);
    if (!place) document.title = 'pty-gateway';
  };
  window.addEventListener('hashchange', show);
  show();
  return () => {
    window.removeEventListener('hashchange', show);
    open?.view.dispose();
    list.dispose();
  };
}

const emptyView = () =>
  h(
    'main',
    { class: 'empty' },
    h('h1', {}, 'No session is open'),
    h('p', {}, 'Open one from the list to take part in it, or start a new one.'),
  );

// iOS lays its keyboard over the page instead of making it smaller.
window.visualViewport?.addEventListener('resize', () => {
  root.style.height = `${window.visualViewport?.height ?? window.innerHeight}px`;
});
window.addEventListener('hashchange', () => {
  if (readFragment(location.hash).token === undefined) return;
  takeToken();
  start();
});
takeToken();
start();
