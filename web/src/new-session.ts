// The form that starts a session. Knows no list and no terminal.
import { h } from './dom.js';
import { type AgentInfo, type Gateway, messageOf, type NewSession } from './gateway.js';
import { fragmentOf } from './place.js';

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
  const side = (name: string, usual: number | undefined) =>
    h('input', {
      name,
      type: 'number',
      min: 1,
      max: MAX_SIDE,
      placeholder: usual ?? 'auto',
      'aria-label': name === 'cols' ? 'Columns' : 'Rows',
      'data-testid': name,
    });
  const cols = side('cols', agent.defaultCols);
  const rows = side('rows', agent.defaultRows);
  const problem = h('p', { class: 'refusal', role: 'alert' });
  const start = h('button', { class: 'primary', type: 'submit', 'data-testid': 'start' }, 'Start');
  const form = h(
    'form',
    { class: 'new-session', hidden: true },
    label,
    h('div', { class: 'size' }, cols, h('span', { 'aria-hidden': 'true' }, '×'), rows, start),
    h('p', { class: 'hint' }, 'Without a size it follows your window.'),
    problem,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    start.disabled = true;
    problem.textContent = '';
    try {
      const session = await gateway.create(agent.id, asked(label, cols, rows));
      location.hash = fragmentOf({
        instanceId: agent.id,
        sessionId: session.session_id,
        role: 'controller',
        follow: cols.value === '' && rows.value === '',
      });
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
