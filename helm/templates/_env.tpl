{{/* The settings of a gateway, as a pod's environment. Those that are secret come from a Secret. */}}
{{- define "pty-gateway.env" -}}
- name: REPLICA_ID
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- { name: HOST, value: "0.0.0.0" }
- { name: PORT, value: "8080" }
- { name: DATA_DIR, value: /data }
- { name: HOME, value: /data }
- { name: PUBLIC_URL, value: {{ include "pty-gateway.publicUrl" . | quote }} }
- { name: DRAIN_SECONDS, value: {{ .Values.drainSeconds | quote }} }
- { name: REPLICA_LEASE_SECONDS, value: {{ .Values.leaseSeconds | quote }} }
{{- if .Values.agents }}
- { name: AGENTS_FILE, value: /etc/pty-gateway/agents.json }
{{- end }}
{{- with .Values.tls }}
{{- if .existingSecret }}
- { name: TLS_CERT_FILE, value: /etc/tls/tls.crt }
- { name: TLS_KEY_FILE, value: /etc/tls/tls.key }
{{- if .clientCaKey }}
- { name: TLS_CLIENT_CA_FILE, value: /etc/tls/{{ .clientCaKey }} }
{{- end }}
{{- else if .clientCaKey }}
{{- fail "tls.clientCaKey is a key of tls.existingSecret, which is empty" }}
{{- end }}
{{- end }}
{{- if .Values.clientCertificates.rules }}
- { name: CLIENT_CERT_MAP_FILE, value: /etc/pty-gateway-certificates/certificates.json }
{{- else if or .Values.tls.clientCaKey .Values.clientCertificates.header }}
{{- fail "clientCertificates.rules say who clients with certificates are; they are needed with tls.clientCaKey and with clientCertificates.header" }}
{{- end }}
{{- with .Values.clientCertificates.header }}
- { name: CLIENT_CERT_HEADER, value: {{ . | quote }} }
{{- end }}
{{- if .Values.auth.secretFileKey }}
{{- if not .Values.auth.existingSecret }}
{{- fail "auth.secretFileKey is a key of auth.existingSecret, which is empty" }}
{{- end }}
- { name: AUTH_JWT_SECRET_FILE, value: /etc/pty-gateway-auth/{{ .Values.auth.secretFileKey }} }
{{- end }}
{{- with .Values.auth.jwksUrl }}
- { name: AUTH_JWKS_URL, value: {{ . | quote }} }
{{- end }}
{{- with .Values.auth.issuer }}
- { name: AUTH_JWT_ISSUER, value: {{ . | quote }} }
{{- end }}
{{- with .Values.auth.audience }}
- { name: AUTH_JWT_AUDIENCE, value: {{ . | quote }} }
{{- end }}
{{- if .Values.redis.existingSecret }}
- name: REDIS_URL
  valueFrom: { secretKeyRef: { name: {{ .Values.redis.existingSecret }}, key: {{ .Values.redis.existingSecretKey }} } }
{{- else if include "pty-gateway.usesValkey" . }}
- { name: REDIS_URL, value: "redis://{{ include "pty-gateway.name" . }}-valkey:6379" }
{{- else if .Values.redis.url }}
- { name: REDIS_URL, value: {{ .Values.redis.url | quote }} }
{{- else if or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) }}
{{- fail "several replicas need a Redis: set redis.url or redis.existingSecret, or leave valkey.enabled, or set replicaCount to 1" }}
{{- end }}
{{- with .Values.redis.sentinelMaster }}
- { name: REDIS_SENTINEL_MASTER, value: {{ . | quote }} }
{{- end }}
- { name: REDIS_KEY_PREFIX, value: {{ .Values.redis.keyPrefix | quote }} }
{{- if .Values.redis.durable }}
- { name: REDIS_DURABLE, value: "true" }
{{- end }}
{{- with .Values.archive }}
{{- if .url }}
- { name: ARCHIVE_URL, value: {{ .url | quote }} }
- { name: ARCHIVE_RETENTION_SECONDS, value: {{ .retentionSeconds | int64 | quote }} }
{{- with .endpoint }}
- { name: ARCHIVE_ENDPOINT, value: {{ . | quote }} }
{{- end }}
{{- with .region }}
- { name: AWS_REGION, value: {{ . | quote }} }
{{- end }}
{{- if .existingSecret }}
{{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.Values.archive.existingSecret }}, key: {{ . }} } }
{{- end }}
{{- end }}
{{- else if or .endpoint .existingSecret .existingClaim }}
{{- fail "archive.url is needed with archive.endpoint, archive.existingSecret and archive.existingClaim" }}
{{- end }}
{{- end }}
{{- if .Values.redis.caSecret }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/redis-ca/{{ .Values.redis.caSecretKey }} }
{{- end }}
{{- /* A proxy in the cluster says who the client is, unless config says otherwise. */}}
{{- range $name, $value := merge (dict) .Values.config (dict "TRUST_PROXY" "uniquelocal") }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
