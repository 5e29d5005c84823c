/** The definitions and objects in `test/data`, and what the test does with the object of each kind. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import type { Json } from '../build.js'

export const DEFINITIONS = fileURLToPath(new URL('../../../test/data/definitions', import.meta.url))
export const OBJECTS = fileURLToPath(new URL('../../../test/data/objects.yaml', import.meta.url))

const documents = (path: string): Json[] => parseAllDocuments(readFileSync(path, 'utf8'), {
  version: '1.1', merge: true
}).map(document => document.toJS({ maxAliasCount: -1 }) as Json)

export const definitions: readonly Json[] =
  readdirSync(DEFINITIONS).flatMap(name => documents(`${DEFINITIONS}/${name}`))
export const objects: readonly Json[] = documents(OBJECTS)

export const definitionOf = (kind: string): Json => definitions.find(({ spec }) => spec.names.kind === kind) ?? {}

/** The path of the collection in the version of an object. */
export function pathOf ({ apiVersion, kind }: Json): string {
  const { scope, names } = definitionOf(kind).spec
  return `/apis/${apiVersion}/${scope === 'Namespaced' ? 'namespaces/default/' : ''}${names.plural}`
}

export interface Play {
  /** A nested field to explain, and its type. */
  readonly explain: readonly [path: string, type: string]
  /** What its controller would report. */
  readonly status?: Json
  /** Its row in the wide table without the name; parts are separated by spaces. */
  readonly row: string
  /** Text for an editor to replace, and its replacement. */
  readonly edit: readonly [from: string, to: string]
  /** What another manager applies in addition, and the field on which it conflicts. */
  readonly conflict: readonly [spec: Json, field: string]
  /** The replicas before and after, and their field. */
  readonly scale?: readonly [from: number, to: number, field: string]
}

const AGE = '\\d+s'
const NONE = '(?:<none>)?'
const time = '2024-05-06T07:08:09Z'
const condition = (type: string, status = 'True', more: Json = {}): Json => ({
  type, status, reason: 'Done', message: 'it is', lastTransitionTime: time, ...more
})
const conditions = (...types: string[]): Json => ({ conditions: types.map(type => condition(type)) })

