// The form that asks for a token. Knows no gateway.
import { h } from './dom.js';

/** `why` tells what became of the token before; undefined if there was none. */
export function signIn(why: string | undefined, done: (token: string) => void): HTMLElement {
  const field = h('input', {
    id: 'token',
    type: 'password',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
    'data-testid': 'token',
    'aria-describedby': 'token-help',
  });
  const submit = (event: Event) => {
    event.preventDefault();
    if (field.value.trim() !== '') done(field.value.trim());
  };
  return h(
    'main',
    { class: 'sign-in' },
    h(
      'form',
      { onsubmit: submit, 'data-testid': 'sign-in' },
      h('h1', {}, 'pty-gateway'),
      why === undefined ? undefined : h('p', { class: 'refusal', role: 'alert', 'data-testid': 'refused' }, why),
      h('label', { for: 'token' }, 'Paste your token'),
      field,
      h(
        'p',
        { id: 'token-help', class: 'hint' },
        'Make one with ',
        h('code', {}, 'pty-gateway token --scope pty:control'),
        '. It stays in this tab.',
      ),
      h('button', { class: 'primary', type: 'submit' }, 'Sign in'),
    ),
  );
}
