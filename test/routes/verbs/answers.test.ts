/** Verbs without Fastify: from a plain request to an answer. */
import t, { type Test } from 'tap'
import { AdmissionChain } from '../../../admission/chain.js'
import type { Answer, Verb, VerbRequest } from '../../../answers/answer.js'
import { ResourceRegistry } from '../../../registry/resource-registry.js'
import type { ResourceStore } from '../../../registry/resource-store.js'
import { Trace } from '../../../registry/trace.js'
import { deleteVerb } from '../../../routes/verbs/delete.js'
import { getVerb } from '../../../routes/verbs/get.js'
import { listVerb } from '../../../routes/verbs/list.js'
import { watchVerb } from '../../../routes/verbs/watch.js'
import { createVerb, updateVerb } from '../../../routes/verbs/write.js'
import { DEFAULT_GATES } from '../../../schemas/gates.js'
import { OWN_NAMES } from '../../../schemas/naming.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { clusterRoles } from '../../stored.js'

async function opened (t: Test): Promise<{
  store: ResourceStore
  ask: (verb: Verb, name?: string, sent?: object) => Promise<Answer>
}> {
  const backend = openMemory()
  const resources = new ResourceRegistry({
    backendOf: () => backend,
    prefix: '/registry',
    mediaType: 'application/json',
    windowSizeOf: () => 100,
    admission: new AdmissionChain([]),
    log: () => {}
  })
  const store = resources.add(clusterRoles.type)
  await resources.open()
  t.teardown(async () => {
    resources.close()
    await backend.close()
  })
  const ask = async (verb: Verb, name = '', sent?: object): Promise<Answer> => await verb({
    method: 'POST',
    url: '/',
    headers: {},
    body: sent === undefined ? undefined : Buffer.from(JSON.stringify(sent)),
    server: { orchResources: resources, orchSettings: { featureGates: DEFAULT_GATES } },
    orch: {
      info: {
        group: 'rbac.authorization.orch.io',
        version: 'v1',
        resource: 'clusterroles',
        subresource: '',
        namespace: '',
        name
      },
      query: new URLSearchParams(), trace: new Trace(), warnings: [], annotations: {}, naming: OWN_NAMES, dryRun: false,
      signal: new AbortController().signal, onClosed: () => {}
    }
  } as unknown as VerbRequest) // the members that are read
  return { store, ask }
}

const role = (name: string): object => ({ metadata: { name }, rules: [] })

t.test('verbs answer with values that know no format', async t => {
  const { store, ask } = await opened(t)
  const created = await ask(createVerb(store), '', role('a'))
  t.match(created, { kind: 'entry', code: 201, entry: { object: { metadata: { name: 'a' } } } })
  await ask(createVerb(store), '', role('b'))
  const found = getVerb(store)
  const got = await ask(found, 'a')
  t.ok(
    got.kind === 'entry' && created.kind === 'entry' && got.entry.json.equals(created.entry.json),
    'the bytes that were stored'
  )
  t.match(await ask(updateVerb(store), 'a', role('a')), { kind: 'entry', code: 200, warnings: [] })
  const odd = { ...role('odd'), odd: 1 }
  t.match(await ask(createVerb(store), '', odd), { kind: 'entry', code: 201, warnings: ['unknown field "odd"'] })
  await ask(deleteVerb(store), 'odd')
  const listed = await ask(listVerb(store))
  t.same(listed.kind === 'list' && listed.list.entries.map(({ object }) => object.metadata.name), ['a', 'b'])
  const watched = await ask(watchVerb(store, { minRequestTimeoutSeconds: 10 }))
  t.match(watched, { kind: 'watch', bookmarks: false, watch: { everything: true } })
  if (watched.kind === 'watch') watched.watch.feed.close()
  t.match(await ask(deleteVerb(store), 'a'), {
    kind: 'status', code: 200, status: { status: 'Success', details: { name: 'a' } }
  })
  await t.rejects(ask(found, 'a'), { message: 'clusterroles.rbac.authorization.orch.io "a" not found' })
  await t.rejects(ask(createVerb(store), '', { metadata: { name: '/' } }), { message: /is invalid: metadata\.name/ })
})
