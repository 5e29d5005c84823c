/**
 * Starts the controllers when the server is ready, and stops them before the store closes. Controllers that readiness
 * depends on register a post-start hook. A failed start, for instance because the store is unavailable, is retried
 * until it succeeds.
 */
import { hostname } from 'node:os'
import type { Controller } from '../../controllers/controller.js'
import { LocalServices } from '../../controllers/aggregation/local-services.js'
import { Definitions } from '../../controllers/custom/definitions.js'
import { NamespaceDefaults } from '../../controllers/namespace-defaults.js'
import { NamespaceController } from '../../controllers/namespaces.js'
import type { RootCA } from '../../controllers/root-ca.js'
import { ResourceQuotas } from '../../controllers/resource-quotas.js'
import { SystemNamespaces } from '../../controllers/system-namespaces.js'
import { SystemPriorityClasses } from '../../controllers/system-priority-classes.js'
import type { StorageVersions } from '../../controllers/storage-versions.js'
import type { Leadership } from '../../controllers/leadership.js'
import type { IdentitySettings } from '../../controllers/identity-lease.js'
import type { OwnServiceSettings } from '../../controllers/services/own-service.js'
import { publishesStorageVersions } from '../../schemas/api/internal/published.js'
import { failureFields } from '../../storage/errors.js'
import { withoutRepeats } from '../shared/repeated-failures.js'
import { observeQueues } from './queue-metrics.js'
import { plugin } from '../../answers/server.js'

const RETRY_MS = 1000
const STORAGE_VERSIONS_HOOK = 'built-in-resources-storage-version-updater'
/** Maximum milliseconds to wait for controllers at shutdown, in case the store is unavailable. */
const MAX_CLOSING_MS = 1000

export interface ControllersOptions {
  readonly rootCA?: RootCA | undefined
  /** Default none. */
  readonly orchService?: OwnServiceSettings | undefined
  /** Default this process alone. */
  readonly leadership?: Leadership | undefined
  /** Keeps the status of resource quotas up to date. Default true. */
  readonly quotas?: boolean | undefined
  /** Deletes objects whose owners are gone. Default false. */
  readonly collectGarbage?: boolean | undefined
  /** Default none. */
  readonly identityLease?: IdentitySettings | undefined
}

interface Started {
  /** Name of its post-start hook; none if readiness does not depend on it. */
  readonly name?: string
  /** Failure message for the log. */
  readonly task: string
  readonly controllers: readonly Controller[]
  /** Name of the post-start hook to await first. */
  readonly after?: string
  /** Each process of a server runs it: it keeps in memory what requests need. Default: the one that leads. */
  readonly everywhere?: true
}

