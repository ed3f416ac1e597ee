{{/* What the objects of this release are called: after the release, with the chart's name in it once. */}}
{{- define "tidegate.name" -}}
{{- if contains "tidegate" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-tidegate" .Release.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* What the operator's pods are known by. These never change: a Deployment's selector cannot. */}}
{{- define "tidegate.selector" -}}
app.kubernetes.io/name: tidegate
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end }}

{{- define "tidegate.labels" -}}
{{ include "tidegate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The same for the agent's. */}}
{{- define "tidegate.agentSelector" -}}
app.kubernetes.io/name: tidegate
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: agent
{{- end }}

{{- define "tidegate.agentLabels" -}}
{{ include "tidegate.agentSelector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* And for the console's. */}}
{{- define "tidegate.consoleSelector" -}}
app.kubernetes.io/name: tidegate
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: console
{{- end }}

{{- define "tidegate.consoleLabels" -}}
{{ include "tidegate.consoleSelector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "tidegate.account" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "tidegate.name" .) }}{{ else }}{{ required "serviceAccount.name: name the account to use, or set serviceAccount.create to true" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{- define "tidegate.image" -}}
{{- with .Values.image }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end }}
{{- end }}

{{/* The namespace in which the operator tries whether the API server refuses what gates and freezes hold. */}}
{{- define "tidegate.probes" -}}
{{- .Values.changeGates.proof.namespace | default (printf "%s-probe" (include "tidegate.name" .)) }}
{{- end }}

{{/* Whether something optional is wanted: yes, no, or when the cluster knows the kind. Takes a list: the value, the kind, the root. */}}
{{- define "tidegate.wanted" -}}
{{- $value := index . 0 }}{{ $kind := index . 1 }}{{ $root := index . 2 -}}
{{- if kindIs "bool" $value }}{{ if $value }}yes{{ end }}{{ else if $root.Capabilities.APIVersions.Has $kind }}yes{{ end -}}
{{- end }}

{{/* The definitions in the files of a pattern. Takes a list: the pattern, the root, whether Helm leaves them when the release goes. */}}
{{- define "tidegate.definitions" -}}
{{- $root := index . 1 }}{{ $keep := index . 2 }}
{{- range $path, $content := $root.Files.Glob (index . 0) }}
{{- $definition := $content | toString | fromYaml }}
{{- $labels := dict "app.kubernetes.io/name" "tidegate" "app.kubernetes.io/managed-by" $root.Release.Service }}
{{- $_ := set $definition.metadata "labels" (merge $labels ($definition.metadata.labels | default dict)) }}
{{- if $keep }}
{{- $_ := set $definition.metadata "annotations" (merge (dict "helm.sh/resource-policy" "keep") ($definition.metadata.annotations | default dict)) }}
{{- end }}
---
{{ $definition | toYaml }}
{{- end }}
{{- end }}
