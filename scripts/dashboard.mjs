// Writes helm/dashboards/pty-gateway.json, the dashboard for Grafana 11 and 12, from the rows below. With --check, fails if that would change it.
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../helm/dashboards/pty-gateway.json', import.meta.url);
const WIDTH = 24;
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana puts it in.
const datasource = { type: 'prometheus', uid: '${datasource}' };
/** Of the replicas that are chosen above; `$__rate_interval` is long enough for two scrapes. */
const m = (name, more = '') => `pty_gateway_${name}{job=~"$job", instance=~"$instance"${more && `, ${more}`}}`;
const rate = (name, more) => `rate(${m(name, more)}[$__rate_interval])`;
const quantile = (q, name) => `histogram_quantile(${q}, sum by (le) (${rate(`${name}_bucket`)}))`;
const quantiles = (name) => [
  ['p99', quantile(0.99, name)],
  ['p50', quantile(0.5, name)],
];

/** By name, without what all begin with; `none` where none fires. */
const firing =
  'label_replace(count by (alertname) (ALERTS{alertname=~"PtyGateway.*", alertstate="firing"}), "alertname", "$1", "alertname", "PtyGateway(.*)")' +
  ' or on () label_replace(vector(0), "alertname", "none", "", "")';

/** Of each replica: one that is slow alone is its own machine, all at once are what they share. */
const p99OfEach = (name) => [['{{instance}}', `histogram_quantile(0.99, sum by (instance, le) (${rate(`${name}_bucket`)}))`]];

const good = (limit) => ({ good: limit });
/** `amber` and `red` are where a number is worth a look, and where it is trouble. */
const upTo = (amber, red) => ({ amber, red });

