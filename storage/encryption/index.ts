/** Encryption at rest: encrypts the values of configured resources in front of any back end. */
import { applyDefaults } from '../../schemas/language/defaults.js'
import {
  DEFAULT_CACHE, EncryptionConfiguration, protocolOf, timeoutMs, type EncryptionOptions
} from '../../schemas/api/apiserver/encryption.js'
import type { Backend } from '../backend.js'
import type { Cipher } from './cipher.js'
import { encryptedBackend } from './encrypted-backend.js'
import { formsOf, type StoredForm, type KeyServiceConfiguration } from './forms.js'
import { cachedCheck } from './health.js'
import type { KeyService } from './key-service.js'
import type { SeedService, SeedServiceOptions } from './key-service-v2.js'
import { UNOBSERVED, type TransformationObserver } from './observer.js'
import { providers, type Providers } from './providers.js'

export interface Encryption {
  /** The back end of a resource, with its encryption if it has any. */
  readonly of: (group: string, plural: string, backend: Backend) => Backend
  /** Health checks of key services, in order of configuration; one for all where the configuration changes. */
  readonly checks: ReadonlyArray<{ readonly name: string, readonly check: () => Promise<void> }>
  /** Uses another configuration, which is validated. Rejects where it cannot be opened; then nothing has changed. */
  readonly replace: (given: EncryptionOptions) => Promise<void>
  readonly close: () => void
}

/** @param given validated options @param changes whether `replace` will be called */
export async function openEncryption (
  given: EncryptionOptions, observer: TransformationObserver = UNOBSERVED, changes = false
): Promise<Encryption> {
  let current = await opened(given, observer)
  /** Calls of its key services may be under way until the next change. */
  let before: Opened | undefined
  const plain = providers(await formsOf({ identity: {} }, unused), observer)
  const checkCurrent = (): Promise<unknown> => Promise.all(current.checks.map(check => check()))
  return {
    of: (group, plural, backend) => {
      if (!changes) {
        const own = current.of(group, plural)
        return own === undefined ? backend : encryptedBackend(backend, own)
      }
      const own = (): Providers => current.of(group, plural) ?? plain
      return encryptedBackend(backend, {
        toStorage: (key, value) => own().toStorage(key, value),
        fromStorage: (key, stored) => own().fromStorage(key, stored)
      })
    },
    checks: changes
      ? [{ name: 'kms-providers', check: async () => { await checkCurrent() } }]
      : current.checks.map((check, at) => ({ name: `kms-provider-${at}`, check })),
    replace: async next => {
      const replacing = await opened(next, observer)
      before?.close()
      before = current
      current = replacing
    },
    close: () => {
      before?.close()
      current.close()
    }
  }
}

interface Opened {
  readonly of: (group: string, plural: string) => Providers | undefined
  readonly checks: ReadonlyArray<() => Promise<void>>
  readonly close: () => void
}

async function opened (given: EncryptionOptions, observer: TransformationObserver): Promise<Opened> {
  const configuration = structuredClone(given) as EncryptionConfiguration
  applyDefaults(EncryptionConfiguration, configuration)
  const services: Array<Pick<KeyService, 'check' | 'close'>> = []
  const register = <T extends KeyService | SeedService>(service: T): T => {
    services.push(service)
    return service
  }
  const { keyService } = await import('./key-service.js')
  const { envelope } = await import('./envelope.js')
  const { seedService } = await import('./key-service-v2.js')
  const { envelopeV2 } = await import('./envelope-v2.js')
  const seedCipher = (options: SeedServiceOptions): Cipher => {
    const ofService = observer.keyService(options.name)
    return envelopeV2(register(seedService({ ...options, observer: ofService })), observer, ofService)
  }
  const serviceCipher = (given: KeyServiceConfiguration): Cipher => {
    const { name, endpoint, timeout = '', cachesize = DEFAULT_CACHE } = given
    const [path, milliseconds] = [socketOf(endpoint), timeoutMs(timeout)]
    return protocolOf(given) === 'v1'
      ? envelope(register(keyService(name, path, milliseconds)), cachesize, observer)
      : seedCipher({ name, path, timeout: milliseconds, generated: observer.generated })
  }
  const formsByResource = new Map<string, StoredForm[]>()
  for (const { resources = [], providers: configured = [] } of configuration.resources ?? []) {
    const forms = (await Promise.all(configured.map(provider => formsOf(provider, serviceCipher)))).flat()
    for (const resource of resources) formsByResource.set(resource, [...formsByResource.get(resource) ?? [], ...forms])
  }
  const byResource = new Map([...formsByResource].map(([resource, forms]) => [resource, providers(forms, observer)]))
  return {
    // A wildcard before a name would take all of it, and is refused.
    of: (group, plural) => byResource.get(group === '' ? plural : `${plural}.${group}`) ??
      byResource.get(`*.${group}`) ?? byResource.get('*.*'),
    checks: services.map(service => cachedCheck(() => service.check())),
    close: () => { for (const service of services) service.close() }
  }
}

/** The path of `unix:///path`. */
const socketOf = (endpoint: string): string => endpoint.slice('unix://'.length)

const unused = (): never => { throw new Error('no key service is configured') }
