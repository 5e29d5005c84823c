/**
 * Encryption at rest, from `--encryption-provider-config` or a host's option. Errors never quote secrets. @see
 * interface, `--encryption-provider-config`
 */
import { existsSync } from 'node:fs'
import { ConfigurationError, readConfiguration } from '../admission/configuration.js'
import { EncryptionConfiguration, protocolOf, type EncryptionOptions } from '../schemas/api/apiserver/encryption.js'
import type { Gates } from '../schemas/gates.js'
import { MismatchError } from '../schemas/language/decode-error.js'
import { representations } from '../schemas/resources.js'
import { documentIn } from './documents.js'
import { ownDocument, type Source } from './public-settings.js'
import { FlagError } from './flag.js'
import { cachedProblem, groupIn, pluralAndGroup } from './resource-names.js'

const FLAG = 'encryption-provider-config'

/** @throws FlagError */
export function encryptionOptions (source: Source, gates: Pick<Gates, 'enabled'>): EncryptionConfiguration {
  const configuration = read(ownDocument(source, documentIn(FLAG, source.path)))
  if (typeof configuration === 'string') throw new FlagError(FLAG, source.path, configuration)
  const problem = keyServiceProblem(configuration, gates)
  if (problem !== undefined) throw new FlagError(FLAG, source.path, problem)
  return configuration
}

/** Describes a key service that the emulated release does not use by itself. */
export function keyServiceProblem (
  { resources = [] }: EncryptionOptions, { enabled }: Pick<Gates, 'enabled'>
): string | undefined {
  const named = resources.flatMap(({ providers = [] }) => providers)
    .find(({ kms }) => kms !== undefined && protocolOf(kms) === 'v1')?.kms
  return named === undefined || !enabled('KeyServiceV1IsGated') || enabled('KMSv1')
    ? undefined
    : `the key service ${named.name} speaks version 1 of the protocol, which is deprecated since release 1.29; give ` +
      'it apiVersion: v2, or --feature-gates=KMSv1=true'
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
      const place = `resources[${index}].resources[${at}]: ${name}`
      const other = resources.slice(0, at)
        .find(before => before === name || covers(before, name) || covers(name, before))
      if (other !== undefined) return `${place} and ${other} of the same entry overlap; leave one out`
      const masking = entries.slice(0, index).flatMap(({ resources: before = [] }) => before)
        .find(before => covers(before, name))
      if (masking !== undefined) return `${place} is never used: ${masking} of an earlier entry comes first`
      if (name.startsWith('*.')) {
        const group = groupIn(name)
        if (group !== '*' && !group.includes('.') && !representations.some(served => served.group === group)) {
          return `${place}: ${group} is no group of this version`
        }
        continue
      }
      const elsewhere = representations.find(({ group, plural, type }) => pluralAndGroup(group, plural) === name &&
        type.group !== group)
      const problem = elsewhere === undefined
        ? cachedProblem(name, pluralAndGroup, groupIn)
        : `is stored as ${pluralAndGroup(elsewhere.type.group, elsewhere.type.plural)}; name that`
      if (problem !== undefined) return `${place} ${problem}`
    }
  }
  return undefined
}

/** Whether a name stands for all of a group, or for everything, with another one among it. */
const covers = (wildcard: string, name: string): boolean =>
  wildcard === '*.*' || (wildcard.startsWith('*.') && groupIn(wildcard) === groupIn(name))

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
