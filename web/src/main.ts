// The page: takes the token out of the address, and shows the form or the shell. Knows no session.
import '../css/base.css';
import '../css/lobby.css';
import '../css/gallery.css';
import '../css/workspace.css';
import '../css/folds.css';
import '../css/dialogs.css';
import '../css/session.css';
import '../css/playback.css';
import { openOnQuestionMark } from './settings/shortcuts.js';
import { showKeys } from './shared/keys-shown.js';
import { fragmentOf, readFragment } from './shared/place.js';
import { Shell } from './shell.js';
import { refusedText, takenNoMoreText } from './sign-in/refusal.js';
import { signIn, signInAgain } from './sign-in/sign-in.js';
import { shareSignIn } from './sign-in/tabs.js';
import { forgetToken, isOfLink, isSignedOut, leaveToken, principalIn, storedToken, storeToken } from './sign-in/token.js';
import { applyTheme, onThemeChange } from './terminal/theme.js';

const root = document.getElementById('app') as HTMLElement;
let shell: Shell | undefined;
/** The agent of which a session is to be opened once a shell is there. */
let toOpen: string | undefined;

/** One who did not sign out takes up what another tab was given: a fresh token reaches all that the old one has left behind. */
const sharing = shareSignIn(tokenForAll, (token) => {
  if (storedToken() === undefined && !isSignedOut()) enter(token);
});

/** What this tab gives to others: not a token that is good for some sessions alone, as that of a link. */
function tokenForAll(): string | undefined {
  const token = storedToken();
  return token !== undefined && principalIn(token).sessions === undefined ? token : undefined;
}

/** Before anything else can see it there. Returns whether there was a token. */
function takeFragment(): boolean {
  const { token, place, open } = readFragment(location.hash);
  toOpen = open ?? toOpen;
  if (token !== undefined) storeToken(token);
  if (token !== undefined || open !== undefined) {
    history.replaceState(null, '', place ? fragmentOf(place) : location.pathname + location.search);
  }
  return token !== undefined;
}

function enter(token: string): void {
  storeToken(token);
  start();
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
  const form = signIn(why, enter);
  root.replaceChildren(form);
  form.querySelector('input')?.focus();
}

function openShell(token: string): void {
  document.title = 'pty-gateway';
  shell = new Shell({ token, refused, signOut });
  root.replaceChildren(shell.element);
  if (tokenForAll() !== undefined) sharing.tell(token);
  goOn();
}

/** Opens what the address names, or what it named. */
function goOn(): void {
  const instanceId = toOpen;
  if (!shell) return;
  toOpen = undefined;
  if (instanceId === undefined) shell.follow(location.hash);
  else void shell.open(instanceId);
}

/** What was on the screen stays, for one who has seen something already. */
function refused(why: string, seen: boolean): void {
  if (root.querySelector('.sign-in-again')) return;
  const byLink = isOfLink(storedToken() ?? '');
  forgetToken();
  if (seen) root.prepend(signInAgain(takenNoMoreText(why, byLink), enter));
  else start(refusedText(why, byLink));
}

function signOut(): void {
  leaveToken();
  start();
}

window.addEventListener('hashchange', () => {
  if (takeFragment()) start();
  else goOn();
});
// iOS lays its keyboard over the page instead of making it smaller. Zooming in must not: the scale takes it out again.
window.visualViewport?.addEventListener('resize', () => {
  const { height, scale } = window.visualViewport ?? { height: window.innerHeight, scale: 1 };
  root.style.height = `${Math.round(height * scale)}px`;
});

applyTheme();
onThemeChange(applyTheme, new AbortController().signal);
openOnQuestionMark();
showKeys(document);
takeFragment();
if (storedToken() === undefined && !isSignedOut()) {
  const token = await sharing.ask();
  if (token !== undefined && storedToken() === undefined) storeToken(token);
}
start();
