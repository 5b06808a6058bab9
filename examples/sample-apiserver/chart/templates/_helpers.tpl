{{- define "sample-apiserver.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "sample-apiserver.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains (include "sample-apiserver.name" .) .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "sample-apiserver.name" .) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- /* The name of what is not in a namespace: two releases of one name may be in two namespaces. */}}
{{- define "sample-apiserver.clusterName" -}}
{{- printf "%s:%s" .Release.Namespace (include "sample-apiserver.fullname" .) }}
{{- end }}

{{- define "sample-apiserver.selectorLabels" -}}
app.kubernetes.io/name: {{ include "sample-apiserver.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sample-apiserver.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "sample-apiserver.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "sample-apiserver.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "sample-apiserver.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "sample-apiserver.subjects" -}}
- kind: ServiceAccount
  name: {{ include "sample-apiserver.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "sample-apiserver.certificateSecret" -}}
{{- if eq .Values.certificate.source "secret" }}
{{- .Values.certificate.secret.name }}
{{- else }}
{{- printf "%s-serving" (include "sample-apiserver.fullname" .) }}
{{- end }}
{{- end }}

{{- define "sample-apiserver.dnsNames" -}}
{{- $service := printf "%s.%s.svc" (include "sample-apiserver.fullname" .) .Release.Namespace }}
{{- list $service (printf "%s.cluster.local" $service) | toJson }}
{{- end }}
