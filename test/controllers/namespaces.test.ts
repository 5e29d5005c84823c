import t from 'tap'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { remove } from '../../registry/verbs/delete.js'
import { change } from '../../registry/verbs/change.js'
import { current } from '../../registry/current.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { context, deleted, makeConfig, makeNamespace, mark, registry, storeOf } from './namespace-race.js'

const turn = (): Promise<void> => new Promise(resolve => { setImmediate(resolve) })

const accountOf = async (resources: ResourceRegistry): Promise<string | undefined> => {
  const accounts = storeOf(resources, 'serviceaccounts')
  return (await current(accounts, accounts.keys.of('team', 'default')))?.object.metadata.uid
}

/**
 * What another server may do while this one is delayed: it removes the namespace, and a client creates another of its
 * name.
 */
async function replaceNamespace (resources: ResourceRegistry, name: string): Promise<void> {
  const store = storeOf(resources, 'namespaces')
  if (await accountOf(resources) !== undefined) {
    await remove(storeOf(resources, 'serviceaccounts'), { namespace: name, name: 'default' }, {}, context)
  }
  await change(
    store, { namespace: '', name, subresource: 'finalize' }, context,
    found => Object.assign(found.copy(), { spec: { finalizers: [] } })
  )
  await makeNamespace(resources, name)
}

/** Runs once, before the server next lists that type in a namespace. */
function beforeLook (store: ResourceStore, namespace: string, then: () => Promise<void>): void {
  const { backend } = store
  const { list } = backend
  backend.list = async request => {
    if (request.start === store.keys.range(namespace).start) {
      backend.list = list
      await then()
    }
    return await list.call(backend, request)
  }
}

/** A namespace `team` that is replaced by another during its deletion, before the numbered listing of a type. */
async function replacedAt (
  resources: ResourceRegistry, store: ResourceStore, look: number, more: () => Promise<unknown>
): Promise<void> {
  await makeNamespace(resources, 'team')
  let first: string | undefined
  while ((first = await accountOf(resources)) === undefined) await turn()
  const replaced = new Promise<void>(resolve => {
    const wait = (left: number): void => {
      beforeLook(store, 'team', async () => {
        if (left > 1) return wait(left - 1)
        await replaceNamespace(resources, 'team')
        await more()
        resolve()
      })
    }
    wait(look)
  })
  await mark(resources, 'team')
  await replaced
  // The new namespace gets its account after all work for the old one is done.
  for (let uid = first; uid === undefined || uid === first; uid = await accountOf(resources) ?? first) await turn()
}

t.test('a server that is late deletes nothing of the next namespace of that name', async t => {
  const resources = await registry(t, { watchCache: { size: 0 } })
  const configs = storeOf(resources, 'configmaps')
  await replacedAt(resources, configs, 1, () => makeConfig(resources, 'team', 'new'))
  t.ok(await current(configs, configs.keys.of('team', 'new')) !== undefined)
})

t.test('a server that is late does not take its finalizer from the next namespace of that name', async t => {
  const resources = await registry(t, { watchCache: { size: 0 } })
  const last = resources.all().filter(({ type }) => type.namespaced).at(-1)
  if (last === undefined) throw new Error('nothing is namespaced')
  // The first listing finds the account, the second nothing.
  await replacedAt(resources, last, 2, async () => {})
  const namespaces = storeOf(resources, 'namespaces')
  const found = (await current(namespaces, namespaces.keys.of('', 'team')))?.object as ApiObject & { spec?: unknown }
  t.same(found.spec, { finalizers: ['orch'] })
})

t.test('an object that was marked for deletion and never removed is deleted with its namespace', async t => {
  const resources = await registry(t, {})
  const configs = storeOf(resources, 'configmaps')
  await makeNamespace(resources, 'team')
  await makeConfig(resources, 'team', 'left')
  const found = await current(configs, configs.keys.of('team', 'left'))
  if (found === undefined) throw new Error('it was not made')
  const marked = found.copy()
  Object.assign(marked.metadata, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 })
  await configs.backend.update(found.key, configs.entries.encode(marked), found.revision)
  await mark(resources, 'team')
  await deleted(resources, 'team')
  t.equal(await current(configs, configs.keys.of('team', 'left')), undefined)
})
