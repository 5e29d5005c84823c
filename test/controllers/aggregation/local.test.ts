/** APIServices of what the server serves itself. */
import t from 'tap'
import { build, type Client, type Json } from '../../build.js'
import { DEFINITIONS, definition, install, until, version } from '../custom/definitions.js'
import { kept } from './kept-store.js'

const SERVICES = '/apis/apiregistration.orch.io/v1/apiservices'

const all = async (server: Client): Promise<Json[]> => (await server.get(SERVICES)).json['items'] as Json[]
const find = async (server: Client, name: string): Promise<Json> => (await server.get(`${SERVICES}/${name}`)).json

/** All of them, once there are that many: they are created when the server is ready. */
async function settled (server: Client, count = 29): Promise<Json[]> {
  await until(async () => (await all(server)).length === count)
  return await all(server)
}

t.test('there is one for each group version that is served, with the priorities of the convention', async t => {
  const server = await build(t)
  const items = await settled(server)
  const told = items.map(({ metadata, spec }) =>
    `${String(metadata.name)} ${String(spec.groupPriorityMinimum)}/${String(spec.versionPriority)}`)
  t.same(told.sort(), [
    'v1. 18000/1', 'v1.admissionregistration.orch.io 16700/15', 'v1.apiextensions.orch.io 16700/15', 'v1.apps 17800/15',
    'v1.authentication.orch.io 17700/15',
    'v1.authorization.orch.io 17600/15', 'v1.autoscaling 17500/15', 'v1.batch 17400/15',
    'v1.certificates.orch.io 17300/15', 'v1.coordination.orch.io 16500/15',
    'v1.discovery.orch.io 16200/15', 'v1.events.orch.io 17750/15', 'v1.networking.orch.io 17200/15',
    'v1.node.orch.io 16300/15', 'v1.policy 17100/15',
    'v1.rbac.authorization.orch.io 17000/15', 'v1.scheduling.orch.io 16600/15', 'v1.storage.orch.io 16800/15',
    'v1beta1.batch 17400/9', 'v1beta1.discovery.orch.io 16200/12',
    'v1beta1.events.orch.io 17750/5', 'v1beta1.flowcontrol.apiserver.orch.io 16100/9', 'v1beta1.node.orch.io 16300/9',
    'v1beta1.policy 17100/9', 'v1beta1.storage.orch.io 16800/9',
    'v1beta2.flowcontrol.apiserver.orch.io 16100/12', 'v2.autoscaling 17500/30', 'v2beta1.autoscaling 17500/9',
    'v2beta2.autoscaling 17500/1'
  ])
  for (const { metadata, status } of items) {
    t.match(
      [metadata.labels, status.conditions],
      [{ 'kube-aggregator.orch.io/automanaged': 'onstart' }, [{ type: 'Available', status: 'True', reason: 'Local' }]],
      metadata.name
    )
  }
})

t.test('versions that are off have none, and alpha ones the least priority', async t => {
  const server = await build(t, { api: { disabled: ['apps/v1'] } })
  await until(async () => (await server.get(`${SERVICES}/v1alpha1.internal.apiserver.orch.io`)).code === 200)
  t.equal((await server.get(`${SERVICES}/v1.apps`)).code, 404)
  t.match(
    [await find(server, 'v1alpha1.internal.apiserver.orch.io')],
    [{ spec: { groupPriorityMinimum: 16000, versionPriority: 1 } }]
  )
})

t.test('a second start writes nothing, creates what is missing and restores what was changed', async t => {
  const storage = kept(t)
  const first = await build(t, { storage })
  const before = await settled(first)
  await first.app.close()
  const second = await build(t, { storage })
  t.same(
    (await all(second)).map(({ metadata }) => metadata.resourceVersion),
    before.map(({ metadata }) => metadata.resourceVersion)
  )
  const { uid } = (await find(second, 'v1.apps'))['metadata']
  await second.delete(`${SERVICES}/v1.apps`)
  await until(async () => {
    const { metadata } = await find(second, 'v1.apps')
    return metadata?.uid !== undefined && metadata.uid !== uid
  })
  await second.patch(`${SERVICES}/v1.batch`, { spec: { groupPriorityMinimum: 5 } })
  await until(async () => (await find(second, 'v1.batch'))['spec'].groupPriorityMinimum === 17400)
  await second.patch(`${SERVICES}/v1.batch`, { metadata: { labels: null } })
  await second.patch(`${SERVICES}/v1.batch`, { spec: { groupPriorityMinimum: 5 } })
  await second.patch(`${SERVICES}/v1.policy`, { spec: { groupPriorityMinimum: 5 } })
  await until(async () => (await find(second, 'v1.policy'))['spec'].groupPriorityMinimum === 17100)
  t.equal((await find(second, 'v1.batch'))['spec'].groupPriorityMinimum, 5, 'without the label it is left alone')
})

t.test('APIServices of custom resources follow the versions that are served', async t => {
  const storage = kept(t)
  const server = await build(t, { storage })
  const exists = async (name: string): Promise<boolean> => (await server.get(`${SERVICES}/${name}`)).code === 200
  await install(server, definition())
  await install(server, definition({}, { plural: 'gears', kind: 'Gear' }))
  await until(() => exists('v1.example.com'))
  t.match(await find(server, 'v1.example.com'), {
    metadata: { labels: { 'kube-aggregator.orch.io/automanaged': 'true' } },
    spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 }
  })
  const { uid } = (await find(server, 'v1.example.com'))['metadata']
  await server.patch(`${DEFINITIONS}/widgets.example.com`, {
    spec: { versions: [version('v1'), version('v2', { storage: false })] }
  })
  await until(() => exists('v2.example.com'))
  await server.delete(`${DEFINITIONS}/widgets.example.com`)
  await until(async () => !await exists('v2.example.com'))
  t.equal((await find(server, 'v1.example.com'))['metadata'].uid, uid, 'gears still need v1')
  await server.delete(`${DEFINITIONS}/gears.example.com`)
  await until(async () => !await exists('v1.example.com'))
})

t.test('stale APIServices of an earlier run are removed at the start; those of others stay', async t => {
  const storage = kept(t)
  const first = await build(t, { storage })
  const made = (group: string, labels?: Json): Json => ({
    metadata: { name: `v1.${group}`, labels },
    spec: { group, version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 }
  })
  await first.post(SERVICES, made('stale.example.com', { 'kube-aggregator.orch.io/automanaged': 'true' }))
  await first.post(SERVICES, made('old.example.com', { 'kube-aggregator.orch.io/automanaged': 'onstart' }))
  await first.post(SERVICES, made('own.example.com'))
  await settled(first, 32)
  await first.app.close()
  const second = await build(t, { storage })
  await until(async () => (await second.get(`${SERVICES}/v1.stale.example.com`)).code === 404)
  await settled(second, 31)
})

t.test('an admission plugin that refuses APIServices does not prevent readiness', async t => {
  const server = await build(t, {
    admission: {
      plugins: [
        { name: 'No', handles: ({ resource }) => resource === 'apiservices', validate: () => { throw new Error('no') } }
      ]
    }
  })
  t.same(await all(server), [])
})
