// The sheet with the links to watch a session: made, copied, listed, revoked. Knows no connection.
import type { Share } from '../../../src/shares/share.js';
import { writeClipboard } from '../shared/clipboard.js';
import { type Dialog, showDialog } from '../shared/dialog.js';
import { h } from '../shared/dom.js';
import { type Gateway, messageOf, type NewShare } from '../shared/gateway.js';
import type { Place } from '../shared/place.js';
import { until } from '../shared/times.js';

const MAX_LABEL_CHARS = 128;
/** How long a link may be good, in seconds, as it is offered. */
const LIVES: ReadonlyArray<readonly [words: string, seconds: number]> = [
  ['15 minutes', 900],
  ['1 hour', 3600],
  ['8 hours', 28_800],
  ['1 day', 86_400],
  ['7 days', 604_800],
];
const USUAL_SECONDS = 3600;

export function showShares(gateway: Gateway, place: Place): Dialog {
  const list = h('ul', { class: 'shares', 'data-testid': 'shares' });
  const word = h('p', { class: 'word', role: 'status', 'data-testid': 'share-word' });
  const made = madeLink((text) => (word.textContent = text));
  const attempt = async (act: () => Promise<void>) => {
    word.textContent = '';
    await act()
      .then(refresh)
      .catch((error) => (word.textContent = messageOf(error)));
  };
  const refresh = async () => {
    const shares = await gateway.shares(place.instanceId, place.sessionId);
    list.replaceChildren(...shares.map((share) => line(share, () => attempt(() => revoke(share)))));
  };
  const revoke = (share: Share) => gateway.revokeShare(place.instanceId, place.sessionId, share.share_id).then(() => made.forget(share));
  const form = shareForm((request) => attempt(() => gateway.share(place.instanceId, place.sessionId, request).then(made.show)));
  const told = 'Whoever has the link can watch this session, and read what it has shown, until the link ends.';
  const dialog = showDialog('Share this session', 'share', h('p', { class: 'hint' }, told), form, made.element, word, list);
  void attempt(async () => {});
  return dialog;
}

/** The link that was made last: it is told once. */
function madeLink(say: (text: string) => void) {
  const field = h('input', { readonly: true, 'aria-label': 'Link', 'data-testid': 'share-url', onfocus: () => field.select() });
  const copy = () =>
    writeClipboard(field.value).then(
      () => say('The link is copied.'),
      (error: Error) => say(`${error.message}.`),
    );
  const button = h('button', { type: 'button', 'data-testid': 'share-copy', onclick: copy }, 'Copy');
  const element = h('div', { class: 'made', hidden: true }, field, button);
  let shown: string | undefined;
  return {
    element,
    show: ({ share_id, url }: Share & { readonly url: string }) => {
      shown = share_id;
      field.value = url;
      element.hidden = false;
      button.focus();
    },
    forget: ({ share_id }: Share) => {
      element.hidden ||= share_id === shown;
    },
  };
}

function shareForm(make: (request: NewShare) => Promise<void>): HTMLFormElement {
  const label = h('input', { id: 'share-label', maxlength: MAX_LABEL_CHARS, autocomplete: 'off', 'data-testid': 'share-label' });
  const options = LIVES.map(([words, seconds]) => h('option', { value: seconds, selected: seconds === USUAL_SECONDS }, words));
  const lives = h('select', { id: 'share-ttl', 'data-testid': 'share-ttl' }, ...options);
  const button = h('button', { class: 'primary', type: 'submit', 'data-testid': 'share-make' }, 'Make a link');
  const form = h(
    'form',
    { class: 'share-form' },
    h('label', { for: 'share-label' }, 'For whom', label),
    h('label', { for: 'share-ttl' }, 'Good for', lives),
    button,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    const text = label.value.trim();
    await make({ ttl_seconds: Number(lives.value), ...(text !== '' && { label: text }) });
    button.disabled = false;
  });
  return form;
}

function line(share: Share, revoke: () => void): HTMLElement {
  const name = share.label ?? `Link ${share.share_id.slice(-4)}`;
  const facts = `${share.created_by} made it · ends in ${until(Date.parse(share.expires_at))}`;
  return h(
    'li',
    { 'data-testid': 'share-line' },
    h('span', { class: 'name' }, name),
    h('span', { class: 'facts muted' }, facts),
    h(
      'button',
      { type: 'button', class: 'danger', 'aria-label': `Revoke ${name}`, 'data-testid': 'share-revoke', onclick: revoke },
      'Revoke',
    ),
  );
}
