/**
 * Realistic pods: two containers, probes, volumes, tolerations, and a status that a node has written; some 8 KB with
 * managed fields.
 */

export const PODS = '/api/v1/namespaces/default/pods'
const WHEN = '2026-01-15T10:21:09Z'

const environment = (name: string): object[] => [
  ...['DATABASE_URL', 'LOG_LEVEL'].map((key, at) => ({ name: key, value: `${name}-${key.toLowerCase()}-${at}` })),
  { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
  { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: `${name}-credentials`, key: 'password' } } }
]

const probe = (path: string): object => ({
  httpGet: { path, port: 'http', scheme: 'HTTP' },
  initialDelaySeconds: 5,
  periodSeconds: 10,
  timeoutSeconds: 2,
  successThreshold: 1,
  failureThreshold: 3
})

const container = (name: string, port: number): object => ({
  name,
  image: `registry.example.com/team/${name}:v1.42.${port}`,
  imagePullPolicy: 'IfNotPresent',
  args: ['--listen', `:${port}`],
  ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
  env: environment(name),
  resources: { limits: { cpu: '1', memory: '512Mi' } },
  volumeMounts: [{ name: 'config', mountPath: '/etc/app', readOnly: true }, { name: 'scratch', mountPath: '/tmp' }],
  readinessProbe: probe('/readyz'),
  securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsNonRoot: true },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File'
})

export const podSpec = (app: string): Record<string, unknown> => ({
  containers: [container('app', 8080), container('proxy', 15001)],
  volumes: [
    { name: 'config', configMap: { name: `${app}-config`, defaultMode: 420 } },
    { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } }
  ],
  serviceAccountName: 'default',
  nodeSelector: { 'example.com/pool': 'general' },
  tolerations: [{ key: 'dedicated', operator: 'Equal', value: app, effect: 'NoSchedule' }],
  terminationGracePeriodSeconds: 30,
  securityContext: { fsGroup: 2000, seccompProfile: { type: 'RuntimeDefault' } },
  priority: 0
})

const running = (name: string, restarts: number): object => ({
  name,
  ready: true,
  started: true,
  restartCount: restarts,
  image: `registry.example.com/team/${name}:v1.42`,
  imageID: `registry.example.com/team/${name}@sha256:${'0123456789abcdef'.repeat(4)}`,
  containerID: `containerd://${'fedcba9876543210'.repeat(4)}`,
  state: { running: { startedAt: WHEN } }
})

export const podStatus = (turn: number): object => ({
  phase: 'Running',
  hostIP: '10.0.12.7',
  podIP: '10.1.4.23',
  podIPs: [{ ip: '10.1.4.23' }],
  startTime: WHEN,
  conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled']
    .map(type => ({ type, status: 'True', lastTransitionTime: WHEN })),
  containerStatuses: [running('app', turn), running('proxy', 0)]
})

const metadata = (name: string): object => ({
  name,
  labels: { app: 'shop', 'pod-template-hash': '5d8f7c9b6d' },
  annotations: { 'example.com/checksum': 'a1b2c3d4', 'example.com/scrape': 'true' }
})

export const pod = (name: string): string => JSON.stringify({ metadata: metadata(name), spec: podSpec('shop') })
export const podWithStatus = (name: string, turn: number): string =>
  JSON.stringify({ metadata: metadata(name), spec: podSpec('shop'), status: podStatus(turn) })

/** The same pod as the template of a type that has two versions. */
export const cronJob = (name: string, turn = 0): string => JSON.stringify({
  metadata: metadata(name),
  spec: {
    schedule: '*/5 * * * *',
    successfulJobsHistoryLimit: 3 + turn,
    jobTemplate: {
      spec: {
        template: { metadata: { labels: { app: 'shop' } }, spec: { ...podSpec('shop'), restartPolicy: 'OnFailure' } }
      }
    }
  }
})
