/** Storage options. Members depend on the kind of back end; those of an unknown kind, as in a fork, are not checked. */
import type { WatchCacheOptions } from '../../plugins/registry/index.js'
import type { StorageOptions } from '../../plugins/storage/index.js'
import type { Backend } from '../../storage/backend.js'
import { BACK_END_KINDS, isBackend, type BackendOptions } from '../../storage/open.js'
import { encryptionProblem } from '../encryption.js'
import { choice, Problem } from '../flag.js'
import { health as limits } from '../flags/limits.js'
import { storage as flags } from '../flags/storage.js'
import { didYouMean } from '../suggestions.js'
import {
  fromFlag, callback, checkMembers, members, required, number, object, option, OptionError, record, string, wholeNumber,
  type Option, type Table
} from '../option.js'
import { cachedProblem, groupAndPlural, resourceProblem } from '../resource-names.js'
import { certificateBytes, privateKeyBytes } from './files.js'

type Kind = NonNullable<BackendOptions['kind']>
type Own<K extends Kind> =
  Omit<Extract<BackendOptions, { readonly kind?: K }>, 'kind' | 'prefix' | 'healthcheckTimeout'>

const COMMON: Table<Omit<StorageOptions, 'kind'>> = {
  prefix: fromFlag(flags['etcd-prefix']),
  mediaType: fromFlag(flags['storage-media-type']),
  compactionInterval: fromFlag(flags['etcd-compaction-interval']),
  healthcheckTimeout: fromFlag(flags['etcd-healthcheck-timeout']),
  readycheckTimeout: fromFlag(flags['etcd-readycheck-timeout']),
  eventTtl: fromFlag(flags['event-ttl']),
  leaseReuseSeconds: fromFlag(flags['lease-reuse-duration-seconds']),
  garbageCollection: fromFlag(flags['enable-garbage-collector']),
  encryption: {
    check: (value, path) => {
      object().check(value, path)
      const problem = encryptionProblem(value as object)
      if (problem !== undefined) throw new OptionError(path, undefined, problem)
    }
  },
  encryptionFile: members<NonNullable<StorageOptions['encryptionFile']>>({
    path: required(string()), read: required(callback())
  })
}

/** An object with one of two members. */
const eitherOf = <T>(table: Readonly<Record<string, Option<unknown>>>): Option<T> => ({
  check: (value, path) => {
    checkMembers(table, value, path)
    if (Object.keys(value as object).length !== 1) {
      throw new OptionError(path, undefined, `must have either ${Object.keys(table).join(' or ')}`)
    }
  }
})

const historyRetention = eitherOf<NonNullable<Own<'embedded'>['historyRetention']>>({
  milliseconds: wholeNumber({ min: 1000 }), bytes: wholeNumber({ min: 2 ** 20 })
})

const servers: Option<readonly string[]> = fromFlag(flags['etcd-servers'])
const folder = option<string>(value => {
  if (typeof value !== 'string' || value === '') throw new Problem('must be a folder')
})
const resource = (name: string): string | undefined => resourceProblem(name, groupAndPlural)

const BY_KIND: { readonly [K in 'memory' | 'embedded' | 'shared' | 'etcd']: Table<Own<K>> } = {
  memory: {},
  embedded: { directory: required(folder), minFree: wholeNumber(), historyRetention, note: callback() },
  shared: { directory: required(folder) },
  etcd: {
    servers: required(servers), overrides: record(servers, resource), ca: certificateBytes,
    certificate: certificateBytes, key: privateKeyBytes, renewedPair: callback(), note: callback(),
    sockets: record(string()), refused: callback()
  }
}

const kind = fromFlag(choice(BACK_END_KINDS, 'memory', ''))

export const storage: Option<StorageOptions> = {
  check: (value, path) => {
    object().check(value, path)
    const given = value as BackendOptions | Backend
    if (isBackend(given)) return checkMembers(COMMON, given, path, () => undefined)
    const { kind: named = 'memory' } = given
    kind.check(named, `${path}.kind`)
    const own = Object.entries<Readonly<Record<string, Option<unknown>>>>(BY_KIND).find(([name]) => name === named)?.[1]
    const table = { kind, ...COMMON, ...own }
    checkMembers(table, given, path, own === undefined
      ? () => undefined
      : name => {
        const [other] = Object.entries(BY_KIND).find(([, table]) => Object.hasOwn(table, name)) ?? []
        const names = Object.keys(table)
        if (other !== undefined) {
          return `is no option of ${given.kind === undefined ? 'memory, the default kind' : `kind ${given.kind}`}; ` +
            `it is one of kind ${other}`
        }
        return `is no option${didYouMean(name, names) || `; the options here are ${names.join(', ')}`}`
      })
  }
}

export const watchCache: Option<WatchCacheOptions> = members<WatchCacheOptions>({
  size: fromFlag(flags['default-watch-cache-size']),
  sizes: record(wholeNumber(), name =>
    cachedProblem(name, groupAndPlural, ownName => ownName.slice(0, ownName.lastIndexOf('/')))),
  encodedObjects: eitherOf({ bytes: wholeNumber(), share: number({ min: 0, max: 1 }) }),
  initialization: fromFlag(limits['storage-initialization-timeout'])
})
