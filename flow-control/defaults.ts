/**
 * The default priority levels and flow schemas. Two of each are mandatory and apply when nothing else does;
 * administrators may change the others, which are suggestions (see `controllers/flow-control/defaults.ts`).
 */
import type { Gates } from '../schemas/gates.js'
import type {
  FlowSchema, FlowSchemaSpec, PriorityLevelConfiguration, ResourcePolicyRule, Subject
} from '../schemas/api/flowcontrol/v1beta1.js'

export const GROUP = 'flowcontrol.apiserver.orch.io'
const STORED_VERSION = `${GROUP}/v1beta1`
export const EXEMPT = 'exempt'
export const CATCH_ALL = 'catch-all'

const QUEUE_LENGTH = 50
const ALL = ['*']
const LEASES = 'coordination.orch.io'
const SYSTEM = 'orch-system'

type LevelSpec = PriorityLevelConfiguration['spec']
type Rules = NonNullable<FlowSchemaSpec['rules']>

const level = (name: string, spec: LevelSpec): PriorityLevelConfiguration =>
  ({ apiVersion: STORED_VERSION, kind: 'PriorityLevelConfiguration', metadata: { name }, spec, status: {} })

interface Shares { readonly shares: number, /** Percentage of its seats. */ readonly lends: number }

const queued = (
  name: string, { shares, lends }: Shares, queues: number, handSize: number
): PriorityLevelConfiguration =>
  level(name, {
    type: 'Limited', limited: {
      assuredConcurrencyShares: shares,
      lendablePercent: lends,
      limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: QUEUE_LENGTH } }
    }
  })

interface Place { readonly to: string, readonly precedence: number, readonly by?: 'ByUser' | 'ByNamespace' }

const schema = (
  name: string, { to, precedence: matchingPrecedence, by }: Place, rules: Rules
): FlowSchema => ({
  apiVersion: STORED_VERSION,
  kind: 'FlowSchema',
  metadata: { name },
  spec: {
    priorityLevelConfiguration: { name: to }, matchingPrecedence,
    ...(by === undefined ? {} : { distinguisherMethod: { type: by } }), rules
  },
  status: {}
})

const groups = (...names: string[]): Subject[] => names.map(name => ({ kind: 'Group', group: { name } }))
const users = (...names: string[]): Subject[] => names.map(name => ({ kind: 'User', user: { name } }))
const accounts = (...names: string[]): Subject[] =>
  names.map(name => ({ kind: 'ServiceAccount', serviceAccount: { namespace: SYSTEM, name } }))

const resources = (verbs: string[], apiGroup: string, names: string[], clusterScope = false): ResourcePolicyRule =>
  ({ verbs, apiGroups: [apiGroup], resources: names, ...(clusterScope ? { clusterScope } : {}), namespaces: ALL })

const everything = (subjects: Subject[]): Rules =>
  [{
    subjects, resourceRules: [resources(ALL, '*', ALL, true)], nonResourceRules: [
      { verbs: ALL, nonResourceURLs: ALL }
    ]
  }]

const EVERYBODY = groups('system:unauthenticated', 'system:authenticated')
const MASTERS = groups('system:masters')
const NODES = groups('system:nodes')
const MANAGER = users('system:orch-controller-manager')
const SCHEDULER = users('system:orch-scheduler')
const KEEP = ['get', 'create', 'update']

/** What levels lend is left out where the emulated release does not know it. */
export const MANDATORY_LEVELS: readonly PriorityLevelConfiguration[] = [
  level(CATCH_ALL, {
    type: 'Limited',
    limited: { assuredConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } }
  }),
  level(EXEMPT, { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } })
]

export const SUGGESTED_LEVELS: readonly PriorityLevelConfiguration[] = [
  queued('system', { shares: 30, lends: 33 }, 64, 6),
  queued('node-high', { shares: 40, lends: 25 }, 64, 6),
  queued('leader-election', { shares: 10, lends: 0 }, 16, 4),
  queued('workload-high', { shares: 40, lends: 50 }, 128, 6),
  queued('workload-low', { shares: 100, lends: 90 }, 128, 6),
  queued('global-default', { shares: 20, lends: 50 }, 128, 6)
]

export const MANDATORY_SCHEMAS: readonly FlowSchema[] = [
  schema(EXEMPT, { to: EXEMPT, precedence: 1 }, everything(MASTERS)),
  schema(CATCH_ALL, { to: CATCH_ALL, precedence: 10_000, by: 'ByUser' }, everything(EVERYBODY))
]

export const SUGGESTED_SCHEMAS: readonly FlowSchema[] = [
  schema('system-nodes', { to: 'system', precedence: 500, by: 'ByUser' }, everything(NODES)),
  schema('system-node-high', { to: 'node-high', precedence: 400, by: 'ByUser' }, [{
    subjects: NODES,
    resourceRules: [resources(ALL, '', ['nodes', 'nodes/status'], true), resources(ALL, LEASES, ['leases'])]
  }]),
  schema('probes', { to: EXEMPT, precedence: 2 }, [
    { subjects: EVERYBODY, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] }
  ]),
  schema('system-leader-election', { to: 'leader-election', precedence: 100, by: 'ByUser' }, [
    { subjects: [...MANAGER, ...SCHEDULER, ...accounts('*')], resourceRules: [resources(KEEP, LEASES, ['leases'])] }
  ]),
  schema('workload-leader-election', { to: 'leader-election', precedence: 200, by: 'ByUser' }, [{
    subjects: accounts('*'),
    resourceRules: [resources(KEEP, '', ['endpoints', 'configmaps']), resources(KEEP, LEASES, ['leases'])]
  }]),
  // Precedes workload-leader-election, which would treat endpoints as election locks.
  schema('endpoint-controller', { to: 'workload-high', precedence: 150, by: 'ByUser' }, [{
    subjects: [...MANAGER, ...accounts('endpoint-controller', 'endpointslicemirroring-controller')],
    resourceRules: [resources(KEEP, '', ['endpoints'])]
  }]),
  schema('orch-controller-manager', { to: 'workload-high', precedence: 800, by: 'ByNamespace' }, everything(MANAGER)),
  schema('orch-scheduler', { to: 'workload-high', precedence: 800, by: 'ByNamespace' }, everything(SCHEDULER)),
  schema(
    'orch-system-service-accounts', { to: 'workload-high', precedence: 900, by: 'ByNamespace' },
    everything(accounts('*'))
  ),
  schema(
    'service-accounts', { to: 'workload-low', precedence: 9000, by: 'ByUser' },
    everything(groups('system:serviceaccounts'))
  ),
  schema(
    'global-default', { to: 'global-default', precedence: 9900, by: 'ByUser' },
    everything(EVERYBODY)
  )
]

/** Suggested schemas that release 1.36 no longer has. */
const GONE = new Set(['workload-leader-election', 'endpoint-controller'])

/** The suggested schemas of the emulated release. */
export const suggestedSchemas = (gates: Pick<Gates, 'enabled'>): readonly FlowSchema[] =>
  gates.enabled('FairnessLendsSeats')
    ? SUGGESTED_SCHEMAS.filter(({ metadata: { name = '' } }) => !GONE.has(name))
    : SUGGESTED_SCHEMAS
