/**
 * Encryption at rest, from `--encryption-provider-config` or a host's option. Errors never quote secrets. @see
 * interface, `--encryption-provider-config`
 */
import { existsSync } from 'node:fs'
import { ConfigurationError, readConfiguration } from '../admission/configuration.js'
import { EncryptionConfiguration } from '../schemas/api/apiserver/encryption.js'
import { MismatchError } from '../schemas/language/decode-error.js'
import { representations } from '../schemas/resources.js'
import { documentIn, ownDocument, type Source } from './documents.js'
import { FlagError } from './flag.js'
import { cachedProblem, groupIn, pluralAndGroup } from './resource-names.js'

const FLAG = 'encryption-provider-config'

/** @throws FlagError */
export function encryptionOptions (source: Source): EncryptionConfiguration {
  const configuration = read(ownDocument(source, documentIn(FLAG, source.path)))
  if (typeof configuration === 'string') throw new FlagError(FLAG, source.path, configuration)
  return configuration
}

/** Describes what is wrong with a host's option. Its kind and apiVersion are optional. */
export function encryptionProblem (given: object): string | undefined {
  const configuration = read({ kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.orch.io/v1', ...given })
  return typeof configuration === 'string' ? configuration : undefined
}

/** @returns a string that describes what is wrong */
function read (value: unknown): EncryptionConfiguration | string {
  try {
    const configuration = readConfiguration<EncryptionConfiguration>('', { value }, [EncryptionConfiguration])
    return namesProblem(configuration) ?? configuration
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.cause instanceof MismatchError ? error.cause.withoutValue : error.why // the value may be a secret
  }
}

/** Refuses unknown names. Upstream ignores them, which leaves the intended resource unencrypted. */
function namesProblem ({ resources: entries = [] }: EncryptionConfiguration): string | undefined {
  for (const [index, { resources = [] }] of entries.entries()) {
    for (const [at, name] of resources.entries()) {
      const elsewhere = representations.find(({ group, plural, type }) => pluralAndGroup(group, plural) === name &&
        type.group !== group)
      const problem = elsewhere === undefined
        ? cachedProblem(name, pluralAndGroup, groupIn)
        : `is stored as ${pluralAndGroup(elsewhere.type.group, elsewhere.type.plural)}; name that`
      if (problem !== undefined) return `resources[${index}].resources[${at}]: ${name} ${problem}`
    }
  }
  return undefined
}

/** Key services may start after the server; until then the server is not ready. */
export function encryptionWarnings (configuration: EncryptionConfiguration | undefined): string[] {
  const services = (configuration?.resources ?? [])
    .flatMap(({ providers = [] }) => providers.map(({ kms }) => kms))
    .filter(kms => kms !== undefined)
  return services.filter(({ endpoint }) => !existsSync(endpoint.slice('unix://'.length)))
    .map(({ name, endpoint }) =>
      `--${FLAG}: nothing listens at ${endpoint}, the key service ${name}: what it encrypts can be neither read nor ` +
        'written until it starts')
}
