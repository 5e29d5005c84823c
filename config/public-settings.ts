/** With `--compat-names` flags, options and files may have the names of Kubernetes. Here they get ours. */
import { isPublicConfiguration, ownConfiguration, ownPolicies } from '../schemas/compat/configuration.js'
import { isObject } from '../schemas/language/values.js'
import { ownPath, ownResource } from '../schemas/compat/settings.js'
import type { Parsed } from './command-line.js'
import { FlagError } from './flag.js'
import type { FlagName, Values } from './flags/index.js'
import type { ServerOptions } from './server-options.js'

/** The flags under our names. */
export function withOwnFlags ({ values, given }: Parsed): Parsed {
  if (!values['compat-names']) return { values, given }
  const own = {
    'runtime-config': new Map([...values['runtime-config']].map(([key, value]) => [ownPath(key), value])),
    'etcd-servers-overrides': values['etcd-servers-overrides'].map(ownPath),
    'watch-cache-sizes': values['watch-cache-sizes'].map(text => {
      const [name = '', size = ''] = text.split('#')
      return `${ownResource(name)}#${size}`
    })
  }
  return { values: { ...values, ...own }, given }
}

/** A host's options under our names. What is no option of this type stays, for its check to refuse. */
export function withOwnOptions (options: ServerOptions): ServerOptions {
  if (options.compatNames !== true) return options
  const { api, storage, watchCache } = options
  return {
    ...options,
    ...isObject(api) ? { api: withMembers(api, { disabled: list, later: list }) } : {},
    ...isObject(watchCache) ? { watchCache: withMembers(watchCache, { sizes: keys }) } : {},
    ...isObject(storage) && storage['kind'] === 'etcd' ? { storage: withMembers(storage, { overrides: keys }) } : {}
  }
}

type Change = (value: unknown) => unknown

const list: Change = value =>
  Array.isArray(value) ? value.map((item: unknown) => typeof item === 'string' ? ownPath(item) : item) : value

const keys: Change = value => isObject(value)
  ? Object.fromEntries(Object.entries(value).map(([name, member]) => [ownPath(name), member]))
  : value

function withMembers<T extends object> (options: T, changes: Readonly<Record<string, Change>>): T {
  const changed = Object.entries(options).map(([name, value]: [string, unknown]) =>
    [name, changes[name]?.(value) ?? value])
  return Object.fromEntries(changed) as T // as before
}

/** A flag's file, and whether it may have the public project's names, `--compat-names`. */
export interface Source { readonly flag: FlagName, readonly path: string, readonly public?: boolean }

type FileFlag = {
  [Name in FlagName]: Values[Name] extends string ? Name : never
}[FlagName]

export const sourceOf = (values: Values, flag: FileFlag): Source =>
  ({ flag, path: values[flag], public: values['compat-names'] })

/** Whether the document of a source says that it has public names. */
export const hasOtherNames = (source: Source, document: unknown): boolean =>
  source.public === true && isPublicConfiguration(document)

/** Policies in lines, under our names. */
export const ownLines = (source: Source, text: string): string => source.public === true ? ownPolicies(text) : text

/**
 * The document under our names.
 * @param kindless whether a document without a kind has public names
 * @throws FlagError
 */
export function ownDocument (source: Source, document: unknown, kindless = true): unknown {
  if (source.public !== true) return document
  try {
    return ownConfiguration(document, kindless)
  } catch (error) {
    throw new FlagError(
      source.flag, source.path, error instanceof Error ? error.message : String(error), { cause: error }
    )
  }
}
