/** The store that flags select: etcd if servers are given, else the embedded one. */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { BackendOptions } from '../storage/open.js'
import { readBundle, readPair, renewedPair } from './certificates.js'
import { storeOverrides, storeServers } from './combinations.js'
import type { Parsed } from './command-line.js'
import { reasonOf } from './files.js'
import { FlagError } from './flag.js'
import type { Values } from './flags/index.js'
import { readRetention } from './flags/storage.js'

/** True for the embedded store, which belongs to one server; several servers may share etcd. */
export const isEmbedded = (values: Values): boolean => values['etcd-servers'].length === 0

const MEBIBYTE = 1024 * 1024

/** The back end, and etcd servers for single resources. @throws FlagError */
export async function backendOptions ({ values, given }: Parsed): Promise<Extract<BackendOptions, {
  readonly kind: 'embedded' | 'etcd'
}>> {
  if (isEmbedded(values)) {
    checkFolder('data-dir', values['data-dir'])
    return embeddedOptions(values)
  }
  const overrides = storeOverrides(values['etcd-servers-overrides'])
  for (const { resource } of overrides) {
    const { groupAndPlural, resourceProblem } = await import('./resource-names.js')
    const problem = resourceProblem(resource, groupAndPlural)
    if (problem !== undefined) {
      throw new FlagError('etcd-servers-overrides', given.get('etcd-servers-overrides'), `${resource} ${problem}`)
    }
  }
  return {
    kind: 'etcd',
    servers: storeServers(values['etcd-servers']),
    ...(values['etcd-cafile'] === '' ? {} : { ca: readBundle('etcd-cafile', values['etcd-cafile']) }),
    ...(values['etcd-certfile'] === '' ? {} : clientPair(values['etcd-certfile'], values['etcd-keyfile'])),
    overrides: Object.fromEntries(overrides.map(({ resource, servers }) => [resource, servers]))
  }
}

const retentionOf =
  (values: Values): Pick<Extract<BackendOptions, { readonly kind: 'embedded' }>, 'historyRetention'> => {
    const historyRetention = readRetention(values['history-retention'])
    return historyRetention === undefined ? {} : { historyRetention }
  }

export const embeddedOptions = (values: Values): Extract<BackendOptions, { readonly kind: 'embedded' }> =>
  ({
    kind: 'embedded', directory: values['data-dir'], minFree: values['data-dir-min-free'] * MEBIBYTE,
    ...retentionOf(values)
  })

/** The client certificate for etcd, and how it is read again for each connection. */
function clientPair (
  certificate: string, key: string
): Pick<Extract<BackendOptions, { readonly kind: 'etcd' }>, 'certificate' | 'key' | 'renewedPair'> {
  return {
    ...readPair({ certificate: 'etcd-certfile', key: 'etcd-keyfile' }, certificate, key),
    renewedPair: async () => await renewedPair(certificate, key)
  }
}

/** Describes the store for the log. */
export const storeText = (values: Values): string => isEmbedded(values)
  ? `embedded in ${values['data-dir']}`
  : `etcd at ${storeServers(values['etcd-servers']).join(', ')}`

/** The flag that names the store, as given, for errors. */
export const storeFlag = (values: Values): string =>
  isEmbedded(values) ? `--data-dir=${values['data-dir']}` : `--etcd-servers=${values['etcd-servers'].join(',')}`

/** Checks that a folder is writable or can be created. */
function checkFolder (flag: 'data-dir', directory: string): void {
  for (let at = directory; ; at = dirname(at)) {
    try {
      if (!statSync(at).isDirectory()) throw new FlagError(flag, directory, `${at} is not a folder; name another one`)
      accessSync(at, constants.W_OK | constants.X_OK)
      return
    } catch (error) {
      if (error instanceof FlagError) throw error
      const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!missing || dirname(at) === at) {
        throw new FlagError(
          flag, directory, `cannot be written to: ${reasonOf(error)}; name another folder`, { cause: error }
        )
      }
    }
  }
}
