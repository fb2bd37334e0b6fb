// What is kept of a session beside its frames, and how it is told. Knows no log and no member.
import type { SessionRequest } from '../agents/agents.js';
import type { LogReader, SessionRecord } from '../log/log.js';
import type { ClosedReason, MembershipChanged, Role } from '../protocol/frames.js';
import type { PtyParams } from '../protocol/params.js';
import type { KeptPush } from './pushes.js';
import type { Home, SessionDescription, TaskJson } from './session.js';

export interface KeptSession extends SessionRecord {
  readonly session_id: string;
  readonly instance_id: string;
  readonly context_id: string;
  readonly state: 'running' | 'closed';
  readonly created_at: string;
  readonly closed_at?: string;
  readonly exit_code?: number | null;
  readonly reason?: ClosedReason;
  readonly closed_by?: string;
  /** As it began; the size now is in the newest Resize or Keyframe. */
  readonly cols: number;
  readonly rows: number;
  readonly label?: string;
  readonly created_by: string;
  readonly replica_id: string;
  /** Of the log, when this replica took the session: who would succeed it claims with this, so that of all who see the same record one does. */
  readonly epoch?: number;
  readonly pty: PtyParams;
  readonly default_role?: SessionRequest['default_role'];
  /** Absent: on. */
  readonly redaction?: 'off';
  /** Absent: redacted. */
  readonly live_stream?: 'raw';
  /** It was given secrets. */
  readonly sensitive?: true;
  /** Of a running session whose record is sealed: for who goes on with it. Told to nobody. */
  readonly secrets?: readonly string[];
  /** Of a closed session: its last size, and its task as it ended. */
  readonly last_size?: { readonly cols: number; readonly rows: number };
  readonly task?: TaskJson;
  /** Whom its task tells of its updates, and how far they have been told. */
  readonly push?: readonly KeptPush[];
  /** Of a closed session: the replica that still has its end to tell to them. */
  readonly telling?: string;
  /** Of a running session that can be taken over: who is attached through other replicas. */
  readonly members?: readonly KeptMember[];
  /** The same: nobody controls it any more if this replica goes, and somebody did. */
  readonly awaits_controller?: boolean;
}

export interface KeptMember {
  readonly clientId: string;
  readonly label?: string;
  readonly principal: string;
  readonly mayControl: boolean;
  /** Absent in what an older gateway wrote. */
  readonly hearsPresence?: boolean;
  readonly role: Role;
  readonly home: Home;
}

/** What is known only while somebody runs it. */
interface Live {
  readonly cols: number;
  readonly rows: number;
  readonly members: Pick<MembershipChanged, 'controllers' | 'observers'>;
}

export function describe(kept: KeptSession, reader: Pick<LogReader, 'extent'>, live?: Live): SessionDescription {
  const { current, oldest } = reader.extent();
  const size = live ?? kept.last_size ?? kept;
  return {
    session_id: kept.session_id,
    instance_id: kept.instance_id,
    task_id: kept.session_id,
    context_id: kept.context_id,
    state: kept.state,
    created_at: kept.created_at,
    ...(kept.closed_at === undefined ? {} : { closed_at: kept.closed_at }),
    ...(kept.exit_code === undefined ? {} : { exit_code: kept.exit_code }),
    ...(kept.reason === undefined ? {} : { reason: kept.reason }),
    ...(kept.closed_by === undefined ? {} : { closed_by: kept.closed_by }),
    cols: size.cols,
    rows: size.rows,
    ...(kept.label === undefined ? {} : { label: kept.label }),
    ...(kept.sensitive === undefined ? {} : { sensitive: kept.sensitive }),
    ...(kept.redaction === undefined ? {} : { redaction: kept.redaction }),
    ...(kept.live_stream === undefined ? {} : { live_stream: kept.live_stream }),
    created_by: kept.created_by,
    replica_id: kept.replica_id,
    current_sequence: current,
    oldest_sequence: oldest,
    controllers: live?.members.controllers ?? [],
    observers: live?.members.observers ?? [],
  };
}

/** A record as this version writes it; undefined for what somebody else has put there. */
export function keptSession(record: SessionRecord | undefined): KeptSession | undefined {
  const isOurs =
    typeof record?.session_id === 'string' &&
    typeof record.instance_id === 'string' &&
    (record.state === 'running' || record.state === 'closed') &&
    typeof (record.pty as PtyParams | undefined)?.replay_buffer_retention_seconds === 'number';
  return isOurs ? (record as KeptSession) : undefined;
}

/** Of a session that prints nothing more: nobody has to conceal anything any more. */
export function withoutSecrets({ secrets: _, ...kept }: KeptSession): KeptSession {
  return kept as KeptSession;
}

/** Whether it has ended so long ago that the log keeps it no more, nor an archive for so many seconds. */
export function isExpired(kept: KeptSession, archiveSeconds = 0): boolean {
  if (kept.state !== 'closed' || kept.closed_at === undefined) return false;
  const seconds = Math.max(kept.pty.replay_buffer_retention_seconds, archiveSeconds);
  return Date.parse(kept.closed_at) + seconds * 1000 < Date.now();
}
