/** The back ends of the server, whose notes it logs. */
import { openStores, type Stores } from '../../storage/open.js'
import type { Having } from '../shared/plugin.js'
import { throughProxy } from './etcd-proxy.js'
import { DEFAULT_PREFIX, type StorageOptions } from './options.js'

export async function openedStores (
  { log, orchClock: clock, orchEgress: egress }: Having<'orchClock' | 'orchEgress'>, storage: StorageOptions
): Promise<Stores> {
  return await openStores(await throughProxy(storage, egress), {
    prefix: storage.prefix ?? DEFAULT_PREFIX,
    clock,
    note: (text, level = 'warn') => { log[level](text) },
    refused: error => { log.error(error.message) } // a start in progress fails too
  })
}
