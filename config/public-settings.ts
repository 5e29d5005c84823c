/** With `--compat-names` flags and options may name API groups as Kubernetes does. Here they get our names. */
import { isObject } from '../schemas/language/values.js'
import { ownPath, ownResource } from '../schemas/compat/settings.js'
import type { Parsed } from './command-line.js'
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
