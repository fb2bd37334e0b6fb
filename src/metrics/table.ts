// Every metric of the gateway's own: what it says, and its labels, of which each has few values. Knows no part of the gateway.

/** The first part of every name. */
export const PREFIX = 'pty_gateway_';

/** A label's values where they are known beforehand: those are told from the start, at 0. Empty: they are the operator's own names. */
type LabelValues = Readonly<Record<string, readonly string[]>>;

interface Row {
  readonly help: string;
  readonly labels?: LabelValues;
}

interface HistogramRow extends Row {
  /** Upper bounds, ascending, in the unit that the name ends with. */
  readonly buckets: readonly number[];
}

/** From what a person does not notice to what nobody waits for. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BYTES = [1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304];

/** What is so now. */
export const gauges = {
  info: { help: 'Always 1: the version that runs, and where its log is.', labels: { version: [], log: ['embedded', 'redis'] } },
  sealing_key: {
    help: 'By the name of each key of REPLAY_ENCRYPTION_KEYS: 1 for the one that seals, 0 for those that only open; none where nothing is sealed.',
    labels: { key: [] },
  },
  clock_seconds: {
    help: 'The time as it is here, in seconds since the epoch: less the time of the scrape it is how far this clock is off.',
  },
  certificate_end_seconds: {
    help: 'When the certificate that is shown here ends, or the first of its chain, in seconds since the epoch; told only with TLS_CERT_FILE.',
  },
  setting_refused: {
    help: '1 while what a variable names could not be used when it was read again: what was read before holds. One for each that is read again.',
    labels: { variable: [] },
  },
  ready: { help: '1 while work is taken, as /readyz says.' },
  log_available: { help: '1 while the log takes entries.' },
  lease_held: { help: '1 while the other replicas may count on this one; always 1 where there is one alone.' },
  replicas: { help: 'Replicas that are believed alive, this one among them.' },
  sessions: { help: 'Sessions whose terminals run here.' },
  agent_sessions: { help: 'The same, by agent.', labels: { agent: [] } },
  session_limit: { help: 'Sessions that may run here (MAX_SESSIONS_PER_REPLICA).' },
  connections: { help: 'Open pty-ws connections.' },
  attachments: { help: 'Connections that have joined their session, by role.', labels: { role: ['controller', 'observer'] } },
  fan_out_lag_frames: { help: 'Frames that the attachment which is furthest behind has yet to be sent.' },
  socket_buffer_bytes: { help: 'Bytes that wait for the sockets of all connections.' },
  screen_backlog_bytes: { help: 'Output that the screens of all sessions have yet to fold.' },
  sessions_without_screen: { help: 'Sessions here whose screens were given up: their output flows, but no picture of them can be told.' },
  damaged_sessions: { help: 'Kept sessions that were found unreadable, whole or in part; the log says which.' },
  data_disk_free_bytes: { help: 'Bytes that are free where DATA_DIR is; told only where the log is kept there.' },
  archive_available: { help: '1 while the archive does what it is asked to; always 1 where there is none.' },
  audit_writable: { help: '1 while audit lines reach their file.' },
} as const satisfies Record<string, Row>;

/** What has happened since the start. */
export const counters = {
  sessions_started_total: { help: 'Sessions that began here.' },
  sessions_failed_total: { help: 'Sessions that this replica had to let go of because their log failed, or was taken over.' },
  takeovers_total: {
    help: 'Sessions of replicas that are gone, by what became of them here.',
    labels: { outcome: ['continued', 'closed', 'damaged', 'failed'] },
  },
  terminal_output_bytes_total: { help: 'Bytes that programs printed.' },
  terminal_paused_seconds_total: {
    help: 'Seconds for which terminals were held up, by what they waited for; its rate is the number of those that wait.',
    labels: { account: ['log', 'screen'] },
  },
  log_appended_bytes_total: { help: 'Bytes of frames that the log took from here.' },
  archive_objects_total: { help: 'Objects that were written into the archive.' },
  archive_bytes_total: { help: 'Bytes in these objects.' },
  archive_failures_total: { help: 'Requests that the archive did not fulfil; they are made again.' },
  archive_gaps_total: { help: 'Stretches of frames that left the log before they could be archived; the log and the audit say which.' },
  archive_lost_frames_total: { help: 'Numbers of frames in these stretches, at most.' },
  received_frames_total: { help: 'Frames that came over pty-ws.' },
  received_bytes_total: { help: 'Bytes that came over the sockets of pty-ws.' },
  sent_frames_total: { help: 'Frames that went out over pty-ws.' },
  sent_bytes_total: { help: 'Bytes that went out over the sockets of pty-ws.' },
  lagged_clients_total: { help: 'Times that a client was too slow for the output, and was given a Keyframe instead (PTY_OUTPUT_LAGGED).' },
  reaped_connections_total: { help: 'Connections that were ended because their peer was silent.' },
  held_back_seconds_total: {
    help: 'Seconds for which connections were not read because they sent more than they may, by what was too much; its rate is the number of those held back.',
    labels: { cause: ['frames', 'bytes', 'requests'] },
  },
  flooding_connections_total: { help: 'Connections that were sent away because they went on sending more than they may.' },
  replays_total: { help: 'Replays that were asked for, by outcome.', labels: { outcome: ['served', 'out_of_range', 'failed'] } },
  refusals_total: {
    help: 'Requests that were answered with an error, by its code.',
    labels: {
      face: ['http', 'websocket'],
      code: ['UNAUTHENTICATED', 'PERMISSION_DENIED', 'RATE_LIMITED', 'INTERNAL'],
    },
  },
  keyframe_failures_total: { help: 'Pictures of a screen that were asked for and could not be told.' },
  screen_worker_restarts_total: {
    help: 'Workers of the screens that were replaced, because they hung or ended.',
    labels: { cause: ['hung', 'ended'] },
  },
  redacted_outputs_total: { help: 'Pieces of output in which something was concealed.' },
  redaction_failures_total: { help: 'Sessions that were ended because what they printed could not be redacted.' },
  audit_dropped_lines_total: { help: 'Audit lines that were lost because their file could not be written.' },
  push_notifications_total: {
    help: 'Push notifications: delivered, failed (given up), dropped (too many, or wanted no more), left (for whoever goes on).',
    labels: { outcome: ['delivered', 'failed', 'dropped', 'left'] },
  },
} as const satisfies Record<string, Row>;

/** How long it takes, and how much it is. */
export const histograms = {
  log_append_seconds: { help: 'From an append to its being taken by the log.', buckets: SECONDS },
  delivery_seconds: {
    help: 'From a frame of output being made to its being handed to the first socket here; between replicas it holds the difference of their clocks.',
    buckets: SECONDS,
  },
  join_seconds: { help: 'From a join to the Keyframe that ends its flush, replay included.', buckets: SECONDS },
  keyframe_seconds: { help: 'From a picture of a screen being asked for to its being there.', buckets: SECONDS },
  keyframe_bytes: { help: 'Size of these pictures.', buckets: BYTES },
} as const satisfies Record<string, HistogramRow>;

export type GaugeName = keyof typeof gauges;
export type CounterName = keyof typeof counters;
export type HistogramName = keyof typeof histograms;
