// Asks for a token: as a page of its own, or as a line above what was there. Knows no gateway.
import { h } from '../shared/dom.js';

const COMMAND = 'npx pty-gateway token --scope pty:control --sub NAME';

/** `why` tells what became of the token before; undefined if there was none. */
export function signIn(why: string | undefined, done: (token: string) => void): HTMLElement {
  const field = tokenField();
  return h(
    'main',
    { class: 'sign-in' },
    h(
      'form',
      { onsubmit: submit(field, done), 'data-testid': 'sign-in' },
      h('h1', {}, 'pty-gateway'),
      why !== undefined && h('p', { class: 'refusal', role: 'alert', 'data-testid': 'refused' }, why),
      h('label', { for: 'token' }, 'Paste your token'),
      field,
      h('button', { class: 'primary', type: 'submit' }, 'Sign in'),
      h(
        'p',
        { id: 'token-help', class: 'hint' },
        'Open the URL that the gateway printed, or make a token where its AUTH_JWT_SECRET is set:',
      ),
      h('code', { class: 'command', 'data-testid': 'command' }, COMMAND),
      h('p', { class: 'hint' }, 'It is kept in this tab alone.'),
    ),
  );
}

/** For one whose token is not taken any more: what was on the screen stays below. */
export function signInAgain(why: string, done: (token: string) => void): HTMLElement {
  const field = tokenField();
  return h(
    'form',
    { class: 'sign-in-again', onsubmit: submit(field, done) },
    h('p', { id: 'token-help', role: 'alert', 'data-testid': 'refused' }, why),
    field,
    h('button', { class: 'primary', type: 'submit' }, 'Sign in'),
  );
}

function tokenField(): HTMLInputElement {
  return h('input', {
    id: 'token',
    type: 'password',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Token',
    'data-testid': 'token',
    'aria-label': 'Token',
    'aria-describedby': 'token-help',
  });
}

function submit(field: HTMLInputElement, done: (token: string) => void) {
  return (event: Event) => {
    event.preventDefault();
    if (field.value.trim() !== '') done(field.value.trim());
  };
}
