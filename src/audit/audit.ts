// The record of who did what. Knows no request, no socket and no session; never sees input, output or a token.

export type AuditEvent =
  | 'attach'
  | 'leave'
  | 'role'
  | 'input_denied'
  | 'resize_denied'
  | 'replay'
  | 'keyframe_request'
  | 'screen_read'
  | 'transcript_read'
  | 'task_read'
  | 'message'
  | 'session_create'
  | 'session_close'
  | 'admin'
  | 'redaction_failed'
  | 'key_error'
  | 'dropped'
  | 'rotate'
  | 'checkpoint';

export interface AuditLine {
  readonly event: AuditEvent;
  readonly outcome: 'granted' | 'denied' | 'done' | 'failed';
  readonly principal: string | null;
  /** Of the client's, as far as proxies are trusted. */
  readonly address?: string | undefined;
  readonly instance_id?: string | undefined;
  readonly session_id?: string | undefined;
  readonly client_id?: string | undefined;
  readonly role?: string | undefined;
  readonly trace_id?: string | undefined;
  readonly detail?: string | undefined;
}

export interface Audit {
  /** Appends a line; never throws and never waits. */
  record(line: AuditLine): void;
  /** Resolves when all lines are in the file. */
  close(): Promise<void>;
}
