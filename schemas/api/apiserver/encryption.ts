/**
 * Encryption at rest: which resources are encrypted, by which providers. The first provider of a resource writes, and
 * all read.
 *
 * @see interface, `--encryption-provider-config`
 */
import { apiPackage, int32, list, one, string, type Report, type Static } from '../../language/declare.js'
import { MAX_SOCKET_PATH } from '../../limits.js'
import { parseDuration } from '../../meta/duration.js'
import { Duration } from '../../meta/scalars.js'
import { duplicate, invalid, notSupported, required, tooLong } from '../../rules/findings.js'

const { message, kind } = apiPackage('apiserver.config.orch.io', 'v1', 'io.orch.apiserver.config.v1')

const Key = message('Key', 'A key and its name, which is stored with each value that it encrypts.', {
  name: string(null, 'Name of the key.', { required: true }),
  secret: string(null, 'The key in base64.', { required: true })
})

const KeyList = message('AESConfiguration', 'The first key encrypts, and all decrypt.', {
  keys: list(null, 'Keys.', Key, { required: true })
})

const KeyService = message('KMSConfiguration', 'A key service at a local socket: it encrypts the key of each value.', {
  apiVersion: string(null, 'Version of the protocol, v1 (the default) or v2.', { since: '1.25' }),
  name: string(null, 'Name of the provider, which is stored with each value.', { required: true }),
  cachesize: int32(null, 'Version 1: number of decrypted keys to keep in memory, 1000 by default, none if negative.', {
    pointer: true
  }),
  endpoint: string(null, 'The socket of the service, unix:///PATH.', { required: true }),
  timeout: one(null, 'Of a call.', Duration, { pointer: true, default: '3s' })
})

const ProviderConfiguration = message('ProviderConfiguration', 'Exactly one provider.', {
  aesgcm: one(null, 'AES-GCM with a random nonce: at most 200,000 writes with a key.', KeyList, { pointer: true }),
  aescbc: one(null, 'AES-CBC with PKCS#7 padding.', KeyList, { pointer: true }),
  secretbox: one(null, 'XSalsa20 and Poly1305.', KeyList, { pointer: true }),
  identity: one(null, 'Values as they are.', message('IdentityConfiguration', 'Has no fields.', {}), { pointer: true }),
  kms: one(null, 'A key service.', KeyService, { pointer: true })
})

const ResourceConfiguration = message('ResourceConfiguration', 'Providers of some resources.', {
  resources: list(
    null, 'Resources: secrets, or PLURAL.GROUP outside the core group; *., *.GROUP and *.* stand for all.',
    'string', { required: true }
  ),
  providers: list(null, 'Providers.', ProviderConfiguration, { required: true })
})

export type EncryptionConfiguration = Static<typeof EncryptionConfiguration>
export const EncryptionConfiguration = kind('EncryptionConfiguration', 'How objects are encrypted in the store.', {
  resources: list(
    null, 'Configurations. A resource in several of them has the providers of all.', ResourceConfiguration,
    { required: true }
  )
}, {
  validate: ({ resources }, at, report) => {
    validateResources(resources, at === '' ? 'resources' : `${at}.resources`, report)
  }
})

/** As a host gives it. */
export type EncryptionOptions = Partial<EncryptionConfiguration>

export type ProviderConfiguration = Static<typeof ProviderConfiguration>

/** Milliseconds of a KMSConfiguration's timeout, at least one. */
export const timeoutMs = (timeout: string): number => Math.max(1, Number((parseDuration(timeout) ?? 0n) / 1_000_000n))

/** Keys of a service of version 1 in memory. */
export const DEFAULT_CACHE = 1000

export const protocolOf = ({ apiVersion = '' }: { readonly apiVersion?: string | undefined }): 'v1' | 'v2' =>
  apiVersion === 'v2' ? 'v2' : 'v1'

/** All of the core group, of another one, and everything. */
const WILDCARD = /^\*\.(?:\*|[^*]*)$/

const NAMES = ['kms', 'aesgcm', 'aescbc', 'secretbox', 'identity'] as const
const AES_BYTES = [16, 24, 32]
const SECRETBOX_BYTES = [32]

