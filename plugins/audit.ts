// The audit file, and the one way in which a request leaves a line in it. Knows no event's meaning.
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { Audit, AuditEvent, AuditLine } from '../src/audit/audit.js';
import { signer } from '../src/audit/checkpoint.js';
import { openAuditFile } from '../src/audit/file.js';
import { Repeats } from '../src/audit/repeats.js';
import { readSigningKey } from '../src/signing-key.js';
import { traceIdOf } from './telemetry.js';

type More = Omit<Partial<AuditLine>, 'event' | 'outcome' | 'principal' | 'address' | 'trace_id'>;

declare module 'fastify' {
  interface FastifyInstance {
    readonly audit: Audit;
  }
  interface FastifyRequest {
    /** A line about this request: its principal, address and trace are added, and the instance and session of its route unless `more` names others. */
    record(event: AuditEvent, outcome: AuditLine['outcome'], more?: More): void;
  }
}

function record(this: FastifyRequest, event: AuditEvent, outcome: AuditLine['outcome'], more: More = {}): void {
  const { inst, id } = (this.params ?? {}) as { inst?: string; id?: string };
  const who = { principal: this.principal?.name ?? null, address: this.ip, trace_id: traceIdOf(this) };
  this.server.audit.record({ event, outcome, ...who, instance_id: inst, session_id: id, ...more });
}

export default fp<{ audit?: Audit | undefined }>(
  async (app, { audit }) => {
    const { auditFile, auditSigningKey, replica } = app.config;
    let isWritable = true;
    const tell = (sentence: string | undefined) => {
      isWritable = sentence === undefined;
      if (sentence) app.log.error(sentence);
      else app.log.info('the audit file is written again');
    };
    const onDropped = () => app.metrics.count('audit_dropped_lines_total');
    app.metrics.read('audit_writable', () => Number(isWritable));
    const key = auditSigningKey === undefined ? undefined : readSigningKey('AUDIT_SIGNING_KEY', auditSigningKey);
    const opened =
      audit ??
      (await openAuditFile({ file: auditFile, replicaId: replica.id, onTrouble: tell, onDropped, ...(key && { sign: signer(key) }) }));
    const told = new Repeats(opened);
    app.decorate('audit', told);
    app.decorateRequest('record', record);
    app.addHook('onClose', () => told.close());
  },
  { name: 'audit', dependencies: ['context'] },
);