export default plugin<ControllersOptions>()(async (
  fastify, { rootCA, orchService, leadership, identityLease, quotas = true, collectGarbage = false }
) => {
  const { orchResources: resources, orchHealth: health, orchServices: allocation, orchSettings: settings } = fastify
  const { featureGates, disabledApis, naming } = settings
  const log = withoutRepeats((message, error) => { fastify.log.warn(failureFields(error), message) })
  const options = { resources, log, observeQueue: observeQueues(fastify.orchMetrics) }
  const own: Controller[] = [new NamespaceController({ ...options, remote: fastify.orchAggregation.contents })]
  if (orchService !== undefined) {
    if (allocation === undefined) {
      throw new TypeError(
        'the option orchService needs services beside it: the service gets the first address of their range'
      )
    }
    const { OwnService } = await import('../../controllers/services/own-service.js')
    own.push(new OwnService({ ...options, ...orchService, allocation, leaving: fastify.orchShutdown.leaving }))
  }
  const first: Controller[] = [
    new SystemNamespaces({ ...options, more: orchService?.namespace === undefined ? [] : [orchService.namespace] })
  ]
  const all: Started[] = [
    { name: 'bootstrap-system-namespaces', task: 'the namespaces of the cluster could not be made', controllers: first }
  ]
  const lease = identityLease === undefined
    ? undefined
    : new (await import('../../controllers/identity-lease.js')).IdentityLease({
        ...options, ...identityLease, clock: fastify.orchClock
      }, featureGates.enabled('LeaseHasHostname') ? { hostname: hostname() } : undefined)
  let storageVersions: StorageVersions | undefined
  if (lease !== undefined && publishesStorageVersions(featureGates, disabledApis)) {
    storageVersions = new (await import('../../controllers/storage-versions.js')).StorageVersions({
      ...options, identity: lease.identity
    })
    first.push(lease)
    all.push(
      {
        name: STORAGE_VERSIONS_HOOK, task: 'the storage versions could not be published',
        after: 'bootstrap-system-namespaces', controllers: [storageVersions]
      },
      {
        name: 'bootstrap-controller', task: 'the namespaces and the service orch could not be reconciled',
        controllers: own
      }
    )
  } else first.push(...own, ...lease === undefined ? [] : [lease])
  fastify.decorate('orchStorageVersions', storageVersions)
  all.push(
    {
      name: 'scheduling/bootstrap-system-priority-classes',
      task: 'the priority classes of the system could not be made', controllers: [new SystemPriorityClasses(options)]
    },
    ...quotas ? [{ task: 'the quotas could not be reconciled', controllers: [new ResourceQuotas(options)] }] : [],
    {
      everywhere: true, name: 'crd-informer-synced', task: 'custom resources could not be served', controllers: [
        new Definitions({ ...options, caller: fastify.orchConversionCaller, gates: featureGates })
      ]
    },
    {
      everywhere: true, name: 'apiservice-registration-controller', task: 'APIServices could not be followed',
      after: 'crd-informer-synced', controllers: fastify.orchAggregation.controllers
    },
    {
      task: 'the APIServices of the own groups could not be made', after: 'crd-informer-synced', controllers: [
        new LocalServices(options)
      ]
    },
    {
      task: 'the defaults of namespaces could not be made', controllers: [
        new NamespaceDefaults({ ...options, rootCA })
      ]
    }
  )
  if (featureGates.enabled('ValidatingAdmissionPolicy')) {
    const { PolicyStatus } = await import('../../controllers/policy-status.js')
    all.push({ task: 'the policies could not be checked', controllers: [new PolicyStatus({ ...options, naming })] })
  }
  if (featureGates.enabled('LegacyServiceAccountTokenTracking')) {
    const { TokenTracking } = await import('../../controllers/token-tracking.js')
    all.push({
      task: 'the config map about tokens could not be made', after: 'bootstrap-system-namespaces',
      controllers: [new TokenTracking({ ...options, clock: fastify.orchClock })]
    })
  }
  const { published, tokens: { signer, certificateAuthority } } = fastify.orchAuthentication
  if (signer !== undefined) {
    const { TokenSecrets } = await import('../../controllers/token-secrets.js')
    all.push({
      task: 'the Secrets of tokens could not be reconciled',
      controllers: [new TokenSecrets({ ...options, tokens: { signer, certificateAuthority } })]
    })
  }
  if (fastify.orchAuthorization.rbac !== undefined) {
    const [{ DefaultRoles }, { RoleAggregation }] = await Promise
      .all([import('../../controllers/rbac/default-roles.js'), import('../../controllers/rbac/aggregation.js')])
    const controllers = [new RoleAggregation(options), new DefaultRoles({ ...options, naming })]
    all.push({ name: 'rbac/bootstrap-roles', task: 'the default roles could not be made', controllers })
  }
  const { orchFlowControl: flowControl } = fastify
  if (flowControl !== undefined) {
    const [{ FlowConfiguration }, { FlowDefaults }] = await Promise.all([
      import('../../controllers/flow-control/configuration.js'), import('../../controllers/flow-control/defaults.js')
    ])
    all.push(
      {
        everywhere: true, name:
          'priority-and-fairness-config-consumer', task: 'priority and fairness could not be configured', controllers: [
          new FlowConfiguration(options, flowControl)
        ]
      },
      {
        name: 'priority-and-fairness-config-producer', task: 'the defaults of priority and fairness could not be made',
        controllers: [new FlowDefaults(options)]
      }
    )
    health.postStart('priority-and-fairness-filter', Promise.resolve()) // in effect since the first request
  }
  if (published !== undefined) {
    const { AuthenticationPublisher } = await import('../../controllers/published-authentication.js')
    all.push({
      name: 'start-cluster-authentication-info-controller', task: 'the authorities of clients could not be published',
      after: 'bootstrap-system-namespaces', controllers: [new AuthenticationPublisher(options, published)]
    })
  }
  if (collectGarbage) {
    const { garbageCollector } = await import('./garbage-collection.js')
    const note = (text: string): void => { fastify.log.warn(text) }
    all.push({
      task: 'garbage could not be collected', after: 'apiservice-registration-controller',
      controllers: [garbageCollector(fastify, { ...options, note })]
    })
  }
  if (allocation !== undefined) {
    const { ServiceRepair } = await import('../../controllers/services/repair.js')
    const note = (text: string): void => { fastify.log.warn(text) }
    all.push({
      task: 'the addresses and node ports of services could not be checked',
      controllers: [new ServiceRepair({ ...options, allocation, note })]
    })
    if (featureGates.enabled('MultiCIDRServiceAllocator')) {
      all.push(...(await import('./service-ranges.js')).serviceRanges({
        ...options, allocation, note, clock: fastify.orchClock
      }))
    }
  }
  const closing = new AbortController()

  const start = async ({ controllers, task }: Started): Promise<void> => {
    let failed = false
    for (const controller of controllers) {
      for (let started = false; !started;) {
        if (closing.signal.aborted) return
        try {
          await controller.start()
          started = true
        } catch (error) {
          if (closing.signal.aborted) return
          if (!failed) log(`${task}, retrying`, error)
          failed = true
          await new Promise(resolve => { setTimeout(resolve, RETRY_MS).unref() })
        }
      }
    }
  }

  fastify.addHook('onReady', done => {
    const hooks = new Map<string, Promise<void>>()
    const awaited: Array<Promise<void>> = []
    for (const controller of all) {
      // With the gate, only the namespaces and the lease are written before the storage versions.
      const before = [controller.after ?? '', STORAGE_VERSIONS_HOOK].flatMap(name => hooks.get(name) ?? [])
      if (leadership !== undefined && controller.everywhere !== true) before.push(leadership.elected)
      const started = before.length === 0 ? start(controller) : Promise.all(before).then(() => start(controller))
      if (controller.name === undefined) continue
      awaited.push(started)
      const finished = leadership === undefined || controller.everywhere === true
        ? started
        : Promise.race([started, leadership.led])
      hooks.set(controller.name, finished)
      health.postStart(controller.name, finished)
    }
    if (leadership !== undefined) {
      void Promise.all(awaited).then(() => { if (!closing.signal.aborted) leadership.lead() })
    }
    done()
  })

  fastify.addHook('onClose', async () => {
    closing.abort()
    const closed = Promise.all(all.flatMap(({ controllers }) => controllers.map(controller => controller.close())))
    let timer: NodeJS.Timeout | undefined
    await Promise.race([closed, new Promise(resolve => { timer = setTimeout(resolve, MAX_CLOSING_MS) })])
    clearTimeout(timer)
  })
}, {
  name: 'orch/controllers',
  fastify: '5.x',
  decorators: {
    fastify: [
      'orchAggregation', 'orchAuthentication', 'orchAuthorization', 'orchClock', 'orchConversionCaller', 'orchHealth',
      'orchMetrics', 'orchResources', 'orchServices', 'orchSettings', 'orchShutdown'
    ]
  }
})
