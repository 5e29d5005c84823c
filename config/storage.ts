/** From the storage options of a server to open back ends. */
import type { Backend } from '../storage/backend.js'
import { openBackend } from '../storage/open.js'
import type { StorageOptions } from './server-options.js'

type Etcd = Extract<StorageOptions, { kind: 'etcd' }>

const etcdOptions = ({ ca, certificate, key, healthcheckTimeout }: Etcd, servers: string[]) => ({
  kind: 'etcd' as const,
  servers,
  ...(ca === undefined ? {} : { ca }),
  ...(certificate === undefined ? {} : { certificate }),
  ...(key === undefined ? {} : { key }),
  ...(healthcheckTimeout === undefined ? {} : { healthcheckTimeout })
})

export async function openStorage (options: StorageOptions): Promise<Backend> {
  return await openBackend(options.kind === 'etcd' ? etcdOptions(options, options.servers) : options)
}

/** `group/resource` to the back end of its own servers, `--etcd-servers-overrides`. */
export function overridesOf (options: StorageOptions | undefined): Map<string, () => Promise<Backend>> {
  const overrides = options?.kind === 'etcd' ? options.overrides ?? {} : {}
  return new Map(Object.entries(overrides).map(([name, servers]) => [name, () => openBackend(etcdOptions(options as Etcd, servers))]))
}