/** Each row: its title, then panels [title, unit, what it says, queries [legend, expression], how it is judged: only in the first row]. */
const rows = [
  [
    'Is it well?',
    [
      'Replicas that take work',
      'short',
      'Those that are ready; red when any is not.',
      [['', `sum(${m('ready')}) / count(${m('ready')})`]],
      good(1),
      'percentunit',
    ],
    [
      'Log and audit are written',
      'bool_yes_no',
      'Everywhere; no where any of them is not.',
      [['', `min(${m('log_available')}) * min(${m('audit_writable')})`]],
      good(1),
    ],
    [
      'Unreadable sessions',
      'short',
      'On the replica that has most of them: damaged, or sealed with a key that it lacks.',
      [['', `max(${m('damaged_sessions')})`]],
      upTo(1, 1),
    ],
    [
      'Alerts that fire',
      'short',
      'Of the rules of the chart.',
      [['', 'count(ALERTS{alertname=~"PtyGateway.*", alertstate="firing"}) or vector(0)']],
      upTo(1, 2),
    ],
    ['An append, p99', 's', 'From a frame to its being taken by the log.', [['', quantile(0.99, 'log_append_seconds')]], upTo(0.1, 0.25)],
    ['A delivery, p99', 's', 'From output to the first socket.', [['', quantile(0.99, 'delivery_seconds')]], upTo(0.25, 1)],
    ['A join, p99', 's', 'Until the screen is there.', [['', quantile(0.99, 'join_seconds')]], upTo(0.5, 2)],
    [
      'Requests that failed',
      'reqps',
      'By our fault (INTERNAL), all faces.',
      [['', `sum(${rate('refusals_total', 'code="INTERNAL"')})`]],
      upTo(0.01, 0.1),
    ],
  ],
  ['What fires?', ['Alerts', 'short', 'Which, and since when; docs/runbook.md has a section for each.', [['{{alertname}}', firing]]]],
  [
    'How much is going on?',
    ['Sessions', 'short', 'Whose terminals run here, by agent.', [['{{agent}}', `sum by (agent) (${m('agent_sessions')})`]]],
    ['Attachments', 'short', 'By role.', [['{{role}}', `sum by (role) (${m('attachments')})`]]],
    [
      'Bytes printed',
      'Bps',
      'By programs, on each replica.',
      [['{{instance}}', `sum by (instance) (${rate('terminal_output_bytes_total')})`]],
    ],
    [
      'Bytes sent',
      'Bps',
      'And received, over the sockets.',
      [
        ['sent', `sum(${rate('sent_bytes_total')})`],
        ['received', `sum(${rate('received_bytes_total')})`],
      ],
    ],
    [
      'Frames',
      'cps',
      'Over pty-ws.',
      [
        ['sent', `sum(${rate('sent_frames_total')})`],
        ['received', `sum(${rate('received_frames_total')})`],
      ],
    ],
    [
      'Free disk',
      'bytes',
      'Where DATA_DIR is, of each replica; empty where the log is in Redis.',
      [['{{instance}}', m('data_disk_free_bytes')]],
    ],
  ],
  [
    'Why is it slow?',
    ['An append to the log, p99', 's', 'Of each replica. Slow: Redis, the network, the disk.', p99OfEach('log_append_seconds')],
    ['A delivery, p99', 's', 'Of each replica. Slow while appends are quick: it is busy.', p99OfEach('delivery_seconds')],
    ['A picture of a screen', 's', 'Slow: the workers of the screens are busy.', quantiles('keyframe_seconds')],
    [
      'Terminals that wait',
      'short',
      'Held up on account of the log, or of the screen.',
      [['{{account}}', `sum by (account) (${rate('terminal_paused_seconds_total')})`]],
    ],
    [
      'Event loop, p99',
      's',
      'Of each replica.',
      [['{{instance}}', 'nodejs_eventloop_lag_p99_seconds{job=~"$job", instance=~"$instance"}']],
    ],
    [
      'CPU',
      'percentunit',
      'Of a core, each replica.',
      [['{{instance}}', 'rate(process_cpu_seconds_total{job=~"$job", instance=~"$instance"}[$__rate_interval])']],
    ],
    ['Memory', 'bytes', 'Resident, each replica.', [['{{instance}}', 'process_resident_memory_bytes{job=~"$job", instance=~"$instance"}']]],
    [
      'What waits',
      'bytes',
      'For sockets, and for screens.',
      [
        ['for sockets', `sum(${m('socket_buffer_bytes')})`],
        ['for screens', `sum(${m('screen_backlog_bytes')})`],
      ],
    ],
  ],
  [
    'What went wrong?',
    ['Refusals', 'reqps', 'By code and face.', [['{{code}}, {{face}}', `sum by (code, face) (${rate('refusals_total')})`]]],
    [
      'Clients',
      'cps',
      'Too slow, silent, or flooding.',
      [
        ['lagged', `sum(${rate('lagged_clients_total')})`],
        ['reaped', `sum(${rate('reaped_connections_total')})`],
        ['flooding', `sum(${rate('flooding_connections_total')})`],
      ],
    ],
    [
      'Clients held back',
      'short',
      'Connections that are not read, by what they send too much of.',
      [['{{cause}}', `sum by (cause) (${rate('held_back_seconds_total')})`]],
    ],
    ['The furthest behind', 'short', 'Frames that the slowest attachment has yet to be sent.', [['{{instance}}', m('fan_out_lag_frames')]]],
    ['Replays', 'cps', 'By outcome.', [['{{outcome}}', `sum by (outcome) (${rate('replays_total')})`]]],
    [
      'Sessions taken over, or lost',
      'short',
      'In the last minutes.',
      [
        ['{{outcome}}', `sum by (outcome) (increase(${m('takeovers_total')}[$__rate_interval]))`],
        ['log failed', `sum(increase(${m('sessions_failed_total')}[$__rate_interval]))`],
      ],
    ],
    ['Unreadable sessions', 'short', 'By replica: on one alone, its key does not fit.', [['{{instance}}', m('damaged_sessions')]]],
    [
      'Screens',
      'short',
      'Workers replaced, pictures that could not be told.',
      [
        ['workers: {{cause}}', `sum by (cause) (increase(${m('screen_worker_restarts_total')}[$__rate_interval]))`],
        ['no picture', `sum(increase(${m('keyframe_failures_total')}[$__rate_interval]))`],
      ],
    ],
    [
      'Secrets and audit',
      'cps',
      'Pieces in which something was concealed; audit lines lost.',
      [
        ['concealed', `sum(${rate('redacted_outputs_total')})`],
        ['audit lines lost', `sum(${rate('audit_dropped_lines_total')})`],
      ],
    ],
    ['Push notifications', 'cps', 'By outcome.', [['{{outcome}}', `sum by (outcome) (${rate('push_notifications_total')})`]]],
  ],
];

