/** Objects as table rows, and their selectable fields, as kubectl requests both. */
import t from 'tap'
import { build, TABLE, type Client, type Json } from '../build.js'

const PODS = '/api/v1/namespaces/default/pods'
const SCHEMAS = '/apis/flowcontrol.apiserver.orch.io'

const pod = (name: string, nodeName: string): Json => ({
  metadata: { name }, spec: { nodeName, containers: [{ name: 'web', image: 'nginx:1.21' }] }
})
const names = (answer: { json: Json }): string[] => answer.json['items'].map(({ metadata }: Json) => metadata['name'])

async function withPods (server: Client): Promise<void> {
  for (const [name, node, phase] of [
    ['done', 'node-1', 'Succeeded'], ['failed', 'node-2', 'Failed'], ['runs', 'node-1', 'Running']
  ] as const) {
    const made = await server.post(PODS, pod(name, node))
    t.equal((await server.put(`${PODS}/${name}/status`, { ...made.json, status: { phase } })).code, 200)
  }
}

t.test('rows of finished pods have a condition that says so, whatever else they carry', async t => {
  const server = await build(t)
  await withPods(server)
  const completed = (reason: string) => [
    {
      type: 'Completed',
      status: 'True',
      reason,
      message: reason === 'Failed' ? 'The pod failed.' : 'The pod has completed successfully.'
    }
  ]
  for (const include of ['None', 'Metadata', 'Object']) {
    const { rows } = (await server.get(`${PODS}?includeObject=${include}`, { accept: TABLE })).json
    t.same(
      rows.map(({ cells, conditions }: Json) => [cells[0], cells[2], conditions]),
      [
        ['done', 'Succeeded', completed('Succeeded')],
        ['failed', 'Failed', completed('Failed')],
        ['runs', 'Running', undefined]
      ],
      include
    )
  }
  t.same((await server.get(`${PODS}/done`, { accept: TABLE })).json['rows'][0].conditions, completed('Succeeded'))
})

t.test('pods are listed by their node and phase', async t => {
  const server = await build(t)
  await withPods(server)
  t.same(names(await server.get(`${PODS}?fieldSelector=spec.nodeName=node-1`)), ['done', 'runs'])
  t.same(names(await server.get(`${PODS}?fieldSelector=spec.nodeName=node-1,status.phase!=Succeeded`)), ['runs'])
  t.match(await server.get(`${PODS}?fieldSelector=spec.image=x`), {
    code: 400, json: { reason: 'BadRequest', message: /field label not supported: spec\.image/ }
  })
  t.match(await server.get('/apis/batch/v1/jobs?fieldSelector=spec.x=y'), {
    code: 400, json: { message: /field label "spec\.x" not supported for Job/ }
  })
  t.match(await server.get('/apis/apps/v1/deployments?fieldSelector=spec.x=y'), {
    code: 400,
    json: { message: /"spec\.x" is not a known field selector: only "metadata\.name", "metadata\.namespace"/ }
  })
})

t.test('a table of flow schemas is in the order in which they are tried, a list in that of names', async t => {
  const server = await build(t)
  const schemas: Array<[string, number]> = [['a', 900], ['b', 100], ['c', 900], ['d', 20]]
  for (const [name, matchingPrecedence] of schemas) {
    const made = await server.post(`${SCHEMAS}/v1beta2/flowschemas`, {
      metadata: { name }, spec: { priorityLevelConfiguration: { name: 'x' }, matchingPrecedence }
    })
    t.equal(made.code, 201)
  }
  for (const version of ['v1beta1', 'v1beta2']) {
    const table = async (query = '') => (await server.get(
      `${SCHEMAS}/${version}/flowschemas${query}`, { accept: TABLE }
    )).json['rows'].map(({ cells }: Json) => cells[0])
    t.same(await table(), ['d', 'b', 'a', 'c'], version)
    t.same(await table('?limit=3'), ['b', 'a', 'c'], 'each page by itself')
    t.same(names(await server.get(`${SCHEMAS}/${version}/flowschemas`)), ['a', 'b', 'c', 'd'])
  }
})