function validateResources (
  configurations: EncryptionConfiguration['resources'] = [], at: string, report: Report
): void {
  if (configurations.length === 0) required(report, at, 'at least one entry is required')
  const endpoints = new Map<string, string>()
  for (const [index, { resources = [], providers = [] }] of configurations.entries()) {
    const path = `${at}[${index}]`
    if (resources.length === 0) required(report, `${path}.resources`, 'at least one resource is required')
    for (const [number, resource] of resources.entries()) {
      if (resource === '' || (resource.includes('*') && !WILDCARD.test(resource))) {
        invalid(
          report, `${path}.resources[${number}]`, resource,
          'must be the name of one resource, PLURAL or PLURAL.GROUP, or all of a group, *. or *.GROUP, or *.*'
        )
      }
    }
    if (providers.length === 0) required(report, `${path}.providers`, 'at least one provider is required')
    const names = new Set<string>()
    for (const [number, provider] of providers.entries()) {
      const place = `${path}.providers[${number}]`
      validateProvider(provider, place, report)
      if (provider.kms !== undefined) validateName(provider.kms, `${place}.kms.name`, names, endpoints, report)
    }
  }
}

function validateProvider (provider: ProviderConfiguration, at: string, report: Report): void {
  const named = NAMES.filter(name => provider[name] !== undefined)
  if (named.length === 0) return required(report, at, `must have one of ${NAMES.join(', ')}`)
  if (named.length > 1) {
    return invalid(report, at, named.join(', '), 'has more than one provider; make each an entry of its own')
  }
  const { aesgcm, aescbc, secretbox, kms } = provider
  if (aesgcm !== undefined) validateKeys(aesgcm.keys, `${at}.aesgcm.keys`, AES_BYTES, report)
  if (aescbc !== undefined) validateKeys(aescbc.keys, `${at}.aescbc.keys`, AES_BYTES, report)
  if (secretbox !== undefined) validateKeys(secretbox.keys, `${at}.secretbox.keys`, SECRETBOX_BYTES, report)
  if (kms !== undefined) validateKeyService(kms, `${at}.kms`, report)
}

/** Findings never contain the secret. */
function validateKeys (
  keys: Static<typeof KeyList>['keys'] = [], at: string, sizes: readonly number[], report: Report
): void {
  if (keys.length === 0) required(report, at, 'at least one key is required')
  const names = new Set<string>()
  for (const [index, { name, secret }] of keys.entries()) {
    const path = `${at}[${index}]`
    if (names.has(name)) duplicate(report, `${path}.name`, name)
    names.add(name)
    if (secret === '') continue // reported as required
    if (!isBase64(secret)) invalid(report, `${path}.secret`, 'REDACTED', 'secrets must be base64 encoded')
    else {
      const { length } = Buffer.from(secret, 'base64')
      if (!sizes.includes(length)) {
        invalid(
          report, `${path}.secret`, 'REDACTED',
          `secret is not of the expected length, got ${length}, expected one of [${sizes.join(' ')}]`
        )
      }
    }
  }
}

/** As upstream, line breaks are ignored. */
const isBase64 = (text: string): boolean =>
  /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(text.replace(/[\r\n]/g, ''))

/**
 * Stored values name their provider: a service has one name, which may occur for several resources; of version 2 only
 * once.
 */
function validateName (
  service: Static<typeof KeyService>, at: string, names: Set<string>, endpoints: Map<string, string>, report: Report
): void {
  const { name, endpoint } = service
  if (name === '') return // reported as required
  const isNew = protocolOf(service) === 'v2'
  if (isNew && name.includes(':')) invalid(report, at, name, 'must not contain a colon')
  const other = endpoints.get(name)
  if (names.has(name) || (other !== undefined && (isNew || other !== endpoint))) duplicate(report, at, name)
  names.add(name)
  endpoints.set(name, endpoint)
}

function validateKeyService (
  { apiVersion = '', endpoint, timeout = '', cachesize }: Static<typeof KeyService>, at: string, report: Report
): void {
  if (!['', 'v1', 'v2'].includes(apiVersion)) notSupported(report, `${at}.apiVersion`, apiVersion, ['v1', 'v2'])
  if (endpoint !== '' && !/^unix:\/\/\/[^/@]/
    .test(endpoint)) invalid(report, `${at}.endpoint`, endpoint, 'must be the path of a socket: unix:///PATH')
  else if (Buffer.byteLength(endpoint) - 'unix://'.length > MAX_SOCKET_PATH) {
    tooLong(report, `${at}.endpoint`, 'unix://'.length + MAX_SOCKET_PATH)
  }
  if (cachesize !== undefined && apiVersion === 'v2') {
    invalid(report, `${at}.cachesize`, cachesize, 'cachesize is not supported in v2')
  } else if (cachesize === 0) {
    invalid(report, `${at}.cachesize`, cachesize, 'cachesize should be a positive value, or negative to disable')
  }
  if ((parseDuration(timeout) ?? 0n) <= 0n) {
    invalid(report, `${at}.timeout`, timeout, 'timeout should be a positive value')
  }
}
