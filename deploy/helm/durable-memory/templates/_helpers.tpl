{{- define "durable-memory.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "durable-memory.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "durable-memory.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "durable-memory.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "durable-memory.selectorLabels" -}}
app.kubernetes.io/name: {{ include "durable-memory.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "durable-memory.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "durable-memory.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "durable-memory.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "durable-memory.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "durable-memory.image" -}}
{{- $repository := required "image.repository: where you pushed the image that deploy/Dockerfile builds" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* The ConfigMap with the declarations; empty if the image holds them. */ -}}
{{- define "durable-memory.memories" -}}
{{- if and .Values.memories.files .Values.memories.configMap -}}
{{- fail "memories.files, memories.configMap: give one of them" -}}
{{- end -}}
{{- if .Values.memories.files -}}
{{- printf "%s-memories" (include "durable-memory.fullname" .) -}}
{{- else -}}
{{- .Values.memories.configMap -}}
{{- end -}}
{{- end -}}

{{- /* The secrets that a worker reads from files: variable -> name in `secrets`. */ -}}
{{- define "durable-memory.secretFiles" -}}
REDIS_URL_FILE: redisUrl
DURABLE_MEMORY_ENCRYPTION_KEYS_FILE: encryptionKeys
DURABLE_MEMORY_PAYLOAD_KEYS_FILE: payloadKeys
DURABLE_MEMORY_TELEMETRY_KEY_FILE: telemetryKey
{{- end -}}

{{- /* Variables that `env` may not hold, with the value that sets each. */ -}}
{{- define "durable-memory.ownVariables" -}}
{{- range $variable, $secret := include "durable-memory.secretFiles" . | fromYaml }}
{{ trimSuffix "_FILE" $variable }}: secrets.{{ $secret }}
{{- end }}
DURABLE_MEMORY_HTTP_PORT: httpPort
TEMPORAL_ADDRESS: temporal.address
TEMPORAL_API_KEY: secrets.temporalApiKey
TEMPORAL_DEPLOYMENT_NAME: versioning.deploymentName
TEMPORAL_NAMESPACE: temporal.namespace
TEMPORAL_TLS: temporal.tls
TEMPORAL_TLS_CLIENT_CERT_PATH: temporal.tls
TEMPORAL_TLS_CLIENT_KEY_PATH: temporal.tls
TEMPORAL_TLS_SERVER_CA_CERT_PATH: temporal.tls
TEMPORAL_WORKER_BUILD_ID: versioning.buildId
{{- end -}}

{{- define "durable-memory.env" -}}
{{- $root := . -}}
- name: TEMPORAL_ADDRESS
  value: {{ required "temporal.address: host:port of your Temporal, without a scheme" .Values.temporal.address | quote }}
- name: TEMPORAL_NAMESPACE
  value: {{ .Values.temporal.namespace | quote }}
{{- with .Values.secrets.temporalApiKey }}
{{- if .name }}
- name: TEMPORAL_API_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .name }}
      key: {{ .key }}
{{- end }}
{{- end }}
{{- with .Values.temporal.tls }}
{{- if or .enabled .secret }}
- name: TEMPORAL_TLS
  value: "true"
{{- end }}
{{- if .secret }}
{{- if .clientCertificate }}
- name: TEMPORAL_TLS_CLIENT_CERT_PATH
  value: /run/secrets/temporal-tls/tls.crt
- name: TEMPORAL_TLS_CLIENT_KEY_PATH
  value: /run/secrets/temporal-tls/tls.key
{{- end }}
{{- if .ca }}
- name: TEMPORAL_TLS_SERVER_CA_CERT_PATH
  value: /run/secrets/temporal-tls/ca.crt
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.versioning }}
{{- if ne (empty .deploymentName) (empty .buildId) }}
{{- fail "versioning.deploymentName, versioning.buildId: a versioned worker needs both, one without versions neither" }}
{{- end }}
{{- if .buildId }}
- name: TEMPORAL_DEPLOYMENT_NAME
  value: {{ .deploymentName | quote }}
- name: TEMPORAL_WORKER_BUILD_ID
  value: {{ .buildId | quote }}
{{- end }}
{{- end }}
{{- range $variable, $secret := include "durable-memory.secretFiles" . | fromYaml }}
{{- if (index $root.Values.secrets $secret).name }}
- name: {{ $variable }}
  value: /run/secrets/durable-memory/{{ $secret }}
{{- end }}
{{- end }}
- name: DURABLE_MEMORY_HTTP_PORT
  value: {{ .Values.httpPort | quote }}
{{- $own := include "durable-memory.ownVariables" . | fromYaml }}
{{- range $name, $value := .Values.env }}
{{- with get $own (trimSuffix "_FILE" $name) }}
{{- fail (printf "env.%s: set %s instead" $name .) }}
{{- end }}
{{- if and (eq $name "DURABLE_MEMORY_RELOAD_INTERVAL") (kindIs "bool" $value) }}
{{- fail (printf "env.%s: write \"off\" in quotes; without them YAML reads false" $name) }}
{{- end }}
- name: {{ $name }}
{{- if kindIs "map" $value }}
  valueFrom:
    {{- toYaml $value | nindent 4 }}
{{- else if kindIs "string" $value }}
  value: {{ $value | quote }}
{{- else }}
  value: {{ toJson $value | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "durable-memory.volumes" -}}
{{- $root := . -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range $variable, $secret := include "durable-memory.secretFiles" . | fromYaml }}
      {{- with index $root.Values.secrets $secret }}
      {{- if .name }}
      - secret:
          name: {{ .name }}
          items:
            - key: {{ .key }}
              path: {{ $secret }}
      {{- end }}
      {{- end }}
      {{- end }}
{{- with include "durable-memory.memories" . }}
- name: memories
  configMap:
    name: {{ . }}
{{- end }}
{{- with .Values.temporal.tls.secret }}
- name: temporal-tls
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "durable-memory.volumeMounts" -}}
- name: secrets
  mountPath: /run/secrets/durable-memory
  readOnly: true
{{- if include "durable-memory.memories" . }}
- name: memories
  mountPath: /etc/durable-memory/memories
  readOnly: true
{{- end }}
{{- if .Values.temporal.tls.secret }}
- name: temporal-tls
  mountPath: /run/secrets/temporal-tls
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}
