/**
 * Says that nothing runs here, on a server that is meant to be alone (`--local`): clients that create what a
 * controller manager acts on would wait for ever. Each gets one Warning for each kind, with the created object, as
 * long as neither the lease of a controller manager nor a request of its user has been seen lately. Dry runs create
 * nothing. Registered after authentication.
 */
import { served, type ServedRequest } from '../answers/request-context.js'
import { plugin } from './shared/plugin.js'
import { warn } from '../answers/heads.js'
import { LEADERS, renewedWithin } from '../controllers/controller-manager.js'

export interface StandaloneOptions {
  /** Default false: nothing is said. */
  readonly standalone?: boolean | undefined
}

export interface Standalone {
  /** Whether no controller manager has been seen lately. */
  readonly isAlone: () => Promise<boolean>
}

const LATELY_MS = 5 * 60_000
const USERS: ReadonlySet<string> = new Set(LEADERS.map(name => `system:${name}`))
/** Maximum of remembered clients and kinds; beyond it all are warned again. */
const MAX_TOLD = 1000
const MAX_AGENT = 200
const CREATED = 201

/** What a controller manager acts on, by group and resource. */
const KINDS: ReadonlyMap<string, string> = new Map(Object.entries({
  '/pods': 'Pod', '/replicationcontrollers': 'ReplicationController', 'apps/daemonsets': 'DaemonSet',
  'apps/deployments': 'Deployment', 'apps/replicasets': 'ReplicaSet', 'apps/statefulsets': 'StatefulSet',
  'autoscaling/horizontalpodautoscalers': 'HorizontalPodAutoscaler', 'batch/cronjobs': 'CronJob', 'batch/jobs': 'Job',
  'certificates.orch.io/certificatesigningrequests': 'CertificateSigningRequest'
}))

const sentence = (kind: string): string =>
  `nothing runs here: the ${kind} is stored, but no controller manager has been seen that would act on it`

export default plugin<StandaloneOptions>()(async (fastify, { standalone = false }) => {
  const { orchClock: clock, orchResources: resources } = fastify
  const told = new Set<string>()
  let seenAt = -Infinity
  const isAlone = async (): Promise<boolean> =>
    clock.wall() - seenAt > LATELY_MS && !await renewedWithin(LATELY_MS, { resources, clock })
  fastify.decorate('orchStandalone', standalone ? { isAlone } : undefined)
  if (!standalone) return

  /** Remembers that the client is warned. */
  const isNew = ({ orch: { user, info }, headers }: ServedRequest): boolean => {
    const agent = (headers['user-agent'] ?? '').slice(0, MAX_AGENT)
    const client = `${info.group}/${info.resource} ${user?.username ?? ''} ${agent}`
    if (told.has(client)) return false
    if (told.size >= MAX_TOLD) told.clear()
    told.add(client)
    return true
  }

  fastify.addHook('onRequest', (request, _reply, done) => {
    if (USERS.has(served(request).orch.user?.username ?? '')) seenAt = clock.wall()
    done()
  })
  fastify.addHook('onSend', async (arrived, reply) => {
    const { orch } = arrived
    if (reply.statusCode !== CREATED || orch === undefined || orch.dryRun || orch.info.subresource !== '') return
    const kind = KINDS.get(`${orch.info.group}/${orch.info.resource}`)
    const request = served(arrived)
    if (kind === undefined || !await isAlone() || !isNew(request)) return
    orch.warnings.push(sentence(kind))
    warn(reply, orch.warnings, orch)
  })
}, {
  name: 'orch/standalone',
  fastify: '5.x',
  dependencies: ['orch/authorization'],
  decorators: { fastify: ['orchClock', 'orchResources'], request: ['orch'] }
})
