/** Which controllers run, in the order in which they start. Modules of optional ones load when they are used. */
import { LocalServices } from '../../controllers/aggregation/local-services.js'
import { Definitions } from '../../controllers/custom/definitions.js'
import { ruleMetrics } from './rule-metrics.js'
import { NamespaceDefaults } from '../../controllers/namespace-defaults.js'
import { ResourceQuotas } from '../../controllers/resource-quotas.js'
import { SystemPriorityClasses } from '../../controllers/system-priority-classes.js'
import type { ControllerOptions } from '../../controllers/controller.js'
import type { RootCA } from '../../controllers/root-ca.js'
import type { ObserveQueue } from '../../controllers/work-queue.js'
import type { Having } from '../shared/plugin.js'
import type { Started } from './start-in-order.js'

/** What controllers are made of. */
export const NEEDS = [
  'orchAggregation', 'orchAuthentication', 'orchAuthorization', 'orchClock', 'orchConversionCaller', 'orchHealth',
  'orchMetrics', 'orchResources', 'orchServices', 'orchSettings', 'orchShutdown'
] as const
export type Server = Having<typeof NEEDS[number]>
export type Options = Pick<ControllerOptions, 'resources' | 'log'> & { readonly observeQueue: ObserveQueue }

export interface StartsSettings {
  readonly rootCA?: RootCA | undefined
  /** Keeps the status of resource quotas up to date. Default true. */
  readonly quotas?: boolean | undefined
  /** Deletes objects whose owners are gone. Default false. */
  readonly collectGarbage?: boolean | undefined
}

export const NAMESPACES_HOOK = 'bootstrap-system-namespaces'
const DEFINITIONS_HOOK = 'crd-informer-synced'
const SERVICES_HOOK = 'apiservice-registration-controller'

/** Those that start after `bootstrap.ts`. */
export async function starts (server: Server, options: Options, settings: StartsSettings): Promise<Started[]> {
  const optional = await Promise.all([
    policies(server, options), tokens(server, options), roles(server, options), flowControl(server, options),
    published(server, options), settings.collectGarbage === true ? garbage(server, options) : [],
    services(server, options)
  ])
  return [...always(server, options, settings), ...optional.flat()]
}

function always (server: Server, options: Options, { rootCA, quotas = true }: StartsSettings): Started[] {
  const { orchConversionCaller: caller, orchSettings: { featureGates: gates }, orchAggregation: { controllers } } =
    server
  const observeRules = gates.enabled('MetricsHaveLaterStages') ? ruleMetrics(server.orchMetrics) : undefined
  return [
    {
      name: 'scheduling/bootstrap-system-priority-classes',
      task: 'the priority classes of the system could not be made', controllers: [new SystemPriorityClasses(options)]
    },
    ...quotas ? [{ task: 'the quotas could not be reconciled', controllers: [new ResourceQuotas(options)] }] : [],
    {
      everywhere: true, name: DEFINITIONS_HOOK, task: 'custom resources could not be served',
      controllers: [new Definitions({ ...options, caller, gates, observeRules })]
    },
    {
      everywhere: true, name: SERVICES_HOOK, task: 'APIServices could not be followed', after: DEFINITIONS_HOOK,
      controllers
    },
    {
      task: 'the APIServices of the own groups could not be made', after: DEFINITIONS_HOOK,
      controllers: [new LocalServices(options)]
    },
    {
      task: 'the defaults of namespaces could not be made',
      controllers: [new NamespaceDefaults({ ...options, rootCA })]
    }
  ]
}

async function policies (
  { orchSettings: { featureGates, outside: { group: named } } }: Server, options: Options
): Promise<Started[]> {
  if (!featureGates.enabled('ValidatingAdmissionPolicy')) return []
  const { PolicyStatus } = await import('../../controllers/policy-status.js')
  return [{
    task: 'the policies could not be checked', controllers: [new PolicyStatus({ ...options, named })]
  }]
}

