/** The controllers that make what every cluster has: its namespaces, the service of the API, the server's own lease. */
import { hostname } from 'node:os'
import { NamespaceController } from '../../controllers/namespaces.js'
import { SystemNamespaces } from '../../controllers/system-namespaces.js'
import type { Controller } from '../../controllers/controller.js'
import type { IdentityLease, IdentitySettings } from '../../controllers/identity-lease.js'
import type { OwnServiceSettings } from '../../controllers/services/own-service.js'
import type { StorageVersions } from '../../controllers/storage-versions.js'
import { publishesStorageVersions } from '../../schemas/api/internal/published.js'
import { NAMESPACES_HOOK, type Options, type Server } from './starts.js'
import type { Started } from './start-in-order.js'

/** With the gate StorageVersionAPI, only the namespaces and the lease are written before the storage versions. */
export const STORAGE_VERSIONS_HOOK = 'built-in-resources-storage-version-updater'

export interface BootstrapSettings {
  /** Default none. */
  readonly orchService?: OwnServiceSettings | undefined
  /** Default none. */
  readonly identityLease?: IdentitySettings | undefined
}

export interface Bootstrap {
  readonly starts: readonly Started[]
  readonly storageVersions: StorageVersions | undefined
}

export async function bootstrap (server: Server, options: Options, settings: BootstrapSettings): Promise<Bootstrap> {
  const { orchService } = settings
  const more = orchService?.namespace === undefined ? [] : [orchService.namespace]
  const own = [
    new NamespaceController({ ...options, remote: server.orchAggregation.contents }),
    ...await ownService(server, options, orchService)
  ]
  const lease = await identityLease(server, options, settings)
  const storageVersions = await storageVersionsOf(server, options, lease)
  const namespaces = (controllers: readonly Controller[]): Started => ({
    name: NAMESPACES_HOOK, task: 'the namespaces of the cluster could not be made',
    controllers: [new SystemNamespaces({ ...options, more }), ...controllers]
  })
  const leases = lease === undefined ? [] : [lease]
  if (storageVersions === undefined) return { starts: [namespaces([...own, ...leases])], storageVersions }
  return {
    storageVersions,
    starts: [
      namespaces(leases),
      {
        name: STORAGE_VERSIONS_HOOK, task: 'the storage versions could not be published', after: NAMESPACES_HOOK,
        controllers: [storageVersions]
      },
      {
        name: 'bootstrap-controller', task: 'the namespaces and the service orch could not be reconciled',
        controllers: own
      }
    ]
  }
}

async function ownService (
  { orchServices: allocation, orchShutdown: { leaving } }: Server, options: Options,
  settings: OwnServiceSettings | undefined
): Promise<Controller[]> {
  if (settings === undefined) return []
  if (allocation === undefined) {
    throw new TypeError(
      'the option orchService needs services beside it: the service gets the first address of their range'
    )
  }
  const { OwnService } = await import('../../controllers/services/own-service.js')
  return [new OwnService({ ...options, ...settings, allocation, leaving })]
}

async function identityLease (
  { orchClock: clock, orchSettings: { featureGates } }: Server, options: Options,
  { identityLease: settings }: BootstrapSettings
): Promise<IdentityLease | undefined> {
  if (settings === undefined) return undefined
  const { IdentityLease } = await import('../../controllers/identity-lease.js')
  const labels = featureGates.enabled('LeaseHasHostname') ? { hostname: hostname() } : undefined
  return new IdentityLease({ ...options, ...settings, clock }, labels)
}

async function storageVersionsOf (
  { orchSettings: { featureGates, disabledApis } }: Server, options: Options, lease: IdentityLease | undefined
): Promise<StorageVersions | undefined> {
  if (lease === undefined || !publishesStorageVersions(featureGates, disabledApis)) return undefined
  const { StorageVersions } = await import('../../controllers/storage-versions.js')
  return new StorageVersions({ ...options, identity: lease.identity })
}
