/** Encryption at rest: encrypts the values of configured resources in front of any back end. */
import { applyDefaults } from '../../schemas/language/defaults.js'
import { EncryptionConfiguration, timeoutMs, type EncryptionOptions } from '../../schemas/api/apiserver/encryption.js'
import type { Backend } from '../backend.js'
import type { Cipher } from './cipher.js'
import { encryptedBackend } from './encrypted-backend.js'
import { formsOf, type StoredForm, type KeyServiceConfiguration } from './forms.js'
import { cachedCheck } from './health.js'
import type { KeyService } from './key-service.js'
import { UNOBSERVED, type TransformationObserver } from './observer.js'
import { providers } from './providers.js'

export interface Encryption {
  /** The back end of a resource, with its encryption if it has any. */
  readonly of: (group: string, plural: string, backend: Backend) => Backend
  /** Health checks of key services, in order of configuration. */
  readonly checks: ReadonlyArray<() => Promise<void>>
  readonly close: () => void
}

/** @param given validated options */
export async function openEncryption (
  given: EncryptionOptions, observer: TransformationObserver = UNOBSERVED
): Promise<Encryption> {
  const configuration = structuredClone(given) as EncryptionConfiguration
  applyDefaults(EncryptionConfiguration, configuration)
  const services: KeyService[] = []
  const { keyService } = await import('./key-service.js')
  const { envelope } = await import('./envelope.js')
  const serviceCipher = ({ name, endpoint, timeout = '', cachesize = 0 }: KeyServiceConfiguration): Cipher => {
    const service = keyService(name, socketOf(endpoint), timeoutMs(timeout))
    services.push(service)
    return envelope(service, cachesize, observer)
  }
  const formsByResource = new Map<string, StoredForm[]>()
  for (const { resources = [], providers: configured = [] } of configuration.resources ?? []) {
    const forms = (await Promise.all(configured.map(provider => formsOf(provider, serviceCipher)))).flat()
    for (const resource of resources) formsByResource.set(resource, [...formsByResource.get(resource) ?? [], ...forms])
  }
  const byResource = new Map([...formsByResource].map(([resource, forms]) => [resource, providers(forms, observer)]))
  return {
    of: (group, plural, backend) => {
      const own = byResource.get(group === '' ? plural : `${plural}.${group}`)
      return own === undefined ? backend : encryptedBackend(backend, own)
    },
    checks: services.map(({ check }) => cachedCheck(check)),
    close: () => { for (const { close } of services) close() }
  }
}

/** The path of `unix:///path`. */
const socketOf = (endpoint: string): string => endpoint.slice('unix://'.length)
