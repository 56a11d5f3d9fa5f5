{{- /* The labels of a component, which its selector has too. They never change, because Kubernetes refuses another selector. */}}
{{- define "notify.labels" -}}
{app.kubernetes.io/part-of: notify, app.kubernetes.io/component: {{ . }}}
{{- end }}

{{- define "notify.image" -}}
image: {{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}

{{- /*
The metadata of a pod. Takes root, component, calls (whether the pod calls providers) and files (templates of ConfigMaps that the pod
reads: their digest is an annotation, so that a changed one replaces the pod).
*/}}
{{- define "notify.podMetadata" -}}
{{- $root := .root -}}
metadata:
  labels: {app.kubernetes.io/part-of: notify, app.kubernetes.io/component: {{ .component }}
    {{- if .calls }}, notify/calls: providers{{ end }}
    {{- range $name, $value := $root.Values.podLabels }}, {{ $name | quote }}: {{ $value | quote }}{{ end }}}
  {{- $text := "" }}
  {{- range .files }}
  {{- $text = print $text (include (printf "%s/%s" $root.Template.BasePath .) $root) }}
  {{- end }}
  {{- $digest := ternary (dict "checksum/config" (sha256sum $text)) dict (not (empty .files)) }}
  {{- with merge $digest $root.Values.podAnnotations }}
  annotations: {{ toJson . }}
  {{- end }}
{{- end }}

{{- /*
The beginning of a pod's spec. Takes root, user (10001 where absent), spread (whether several pods go to different nodes), and service:
whether the pod runs the service itself, and so has its ServiceAccount; "first" for the Job that runs before the chart's account exists.
*/}}
{{- define "notify.podSpec" -}}
{{- $user := .user | default 10001 -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {runAsNonRoot: true, runAsUser: {{ $user }}, runAsGroup: {{ $user }}, seccompProfile: {type: RuntimeDefault}}
{{- if .spread }}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app.kubernetes.io/part-of: notify}}, matchLabelKeys: [app.kubernetes.io/component, pod-template-hash]}]
{{- end }}
{{- with .root.Values }}
{{- $account := .serviceAccount.name | default (ternary "notify" "" .serviceAccount.create) }}
{{- if and $account $.service (not (and .serviceAccount.create (eq $.service "first"))) }}
serviceAccountName: {{ $account | quote }}
{{- end }}
{{- range $name := list "imagePullSecrets" "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with index $.root.Values $name }}
{{ $name }}: {{ toJson . }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Further items of a list in one line. */}}
{{- define "notify.more" -}}
{{- range . }}, {{ toJson . }}{{ end }}
{{- end }}

{{- define "notify.rights" -}}
securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
{{- end }}

{{- /* The environment of a process of the service: the ConfigMap and the Secret. */}}
{{- define "notify.environment" -}}
envFrom: [{configMapRef: {name: notify}}, {secretRef: {name: {{ .Values.secrets.app | quote }}}}]
{{- end }}

{{- /* Waits until the migrations of this image have run; the pod's own role can read that and cannot run them. */}}
{{- define "notify.migrated" -}}
- name: migrated
  {{- include "notify.image" . | nindent 2 }}
  command: [python, manage.py, migrate, --check]
  {{- include "notify.environment" . | nindent 2 }}
  {{- with .Values.extraEnv }}
  env: {{ toJson . }}
  {{- end }}
  resources: {requests: {cpu: 100m, memory: 192Mi}, limits: {memory: 384Mi}}
  {{- include "notify.rights" . | nindent 2 }}
  volumeMounts: [{name: tmp, mountPath: /tmp}{{ include "notify.more" .Values.extraVolumeMounts }}]
{{- end }}

{{- /*
The autoscaler of a Deployment, as YAML: kind (hpa or keda), min and max; empty without one. Takes root and name. With KEDA, Deployments
that KEDA does not scale keep their autoscaler by processor time.
*/}}
{{- define "notify.autoscaler" -}}
{{- $name := .name }}
{{- with .root.Values.autoscaling }}
{{- $byLag := ternary (index .keda.workers $name) nil (eq .kind "keda") }}
{{- $byTime := ternary (index .hpa $name) nil (ne .kind "none") }}
{{- with $byLag | default $byTime }}
{{- if gt (int .min) (int .max) }}{{ fail (printf "autoscaling of %s: min %d is above max %d" $name (int .min) (int .max)) }}{{ end }}
{{- dict "kind" (ternary "keda" "hpa" (not (empty $byLag))) "min" .min "max" .max | toYaml }}
{{- end }}
{{- end }}
{{- end }}

{{- /* `replicas` of a Deployment whose number of pods no autoscaler sets. Takes root, name and replicas. */}}
{{- define "notify.replicas" -}}
{{- if not (include "notify.autoscaler" .) }}replicas: {{ .replicas }}{{ end }}
{{- end }}

{{- /* A drained node takes one pod at a time of a Deployment that has several. Takes root, name and replicas. */}}
{{- define "notify.disruption" -}}
{{- $autoscaler := include "notify.autoscaler" . | fromYaml }}
{{- if gt (int (dig "min" .replicas $autoscaler)) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: {{ .name }}}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector: {matchLabels: {{ include "notify.labels" .name }}}
{{- end }}
{{- end }}

{{- /* The workers: a list of name, about, queues, and calls (whether the pods call providers). Each queue is in one of them. */}}
{{- define "notify.workers" }}
- {name: p0, calls: true, queues: "p0.push,p0.sms,p0.email,p0.in_app,p0.webhook,p0.chat", about: "OTPs: a worker of their own, so that no flood and no hung provider of another lane delays them."}
- {name: p1, calls: true, queues: "p1.push,p1.sms,p1.email,p1.in_app,p1.webhook,p1.chat", about: "P1 of all channels, so that P1 goes before P2 whatever the broker."}
{{- if eq .Values.autoscaling.kind "keda" }}
- {name: p2, calls: true, queues: "p2.push,p2.sms,p2.email,p2.in_app,p2.webhook,p2.chat"}
- {name: p3, calls: true, queues: "p3.push,p3.sms,p3.email,p3.in_app,p3.webhook,p3.chat"}
{{- else }}
- {name: push, calls: true, queues: "p2.push,p3.push"}
- {name: sms, calls: true, queues: "p2.sms,p3.sms"}
- {name: email, calls: true, queues: "p2.email,p3.email"}
- {name: in-app, calls: true, queues: "p2.in_app,p3.in_app"}
- {name: webhook, calls: true, queues: "p2.webhook,p3.webhook"}
- {name: chat, calls: true, queues: "p2.chat,p3.chat"}
{{- end }}
- {name: ops, calls: true, queues: "ops", about: "The sweeps."}
- {name: tell, calls: true, queues: "tell", about: "Webhooks to producers: slow endpoints must delay no sweep."}
- {name: expand, calls: false, queues: "expand", about: "The expansion of bulk jobs: long transactions must delay no sweep."}
- name: test
  calls: true
  about: "What was made with a test key: it never takes a live worker's time."
  queues: "test.p0.push,test.p0.sms,test.p0.email,test.p0.in_app,test.p0.webhook,test.p0.chat,test.p1.push,test.p1.sms,test.p1.email,test.p1.in_app,test.p1.webhook,test.p1.chat,test.p2.push,test.p2.sms,test.p2.email,test.p2.in_app,test.p2.webhook,test.p2.chat,test.p3.push,test.p3.sms,test.p3.email,test.p3.in_app,test.p3.webhook,test.p3.chat"
{{- end }}

{{- /* The ports of servers as a list of a NetworkPolicy. Takes the URLs. A URL without a port has that of its scheme. */}}
{{- define "notify.ports" -}}
{{- $usual := dict "postgresql" "5432" "postgres" "5432" "redis" "6379" "rediss" "6379" "amqp" "5672" "amqps" "5671" }}
{{- $management := dict "amqp" "15672" "amqps" "15671" }}
{{- $found := list }}
{{- range . }}
{{- $scheme := regexFind "^[a-z]+" . }}
{{- $named := regexFindAll ":[0-9]+([/,?]|$)|[?&]port=[0-9]+" . -1 }}
{{- range $named | default (list (get $usual $scheme)) }}
{{- $found = append $found (regexFind "[0-9]+" .) }}
{{- end }}
{{- with get $management $scheme }}{{ $found = append $found . }}{{ end }}
{{- end }}
{{- range $index, $port := uniq $found }}{{ if $index }}, {{ end }}{port: {{ $port }}}{{ end }}
{{- end }}

{{- /* Rules of egress: to PostgreSQL and the state Valkey. */}}
{{- define "notify.data" -}}
- to: {{ toJson .Values.networkPolicy.postgres }}
  ports: [{{ include "notify.ports" (list .Values.config.DATABASE_URL .Values.migrate.databaseUrl) }}]
- to: {{ toJson .Values.networkPolicy.state }}
  ports: [{{ include "notify.ports" (list .Values.config.REDIS_URL) }}]
{{- end }}

{{- define "notify.dns" -}}
- to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}, podSelector: {matchLabels: {k8s-app: kube-dns}}}]
  ports: [{port: 53, protocol: UDP}, {port: 53}]
{{- end }}
