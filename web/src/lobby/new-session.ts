// The form that starts a session. Knows no list and no terminal.
import { h } from '../shared/dom.js';
import { type AgentInfo, type Gateway, messageOf, type NewSession } from '../shared/gateway.js';
import { fragmentOf } from '../shared/place.js';
import { startNew } from './opening.js';

const MAX_SIDE = 1024;
const MAX_LABEL = 128;

/** Opens the new session in this window; `changed` is called once it is there. */
export function newSessionForm(gateway: Gateway, agent: AgentInfo, changed: () => void): HTMLFormElement {
  const label = h('input', {
    name: 'label',
    maxlength: MAX_LABEL,
    placeholder: 'Label',
    'aria-label': 'Label',
    autocomplete: 'off',
    'data-testid': 'label',
  });
  const side = (name: 'cols' | 'rows', called: string) =>
    h('input', {
      name,
      type: 'number',
      min: 1,
      max: MAX_SIDE,
      'aria-label': called,
      placeholder: 'auto',
      'data-testid': name,
    });
  const cols = side('cols', 'Columns');
  const rows = side('rows', 'Rows');
  const problem = h('p', { class: 'refusal', role: 'alert' });
  const start = h('button', { class: 'primary', type: 'submit', 'data-testid': 'start' }, 'Start');
  const form = h(
    'form',
    { class: 'new-session', hidden: true },
    label,
    h('div', { class: 'size' }, h('label', {}, 'Columns', cols), h('label', {}, 'Rows', rows), start),
    h('p', { class: 'hint' }, 'A size that is left empty follows your window.'),
    problem,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    start.disabled = true;
    problem.textContent = '';
    try {
      location.hash = fragmentOf(await startNew(gateway, agent.id, asked(label, cols, rows)));
      form.reset();
      changed();
    } catch (error) {
      problem.textContent = messageOf(error);
    } finally {
      start.disabled = false;
    }
  });
  return form;
}

function asked(label: HTMLInputElement, cols: HTMLInputElement, rows: HTMLInputElement): NewSession {
  return {
    ...(label.value.trim() === '' ? {} : { label: label.value.trim() }),
    ...(cols.value === '' ? {} : { cols: cols.valueAsNumber }),
    ...(rows.value === '' ? {} : { rows: rows.valueAsNumber }),
  };
}