async function tokens (
  { orchSettings: { featureGates }, orchClock: clock, orchAuthentication }: Server, options: Options
): Promise<Started[]> {
  const all: Started[] = []
  if (featureGates.enabled('LegacyServiceAccountTokenTracking')) {
    const { TokenTracking } = await import('../../controllers/token-tracking.js')
    all.push({
      task: 'the config map about tokens could not be made', after: NAMESPACES_HOOK,
      controllers: [new TokenTracking({ ...options, clock })]
    })
  }
  const { signer, certificateAuthority } = orchAuthentication.tokens
  if (signer !== undefined) {
    const { TokenSecrets } = await import('../../controllers/token-secrets.js')
    all.push({
      task: 'the Secrets of tokens could not be reconciled',
      controllers: [new TokenSecrets({ ...options, tokens: { signer, certificateAuthority } })]
    })
  }
  return all
}

async function roles (
  { orchAuthorization, orchSettings: { outside: { ofComponents: namesOf } } }: Server, options: Options
): Promise<Started[]> {
  if (orchAuthorization.rbac === undefined) return []
  const [{ DefaultRoles }, { RoleAggregation }] = await Promise.all([
    import('../../controllers/rbac/default-roles.js'), import('../../controllers/rbac/aggregation.js')
  ])
  return [{
    name: 'rbac/bootstrap-roles', task: 'the default roles could not be made',
    controllers: [new RoleAggregation(options), new DefaultRoles({ ...options, namesOf })]
  }]
}

async function flowControl (server: Server, options: Options): Promise<Started[]> {
  const { orchFlowControl } = server
  if (orchFlowControl === undefined) return []
  const [{ FlowConfiguration }, { FlowDefaults }] = await Promise.all([
    import('../../controllers/flow-control/configuration.js'), import('../../controllers/flow-control/defaults.js')
  ])
  server.orchHealth.postStart('priority-and-fairness-filter', Promise.resolve()) // in effect since the first request
  return [
    {
      everywhere: true, name: 'priority-and-fairness-config-consumer',
      task: 'priority and fairness could not be configured',
      controllers: [new FlowConfiguration(options, orchFlowControl)]
    },
    {
      name: 'priority-and-fairness-config-producer', task: 'the defaults of priority and fairness could not be made',
      controllers: [new FlowDefaults(options)]
    }
  ]
}

async function published ({ orchAuthentication: { published } }: Server, options: Options): Promise<Started[]> {
  if (published === undefined) return []
  const { AuthenticationPublisher } = await import('../../controllers/published-authentication.js')
  return [{
    name: 'start-cluster-authentication-info-controller', task: 'the authorities of clients could not be published',
    after: NAMESPACES_HOOK, controllers: [new AuthenticationPublisher(options, published)]
  }]
}

async function garbage (server: Server, options: Options): Promise<Started[]> {
  const { garbageCollector } = await import('./garbage-collection.js')
  return [{
    task: 'garbage could not be collected', after: SERVICES_HOOK,
    controllers: [garbageCollector(server, { ...options, note: noteOf(server) })]
  }]
}

async function services (server: Server, options: Options): Promise<Started[]> {
  const { orchServices: allocation, orchSettings: { featureGates }, orchClock: clock } = server
  if (allocation === undefined) return []
  const { ServiceRepair } = await import('../../controllers/services/repair.js')
  const note = noteOf(server)
  const repair: Started = {
    task: 'the addresses and node ports of services could not be checked',
    controllers: [new ServiceRepair({ ...options, allocation, note })]
  }
  if (!featureGates.enabled('MultiCIDRServiceAllocator')) return [repair]
  const { serviceRanges } = await import('./service-ranges.js')
  return [repair, ...serviceRanges({ ...options, allocation, note, clock })]
}

const noteOf = ({ log }: Server) => (text: string): void => { log.warn(text) }