const targets = (queries) =>
  queries.map(([legendFormat, expr], i) => ({
    datasource,
    refId: String.fromCharCode(65 + i),
    editorMode: 'code',
    range: true,
    expr,
    legendFormat,
  }));

function stepsOf({ good: limit, amber, red }) {
  if (limit !== undefined)
    return [
      { color: 'red', value: null },
      { color: 'green', value: limit },
    ];
  return [
    { color: 'green', value: null },
    { color: 'yellow', value: amber },
    { color: 'red', value: red },
  ];
}

function stat([title, unit, description, queries, judged, shown = unit]) {
  const thresholds = { mode: 'absolute', steps: stepsOf(judged) };
  return {
    type: 'stat',
    title,
    description,
    targets: targets(queries),
    fieldConfig: { defaults: { unit: shown, thresholds, color: { mode: 'thresholds' } }, overrides: [] },
    options: {
      colorMode: 'background',
      graphMode: 'none',
      justifyMode: 'center',
      textMode: 'auto',
      wideLayout: true,
      orientation: 'auto',
      showPercentChange: false,
      percentChangeColorMode: 'standard',
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    },
  };
}

function graph([title, unit, description, queries]) {
  return {
    type: 'timeseries',
    title,
    description,
    targets: targets(queries),
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never', lineWidth: 1 } }, overrides: [] },
    options: {
      legend: { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  };
}

function panels() {
  let y = 0;
  let id = 1;
  return rows.flatMap(([title, ...own], r) => {
    const w = WIDTH / (r === 0 ? own.length : Math.min(own.length, 4));
    const h = r === 0 ? 4 : own.length === 1 ? 5 : 7;
    const header = { type: 'row', id: id++, title, collapsed: false, panels: [], gridPos: { x: 0, y, w: WIDTH, h: 1 } };
    const placed = own.map((panel, i) => ({
      ...(r === 0 ? stat(panel) : graph(panel)),
      id: id++,
      datasource,
      gridPos: { x: (i * w) % WIDTH, y: y + 1 + h * Math.floor((i * w) / WIDTH), w, h },
    }));
    y += 1 + h * Math.ceil((own.length * w) / WIDTH);
    return [header, ...placed];
  });
}

const variable = (name, label, query) => ({
  name,
  label,
  type: 'query',
  datasource,
  query: { query, refId: name },
  definition: query,
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  allValue: '.+',
  current: { text: 'All', value: '$__all' },
});

const dashboard = {
  uid: 'pty-gateway',
  title: 'pty-gateway',
  description:
    'Top row: is it well? Then which alerts fire, how much is going on, why it is slow, and what went wrong. docs/metrics.md tells of every number.',
  tags: ['pty-gateway'],
  schemaVersion: 39,
  version: 1,
  editable: true,
  graphTooltip: 1,
  refresh: '30s',
  time: { from: 'now-1h', to: 'now' },
  timezone: 'browser',
  templating: {
    list: [
      { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus', current: { text: '', value: '' }, refresh: 1 },
      variable('job', 'Job', 'label_values(pty_gateway_info, job)'),
      variable('instance', 'Replica', 'label_values(pty_gateway_info{job=~"$job"}, instance)'),
    ],
  },
  annotations: { list: [] },
  links: [],
  panels: panels(),
};

const text = `${JSON.stringify(dashboard, null, 2)}\n`;
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('helm/dashboards/pty-gateway.json is not what scripts/dashboard.mjs writes: run it');
    process.exit(1);
  }
} else writeFileSync(file, text);
