/**
 * Deletes the objects that extension servers serve in a namespace, according to their discovery. A server that cannot
 * be asked, or does not delete, is reported; as upstream, the namespace then stays, because objects may remain.
 */
import { runStepsWithinBudget } from '../../event-loop/turns.js'
import { parseInPieces } from '../../schemas/codec/json/parse-pieces.js'
import { reasonOf } from '../../storage/errors.js'
import { count, type RemainingContents } from '../namespace-conditions.js'
import type { RegisteredService, RegisteredServices, RemoteService } from './registered-services.js'

/** A request as the namespace controller. Rejects if there is no whole answer in time. */
export type Ask = (remote: RemoteService, request: {
  readonly method: string, readonly path: string, readonly body?: string | undefined, readonly metadataOnly?: boolean
}) => Promise<{ readonly status: number, readonly body: Buffer }>

export interface DeletionResult { readonly seen: number, readonly remaining: number }

export interface RemoteContents {
  /** Whether all APIServices are known. */
  readonly ready: () => boolean
  /**
   * Deletes everything in the namespace once, and adds remaining objects and failures to `left`.
   * @param isCurrent whether the namespace has not been replaced by another of its name
   */
  readonly empty: (
    namespace: string, left: RemainingContents, isCurrent: () => Promise<boolean>, signal: AbortSignal
  ) => Promise<DeletionResult>
}

interface Item { readonly name: string, readonly uid: string | undefined, readonly finalizers: readonly string[] }
interface Resource { readonly name: string, readonly verbs: readonly string[] }
interface Task {
  readonly remote: RemoteService, readonly root: string, readonly namespace: string, readonly left: RemainingContents,
  readonly isCurrent: () => Promise<boolean>
}

const AT_ONCE = 8
const PAGE = 500
const PLURAL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
const UNAVAILABLE = 'the server is currently unable to handle the request'
const NOTHING: DeletionResult = { seen: 0, remaining: 0 }

/** @param services those that are registered; @param ask a client, see `plugins/aggregation/fetch.ts` */
export function remoteContents (services: RegisteredServices, ask: Ask): RemoteContents {
  return {
    ready: () => services.synced,
    empty: async (namespace, left, isCurrent, signal) => {
      const served = [...services.byName.values()]
        .filter(({ group, version }) => services.find(group, version) !== undefined)
        .sort((one, other) => other.versionPriority - one.versionPriority)
      const queue = served.values()
      /** Resources in several versions of a group are emptied in the preferred one. */
      const begun = new Set<string>()
      let seen = 0
      let remaining = 0
      const work = async (): Promise<void> => {
        for (const service of queue) {
          if (signal.aborted) return
          const emptied = await emptyService(service)
          seen += emptied.seen
          remaining += emptied.remaining
        }
      }
      const emptyService = async (
        { remote, available, group, version }: RegisteredService
      ): Promise<DeletionResult> => {
        if (remote === undefined) return NOTHING
        const groupVersion = group === '' ? version : `${group}/${version}`
        const root = `/${group === '' ? 'api' : 'apis'}/${groupVersion}`
        let resources: readonly Resource[]
        try {
          if (!available) throw new Error(UNAVAILABLE)
          resources = await discovered(ask, remote, root)
        } catch (error) {
          left.undiscovered.set(groupVersion, reasonOf(error))
          return { seen: 0, remaining: 1 }
        }
        let [seen, remaining] = [0, 0]
        for (const resource of resources) {
          const name = group === '' ? resource.name : `${resource.name}.${group}`
          if (begun.has(name)) continue
          begun.add(name)
          try {
            const emptied = await emptyResource(ask, { remote, root, namespace, left, isCurrent }, resource, name)
            seen += emptied.seen
            remaining += emptied.remaining
          } catch (error) {
            left.failures.push(`${name}: ${reasonOf(error)}`)
            remaining++
          }
        }
        return { seen, remaining }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      return { seen, remaining }
    }
  }
}

/** Namespaced resources whose objects can be deleted. */
async function discovered (ask: Ask, remote: RemoteService, root: string): Promise<Resource[]> {
  const { status, body } = await ask(remote, { method: 'GET', path: root })
  if (status !== 200) throw new Error(status === 503 ? UNAVAILABLE : `the server answered with ${status}`)
  const { resources } = await runStepsWithinBudget(parseInPieces(body)) as { resources?: unknown }
  if (!Array.isArray(resources)) throw new Error('the answer is no APIResourceList')
  return resources.flatMap((resource: Partial<Record<'name' | 'namespaced' | 'verbs', unknown>> | null) => {
    const { name, namespaced, verbs } = resource ?? {}
    return typeof name === 'string' && PLURAL.test(name) && namespaced === true && Array.isArray(verbs) &&
      verbs.includes('delete')
      ? [{ name, verbs: verbs as string[] }]
      : []
  })
}

async function emptyResource (
  ask: Ask, { remote, root, namespace, left, isCurrent }: Task, { name, verbs }: Resource, fullName: string
): Promise<DeletionResult> {
  const path = `${root}/namespaces/${namespace}/${name}`
  const items = verbs.includes('list') ? await listed(ask, remote, path) : undefined
  if (items?.length === 0) return NOTHING
  // The namespace may have been removed and recreated: the objects found may belong to the new one.
  if (!await isCurrent()) return { seen: 1, remaining: 1 }
  if (!verbs.includes('deletecollection') || !await deleted(ask, remote, path, undefined)) {
    for (const { name, uid } of items ?? []) await deleted(ask, remote, `${path}/${encodeURIComponent(name)}`, uid)
  }
  if (items === undefined) return NOTHING
  const after = await listed(ask, remote, path)
  for (const { finalizers } of after) {
    count(left.resources, fullName)
    for (const finalizer of finalizers) count(left.finalizers, finalizer)
  }
  return { seen: items.length, remaining: after.length }
}

/** The first page. */
async function listed (ask: Ask, remote: RemoteService, path: string): Promise<Item[]> {
  const { status, body } = await ask(remote, { method: 'GET', path: `${path}?limit=${PAGE}`, metadataOnly: true })
  if (status === 404 || status === 405) return []
  if (status !== 200) throw new Error(`the list was answered with ${status}`)
  const { items } = await runStepsWithinBudget(parseInPieces(body)) as { items?: unknown }
  if (items === undefined || items === null) return []
  if (!Array.isArray(items)) throw new Error('the answer is no list')
  return items.flatMap(({ metadata }: { metadata?: { name?: unknown, uid?: unknown, finalizers?: unknown } }) =>
    typeof metadata?.name !== 'string'
      ? []
      : [{
          name: metadata.name, uid: typeof metadata.uid === 'string'
            ? metadata.uid
            : undefined, finalizers: Array.isArray(metadata.finalizers) ? metadata.finalizers.map(String) : []
        }])
}

/** False if the server does not support the method. */
async function deleted (ask: Ask, remote: RemoteService, path: string, uid: string | undefined): Promise<boolean> {
  const options = {
    kind: 'DeleteOptions', apiVersion: 'v1', ...(uid === undefined ? {} : { preconditions: { uid } }),
    propagationPolicy: 'Background'
  }
  const { status } = await ask(remote, { method: 'DELETE', path, body: JSON.stringify(options) })
  if (status === 404 || status === 405 || status === 409) return false
  if (status < 200 || status >= 300) throw new Error(`the deletion was answered with ${status}`)
  return true
}