const PLAYS: Readonly<Record<string, Play>> = {
  Certificate: {
    explain: ['spec.privateKey.algorithm', 'string'],
    status: { conditions: [condition('Issuing', 'False'), condition('Ready')], notAfter: time, revision: 1 },
    row: `True shop-tls letters it is ${AGE}`,
    edit: ['algorithm: ECDSA', 'algorithm: RSA'], conflict: [{ duration: '24h' }, '.spec.duration']
  },
  Issuer: {
    explain: ['spec.acme.solvers.http01.ingress.class', 'string'],
    status: { ...conditions('Ready'), acme: { uri: 'x' } },
    row: `True it is ${AGE}`,
    edit: ['class: nginx', 'class: other'],
    conflict: [{ acme: { email: 'a@example.com' } }, '.spec.acme.email']
  },
  CertificateRequest: {
    explain: ['spec.extra', 'map[string][]string'],
    status: { ...conditions('Approved', 'Ready'), certificate: 'eA==' },
    row: `True True letters robot ${AGE}`,
    edit: ['username: robot', 'username: other'],
    conflict: [{ groups: ['other'] }, '.spec.groups']
  },
  GatewayClass: {
    explain: ['spec.parametersRef.kind', 'string'],
    status: conditions('Accepted'),
    row: `gateways.example.com/controller True ${AGE} The usual one`,
    edit: ['The usual one', 'Another one'],
    conflict: [{ controllerName: 'example.com/other' }, '.spec.controllerName']
  },
  Gateway: {
    explain: ['spec.listeners.allowedRoutes.namespaces.from', 'string'],
    status: {
      ...conditions('Programmed'), addresses: [{ value: '192.0.2.1' }, { type: 'Hostname', value: 'gate.example.com' }]
    },
    row: `one 192.0.2.1 True ${AGE}`,
    edit: ['port: 443', 'port: 8443'],
    conflict: [{ listeners: [{ name: 'http', port: 81, protocol: 'HTTP' }] }, '.spec.listeners[name="http"].port']
  },
  HTTPRoute: {
    explain: ['spec.rules.backendRefs.weight', 'integer'],
    status: { parents: [{ controllerName: 'x', parentRef: { name: 'one' } }] },
    row: `["shop.example.com"] ${AGE}`,
    edit: ['weight: 9', 'weight: 8'],
    conflict: [{ hostnames: ['other.example.com'] }, '.spec.hostnames']
  },
  Prometheus: {
    explain: ['spec.remoteWrite.writeRelabelConfigs.sourceLabels', '[]string'],
    status: {
      ...conditions('Reconciled', 'Available'),
      availableReplicas: 2,
      paused: false,
      replicas: 2,
      shards: 1,
      selector: 'app=prometheus',
      unavailableReplicas: 0,
      updatedReplicas: 2
    },
    row: `v2.45.0 2 2 True True ${AGE} false`, edit: ['containerPort: 80', 'containerPort: 81'],
    conflict: [{ resources: { requests: { cpu: '2' } } }, '.spec.resources.requests.cpu'], scale: [1, 3, 'spec.shards']
  },
  ServiceMonitor: {
    explain: ['spec.endpoints.params', 'map[string][]string'],
    row: AGE,
    edit: ['interval: 30s', 'interval: 1m'],
    conflict: [{ selector: { matchLabels: { app: 'other' } } }, '.spec.selector']
  },
  PrometheusRule: {
    explain: ['spec.groups.rules.labels', 'map[string]string'],
    row: AGE,
    edit: ['for: 10m', 'for: 5m'],
    conflict: [{ groups: [{ name: 'shop', interval: '2m' }] }, '.spec.groups[name="shop"].interval']
  },
  Workflow: {
    explain: ['metadata.name', 'string'],
    status: { phase: 'Running', startedAt: time, message: 'goes on' },
    row: 'Running \\S+ goes on',
    edit: ['value: hello', 'value: bye'],
    conflict: [{ entrypoint: 'other' }, '.spec']
  },
  CronWorkflow: {
    explain: ['spec.workflowSpec.templates.dag.tasks.arguments.parameters.enum', '[]string'],
    status: { active: [], conditions: [], lastScheduledTime: time },
    row: AGE,
    edit: ['factor: 2', 'factor: "3"'],
    conflict: [{ schedule: '0 0 * * *' }, '.spec.schedule']
  },
  Application: {
    explain: ['spec.source.helm.parameters.forceString', 'boolean'],
    status: { sync: { status: 'Synced', revision: 'abc' }, health: { status: 'Healthy' } },
    row: 'Synced Healthy abc shop',
    edit: ['count: 3', 'count: "4"'],
    conflict: [{ source: { targetRevision: 'main' } }, '.spec.source.targetRevision']
  },
  Kustomization: {
    explain: ['spec.postBuild.substituteFrom.optional', 'boolean'],
    status: { ...conditions('Ready'), observedGeneration: 1 },
    row: `${AGE} True it is`,
    edit: ['colour: red', 'colour: green'],
    conflict: [{ prune: false }, '.spec.prune']
  },
  VirtualService: {
    explain: ['spec.http.route.destination.port.number', 'integer'],
    status: { anything: [1, { goes: true }] },
    row: `["gate","mesh"] ["shop.example.com"] ${AGE}`,
    edit: ['fixedDelay: 5s', 'fixedDelay: 1s'],
    conflict: [{ hosts: ['other.example.com'] }, '.spec.hosts']
  },
  DestinationRule: {
    explain: ['spec.trafficPolicy.loadBalancer.consistentHash.httpCookie.ttl', 'string'],
    status: { observed: 1 },
    row: `cart ${AGE}`,
    edit: ['simple: LEAST_CONN', 'simple: RANDOM'],
    conflict: [{ host: 'other' }, '.spec.host']
  },
  Cluster: {
    explain: ['spec.postgresql.parameters', 'map[string]string'],
    status: {
      instances: 3,
      readyInstances: 3,
      phase: 'Healthy',
      currentPrimary: 'one-1',
      topology: { instances: { 'one-1': { zone: 'a' } } }
    },
    row: `${AGE} 3 3 Healthy one-1`,
    edit: ['max_connections: "200"', 'max_connections: "300"'],
    conflict: [{ imageName: 'postgres:16.0' }, '.spec.imageName'], scale: [3, 5, 'spec.instances']
  },
  KafkaTopic: {
    explain: ['spec.partitions', 'integer'],
    status: conditions('Ready'),
    row: 'main 3 1 True',
    edit: ['segment.bytes: 1073741824', 'segment.bytes: "1G"'],
    conflict: [{ config: { 'retention.ms': 1 } }, '.spec.config.retention.ms']
  },
  VolumeSnapshot: {
    explain: ['spec.source.persistentVolumeClaimName', 'string'],
    status: { readyToUse: true, restoreSize: 1024, boundVolumeSnapshotContentName: 'content', creationTime: time },
    row: `true uploads ${NONE} 1024 fast content \\d+\\w+ ${AGE}`,
    edit: ['persistentVolumeClaimName: uploads', 'persistentVolumeClaimName: other'],
    conflict: [{ volumeSnapshotClassName: 'slow' }, '.spec.volumeSnapshotClassName']
  },
  ScaledObject: {
    explain: ['spec.triggers.metadata', 'map[string]string'],
    status: { ...conditions('Ready', 'Active'), scaleTargetKind: 'apps/v1.Deployment', triggersTypes: 'kafka,cron' },
    row: `apps/v1.Deployment worker 0 20 True True kafka,cron ${AGE}`,
    edit: ['value: 50', 'value: 40'],
    conflict: [{ maxReplicaCount: 5 }, '.spec.maxReplicaCount']
  },
  ClusterPolicy: {
    explain: ['spec.rules.match.any.resources.selector.matchLabels', 'map[string]string'],
    status: { ...conditions('Ready'), rulecount: { generate: 1, mutate: 0, validate: 1, verifyimages: 0 } },
    row: `true true Audit True ${AGE} 1`,
    edit: ['pods: 4', 'pods: 5'],
    conflict: [{ validationFailureAction: 'Enforce' }, '.spec.validationFailureAction']
  },
  ExternalSecret: {
    explain: ['spec.dataFrom.find.name.regexp', 'string'],
    status: { ...conditions('Ready'), refreshTime: time },
    row: 'vault 15m Done True',
    edit: ['engineVersion: v2', 'engineVersion: v1'],
    conflict: [{ refreshInterval: '1h' }, '.spec.refreshInterval']
  }
}

export function playOf (kind: string): Play {
  const play = PLAYS[kind]
  if (play === undefined) throw new Error(`nothing is said about ${kind}`)
  return play
}
