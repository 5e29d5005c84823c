import t from 'tap'
import { componentStatuses } from '../../../plugins/operations/component-statuses.js'
import { build, TABLE } from '../../build.js'

const STATUSES = '/api/v1/componentstatuses'

t.test('the health of the store can be read, with a warning', async t => {
  const server = await build(t)
  const one = await server.get(`${STATUSES}/etcd-0`)
  t.same(
    [one.code, one.json.kind, one.json.conditions],
    [200, 'ComponentStatus', [{ type: 'Healthy', status: 'True', message: 'ok' }]]
  )
  t.equal(String(one.headers['warning']), '299 - "v1 ComponentStatus is deprecated in v1.19+"')
  const all = await server.get(STATUSES)
  t.same(
    [
      all.json.kind, all.json.metadata,
      all.json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
    ],
    ['ComponentStatusList', {}, ['etcd-0']]
  )
  t.match(String(all.headers['warning']), /deprecated/)
  t.equal((await server.get(`${STATUSES}?fieldSelector=metadata.name%3Dother`)).json.items.length, 0)
  t.equal((await server.get(STATUSES, { accept: TABLE })).json.rows.length, 1)
  t.equal((await server.get(`${STATUSES}/scheduler`)).code, 404)
  t.equal((await server.post(STATUSES, {})).code, 405)
  t.match(await server.get(`${STATUSES}?watch=1`), {
    code: 405,
    json: {
      reason: 'MethodNotAllowed',
      message: 'watch is not supported on resources of kind "componentstatuses"',
      details: { kind: 'componentstatuses' }
    }
  })
  t.match(
    (await server.get('/api/v1')).json.resources.find(({ name }: { name: string }) => name === 'componentstatuses'),
    { verbs: ['get', 'list'], shortNames: ['cs'] }
  )
})

t.test('a store that does not answer is reported as unhealthy', async t => {
  const well = { backend: { status: async () => ({ revision: 1, size: 1 }) as never } }
  const away = {
    backend: { status: async () => { throw new Error('connection refused', { cause: new Error('ECONNREFUSED') }) } }
  }
  const found = await componentStatuses({ all: () => [well, away, well] })()
  t.match(found, [
    { metadata: { name: 'etcd-0' }, conditions: [{ status: 'True' }] },
    {
      metadata: { name: 'etcd-1' },
      conditions: [{ type: 'Healthy', status: 'False', error: 'connection refused: ECONNREFUSED' }]
    }
  ])
  t.equal(found.length, 2, 'one for a store, however many resources are in it')
})
