/** A user of etcd with rights below the prefix only, created by the commands of the documentation. */
import t from 'tap'
import { openEtcd } from '../../storage/etcd/backend.js'
import { backendContract, SOME_OPERATIONS } from '../contracts/backend.js'
import { Observed } from '../contracts/observed.js'
import { ServerHere, until } from '../interop/server.js'
import { startLimitedEtcd } from '../limited-etcd.js'

const PREFIX = '/registry'
const CONFIGS = '/api/v1/namespaces/default/configmaps'

const limited = await startLimitedEtcd(t)
const ours = limited.as('orch-apiserver')

t.test('a user with rights below the prefix alone has no others', async t => {
  const backend = openEtcd(ours)
  t.teardown(() => backend.close())
  for (const key of ['/registr', '/registry', '/registry0', '/other/0']) {
    await t.rejects(backend.get(key), { code: 'Unavailable', message: /permission denied/ })
    await t.rejects(backend.create(key, Buffer.from('x')), { code: 'Unavailable', message: /permission denied/ })
  }
})

await backendContract(t, {
  prefix: PREFIX, operations: SOME_OPERATIONS, open: async () => openEtcd({ ...ours, prefix: PREFIX })
})

t.test('keys beyond the prefix are refused by name, not only by etcd', async t => {
  const backend = openEtcd({ ...ours, prefix: PREFIX })
  t.teardown(() => backend.close())
  for (const key of ['/registry', '/registryx/a', '/other/a']) {
    await t.rejects(backend.create(key, Buffer.from('x')), TypeError)
  }
  t.throws(() => new Observed(backend, '/', '0', 1), TypeError)
})

t.test('a whole server works with such a user, and none of its calls is denied', async t => {
  const server = await ServerHere.start(
    t,
    [
      ...limited.flags(), '--etcd-compaction-interval=200ms', '--etcd-db-metric-poll-interval=50ms',
      '--etcd-count-metric-poll-period=50ms'
    ]
  )
  t.equal((await server.ask(CONFIGS, 'POST', { metadata: { name: 'a' }, data: { at: '1' } })).code, 201)
  t.match(
    JSON.parse((await server.ask(`${CONFIGS}/a`, 'PUT', { metadata: { name: 'a' }, data: { at: '2' } })).body),
    { data: { at: '2' } }
  )
  t.match(JSON.parse((await server.ask(CONFIGS)).body), { items: [{ metadata: { name: 'a' }, data: { at: '2' } }] })
  // Compactions are so frequent that the version may be gone on a busy machine.
  await until('a deletion to be watched', async () => {
    await server.ask(CONFIGS, 'POST', { metadata: { name: 'a' } })
    const { metadata: { resourceVersion } } = JSON.parse((await server.ask(`${CONFIGS}/a`)).body)
    t.equal((await server.ask(`${CONFIGS}/a`, 'DELETE')).code, 200)
    return (await server.ask(
      `${CONFIGS}?watch=1&timeoutSeconds=1&resourceVersion=${resourceVersion}`
    )).body.startsWith('{"type":"DELETED"')
  })
  t.equal((await server.ask('/api/v1/namespaces', 'POST', { metadata: { name: 'team' } })).code, 201)
  t.ok((await server.ask('/api/v1/namespaces/team', 'DELETE')).code < 300)
  await until('the namespace to be removed', async () => (await server.ask('/api/v1/namespaces/team')).code === 404)
  await until('a compaction', async () =>
    (await server.ask(`${CONFIGS}?watch=1&timeoutSeconds=1&resourceVersion=1`)).body.includes('"code":410'))
  for (const metric of [
    /^apiserver_storage_size_bytes\{.*\} [1-9]/m, /^apiserver_storage_objects\{resource="namespaces"\} [1-9]/m
  ]) {
    await until(`${metric}`, async () => metric.test((await server.ask('/metrics')).body))
  }
  for (const path of ['/readyz', '/livez', '/healthz']) t.equal((await server.ask(path)).code, 200)
  t.notMatch(server.log, /denied|permission|failed/i)
})
