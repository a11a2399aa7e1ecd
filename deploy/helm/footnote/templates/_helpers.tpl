{{- define "footnote.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "footnote.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "footnote.labels" -}}
{{ include "footnote.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "footnote.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "footnote.claim" -}}
{{ .Values.persistence.existingClaim | default (include "footnote.name" .) }}
{{- end -}}

{{/*
Where the pods run: "each" has a folder of its own, "node" is one for all, "nodes" share a volume. Footnote ignores an
empty URL, and a claim may still have the stored settings.
*/}}
{{- define "footnote.folders" -}}
{{- if and .Values.settings.FOOTNOTE_UPLOADS_URL (not .Values.persistence.existingClaim) -}}
each
{{- else -}}
{{ eq .Values.persistence.accessMode "ReadWriteOnce" | ternary "node" "nodes" }}
{{- end -}}
{{- end -}}

{{/* A Deployment; takes root, component, command, and probes (YAML), and port (none for the worker). */}}
{{- define "footnote.deployment" -}}
{{- $root := .root -}}
{{- $values := index $root.Values .component -}}
{{- $name := printf "%s-%s" (include "footnote.name" $root) .component -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "footnote.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  replicas: {{ $values.replicas }}
  strategy:
    {{- if $root.Values.rollingUpgrade }}
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 0
      maxUnavailable: 1
    {{- else }}
    type: Recreate
    {{- end }}
  selector:
    matchLabels:
      {{- include "footnote.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  template:
    metadata:
      labels:
        {{- include "footnote.selector" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
      annotations:
        checksum/settings: {{ include (print $root.Template.BasePath "/configmap.yaml") $root | sha256sum }}
        {{- with $root.Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 10001
        runAsGroup: 10001
        fsGroup: 10001
        fsGroupChangePolicy: OnRootMismatch
        seccompProfile:
          type: RuntimeDefault
      terminationGracePeriodSeconds: 45
      containers:
        - name: {{ .component }}
          image: {{ include "footnote.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: {{ toJson .command }}
          env:
            - name: PGPASSWORD
              valueFrom:
                secretKeyRef:
                  name: {{ $root.Values.existingSecret }}
                  key: PGPASSWORD
            - name: FOOTNOTE_ENCRYPTION_KEY
              valueFrom:
                secretKeyRef:
                  name: {{ $root.Values.existingSecret }}
                  key: FOOTNOTE_ENCRYPTION_KEY
            {{- if eq .component "worker" }}
            - name: FOOTNOTE_WORKER_METRICS_PORT
              value: "9602"
            {{- end }}
          envFrom:
            - configMapRef:
                name: {{ include "footnote.name" $root }}
            - secretRef:
                name: {{ $root.Values.existingSecret }}
          {{- with .port }}
          ports:
            - name: http
              containerPort: {{ . }}
          # Until no more requests are sent here.
          lifecycle:
            preStop:
              exec:
                command: [sleep, "5"]
          {{- end }}
          {{- .probes | nindent 10 }}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
          volumeMounts:
            - name: library
              mountPath: /var/lib/footnote
            - name: tmp
              mountPath: /tmp
            {{- with $root.Values.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        - name: library
          {{- if eq (include "footnote.folders" $root) "each" }}
          # Only caches and locks of this pod: everything else is in the database, the index, and the bucket.
          emptyDir:
            sizeLimit: {{ $root.Values.persistence.size }}
          {{- else }}
          persistentVolumeClaim:
            claimName: {{ include "footnote.claim" $root }}
          {{- end }}
        - name: tmp
          emptyDir:
            sizeLimit: 2Gi
        {{- with $root.Values.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $root.Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- if eq (include "footnote.folders" $root) "node" }}
      # The volume can be mounted on one node only.
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector:
                matchLabels:
                  {{- include "footnote.selector" $root | nindent 18 }}
      {{- else }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "footnote.selector" $root | nindent 14 }}
              app.kubernetes.io/component: {{ .component }}
      {{- end }}
{{- end -}}

{{/* A Service; takes root, component, and the pods' port. */}}
{{- define "footnote.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "footnote.name" .root }}-{{ .component }}
  labels:
    {{- include "footnote.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  {{- with (index .root.Values .component).serviceAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  ports:
    - name: http
      port: {{ .port }}
      targetPort: http
  selector:
    {{- include "footnote.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
{{- end -}}
