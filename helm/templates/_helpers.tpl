{{- define "pty-gateway.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "pty-gateway.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: gateway
{{- end }}

{{- define "pty-gateway.labels" -}}
{{ include "pty-gateway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "pty-gateway.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "pty-gateway.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "pty-gateway.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{/* Where clients find it, without a slash at the end. */}}
{{- define "pty-gateway.publicUrl" -}}
{{- if .Values.publicUrl }}{{ .Values.publicUrl }}
{{- else if .Values.ingress.enabled }}{{ ternary "https" "http" (not (empty .Values.ingress.tlsSecret)) }}://{{ required "ingress.host is needed where ingress.enabled is true" .Values.ingress.host }}{{ .Values.ingress.path | trimSuffix "/" }}
{{- else if and .Values.httpRoute.enabled .Values.httpRoute.hostnames }}{{ ternary "https" "http" .Values.httpRoute.tls }}://{{ first .Values.httpRoute.hostnames }}{{ .Values.httpRoute.path | trimSuffix "/" }}
{{- else }}{{ include "pty-gateway.scheme" . }}://{{ include "pty-gateway.name" . }}.{{ .Release.Namespace }}.svc{{ if ne (int .Values.service.port) (ternary 443 80 (not (empty .Values.tls.existingSecret))) }}:{{ .Values.service.port }}{{ end }}
{{- end }}
{{- end }}

{{/* What the gateways themselves speak. */}}
{{- define "pty-gateway.scheme" -}}
{{ ternary "https" "http" (not (empty .Values.tls.existingSecret)) }}
{{- end }}

{{- define "pty-gateway.secret" -}}
{{ .Values.auth.existingSecret | default (include "pty-gateway.name" .) }}
{{- end }}

{{/* Whether the Valkey of this chart is what the gateways use. */}}
{{- define "pty-gateway.usesValkey" -}}
{{- if and .Values.valkey.enabled (not .Values.redis.url) (not .Values.redis.existingSecret) }}yes{{ end }}
{{- end }}

{{/* Seconds from being told to end until a pod is killed: preStop, the drain, and goodbyes before and after it. */}}
{{- define "pty-gateway.graceSeconds" -}}
{{ add .Values.preStopSeconds .Values.drainSeconds 15 }}
{{- end }}
