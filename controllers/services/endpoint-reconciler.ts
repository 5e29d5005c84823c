/**
 * Tracks the servers behind the server's own service. By lease: each server keeps a key with a lease, and all keys
 * count. By count: each server adds its address, and removes others while there are more than configured.
 */
import { validateNonSpecialAddress } from '../../schemas/rules/net.js'
import type { Backend } from '../../storage/backend.js'
import { StorageError } from '../../storage/errors.js'
import { rangeOf } from '../../storage/key.js'

export type Reconciler = 'lease' | 'master-count' | 'none'

export interface EndpointReconciler {
  /** Registers this server and returns the sorted addresses to publish. @throws StorageError */
  readonly present: (published: readonly string[]) => Promise<readonly string[]>
  /** Unregisters this server. @throws StorageError */
  readonly absent: (published: readonly string[]) => Promise<readonly string[]>
}

/** How long a server counts as present without a renewal. */
const LEASE_SECONDS = 15
const MAX_ATTEMPTS = 5

/** Why an address is invalid for endpoints, or undefined. */
export function addressProblem (address: string): string | undefined {
  const problems: string[] = []
  validateNonSpecialAddress(address, '', ({ detail }) => { problems.push(detail) })
  return problems[0]
}

export function endpointReconciler (
  reconciler: Exclude<Reconciler, 'none'>, address: string,
  { backend, prefix, count }: { backend: Backend, prefix: string, count: number }
): EndpointReconciler {
  return reconciler === 'lease' ? byLease(address, backend, `${prefix}/masterleases/`) : byCount(address, count)
}

function byLease (address: string, backend: Backend, scope: string): EndpointReconciler {
  const key = scope + address
  const all = async (): Promise<string[]> => {
    const { kvs } = await backend.list(rangeOf(scope))
    return kvs.map(kv => kv.key.slice(scope.length)).sort()
  }
  return {
    present: async () => {
      const options = { lease: await backend.lease(LEASE_SECONDS) }
      const value = Buffer.from(JSON.stringify({ address }))
      for (let attempt = 1; ; attempt++) {
        const { kv } = await backend.get(key)
        const { succeeded } = kv === undefined
          ? await backend.create(key, value, options)
          : await backend.update(key, value, kv.modRevision, options)
        if (succeeded) return await all()
        if (attempt === MAX_ATTEMPTS) {
          throw new StorageError('Unavailable', `${key} is changed by somebody else all the while`, { key })
        }
      }
    },
    absent: async () => {
      const { kv } = await backend.get(key)
      if (kv !== undefined) await backend.delete(key, kv.modRevision)
      return await all()
    }
  }
}

function byCount (address: string, count: number): EndpointReconciler {
  return {
    present: async published => {
      const all = [...new Set([...published, address])].sort()
      // Each server removes the address after its own, so that all agree.
      while (all.length > count) all.splice((all.indexOf(address) + 1) % all.length, 1)
      return all
    },
    absent: async published => published.filter(known => known !== address)
  }
}
