import t from 'tap'
import { TABLE, build, type Client, type Json, type Answer } from '../build.js'

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const selector = {
  matchLabels: { b: '2', a: '1' },
  matchExpressions: [
    { key: 'd', operator: 'NotIn', values: ['z'] },
    { key: 'c', operator: 'In', values: ['y', 'x'] },
    { key: 'f', operator: 'DoesNotExist' },
    { key: 'e', operator: 'Exists' }
  ]
}

async function created (server: Client, url: string, spec: Json): Promise<Json> {
  const { code, body, json } = await server.post(url, {
    metadata: { name: 'web', annotations: { a: 'b' } }, spec: { replicas: 2, template, ...spec }
  })
  if (code !== 201) throw new Error(body)
  return json
}

for (const { url, spec, text } of [
  {
    url: DEPLOYMENTS,
    spec: { selector, template: { ...template, metadata: { labels: { a: '1', b: '2', c: 'x', e: '' } } } },
    text: 'a=1,b=2,c in (x,y),d notin (z),e,!f'
  },
  {
    url: '/apis/apps/v1/namespaces/default/replicasets',
    spec: { selector: { matchLabels: { app: 'web' } } },
    text: 'app=web'
  },
  {
    url: '/apis/apps/v1/namespaces/default/statefulsets',
    spec: { serviceName: 's', selector: { matchLabels: { app: 'web' } } },
    text: 'app=web'
  },
  {
    url: '/api/v1/namespaces/default/replicationcontrollers',
    spec: { selector: { app: 'web', b: '' } },
    text: 'app=web,b=',
    labels: { app: 'web', b: '' }
  }
].map(({ labels, ...rest }) => ({
  ...rest, spec: labels === undefined ? rest.spec : { ...rest.spec, template: { ...template, metadata: { labels } } }
}))) {
  t.test(`the scale of ${url.split('/').at(-1)} returns and sets the number`, async t => {
    const server = await build(t)
    const object = await created(server, url, spec)
    const { uid, resourceVersion, creationTimestamp } = object['metadata']
    const shown = await server.get(`${url}/web/scale`)
    t.strictSame(shown.json, {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'web', namespace: 'default', uid, resourceVersion, creationTimestamp },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: text }
    })
    for (const table of [
      await server.get(`${url}/web/scale`, { accept: TABLE }),
      await server.put(`${url}/web/scale`, shown.json, { accept: TABLE })
    ]) {
      const { columnDefinitions, rows } = table.json
      t.same(columnDefinitions.map(({ name }: Json) => name), ['Name', 'Desired', 'Available', 'Age'])
      t.match(rows, [
        { cells: ['web', 2, 0, /s$/], object: { kind: 'PartialObjectMetadata', metadata: { name: 'web', uid } } }
      ])
    }
    const put = await server.put(`${url}/web/scale`, { ...shown.json, spec: { replicas: 5 }, status: { replicas: 9 } })
    t.match(put, { code: 200, json: { kind: 'Scale', spec: { replicas: 5 }, status: { replicas: 0 } } })
    t.equal((await server.patch(`${url}/web/scale`, { spec: { replicas: 7 } })).json.spec.replicas, 7)
    const { json } = await server.get(`${url}/web`)
    t.match(json, { spec: { replicas: 7 }, metadata: { annotations: { a: 'b' } } })
    t.equal(
      (await server.patch(`${url}/web/scale`, { spec: { replicas: 0 } })).json.spec.replicas, undefined,
      'none is left out'
    )
    t.equal((await server.get(`${url}/web`)).json.spec.replicas, 0)
  })
}

t.test('a scale is changed under the conditions of its object', async t => {
  const server = await build(t)
  await created(server, DEPLOYMENTS, { selector: { matchLabels: { app: 'web' } } })
  const url = `${DEPLOYMENTS}/web/scale`
  const { json } = await server.get(url)
  t.match(await server.put(url, { ...json, spec: { replicas: -1 } }), {
    code: 422, json: { details: { kind: 'Scale', group: 'autoscaling', causes: [{ field: 'spec.replicas' }] } }
  })
  t.equal((await server.patch(url, { spec: { replicas: -1 } })).code, 422)
  t.equal((await server.put(url, { ...json, metadata: { name: 'other' } })).code, 400)
  t.equal((await server.put(url, { ...json, metadata: { name: 'web', namespace: 'other' } })).code, 400)
  t.match(
    await server.put(url, { ...json, metadata: { name: 'web', uid: 'another' }, spec: { replicas: 3 } }),
    { code: 409, json: { details: { kind: 'deployments/scale', group: 'apps' } } }
  )
  t.match(await server.put(url, { ...json, metadata: { name: 'web', labels: { 'a b': 'c' } } }), {
    code: 422, json: { details: { kind: 'Scale', causes: [{ field: 'metadata.labels' }] } }
  })
  t.equal((await server.put(`${url}?dryRun=All`, { ...json, spec: { replicas: 3 } })).json.spec.replicas, 3)
  t.equal((await server.put(url, { ...json, spec: { replicas: 4 } })).code, 200)
  t.match(await server.put(url, { ...json, spec: { replicas: 5 } }), {
    code: 409, json: { reason: 'Conflict', details: { kind: 'deployments' } }
  })
  t.equal(
    (await server.put(url, { metadata: { name: 'web' }, spec: { replicas: 6 } })).json.spec.replicas, 6,
    'without a version whatever is there'
  )
  t.match(await server.get(`${DEPLOYMENTS}/none/scale`), {
    code: 404,
    json: { message: 'deployments/scale.apps "none" not found', details: { group: 'apps', kind: 'deployments/scale' } }
  })
  t.match(await server.get('/api/v1/namespaces/default/replicationcontrollers/none/scale'), {
    code: 404, json: { message: 'replicationcontrollers/scale.autoscaling "none" not found' }
  })
  for (const answer of [
    await server.put(`${DEPLOYMENTS}/none/scale`, { metadata: { name: 'none' } }),
    await server.patch(`${DEPLOYMENTS}/none/scale`, {})
  ]) {
    t.match(answer, { code: 404, json: { message: 'deployments.apps "none" not found' } })
  }
  t.equal((await server.call('DELETE', url)).code, 405)
})

t.test('an apply of a scale without replicas keeps the number, unless it was applied before', async t => {
  const server = await build(t)
  await created(server, DEPLOYMENTS, { selector: { matchLabels: { app: 'web' } } })
  const scaled = (spec: Json, accept?: string): Promise<Answer> => server.call(
    'PATCH', `${DEPLOYMENTS}/web/scale?fieldManager=me&force=true`,
    { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web' }, spec },
    { 'content-type': 'application/apply-patch+yaml', ...(accept === undefined ? {} : { accept }) }
  )
  const numbers: unknown[] = []
  for (const spec of [{}, { replicas: 5 }, {}, {}]) numbers.push((await scaled(spec)).json['spec'].replicas)
  t.same(numbers, [2, 5, undefined, undefined])
  t.equal((await server.get(`${DEPLOYMENTS}/web`)).json['spec'].replicas, 0)
  t.match((await scaled({ replicas: 1 }, TABLE)).json, { kind: 'Table', rows: [{ cells: ['web', 1, 0, /s$/] }] })
})

t.test('an update of the status changes nothing else', async t => {
  const server = await build(t)
  const object = await created(server, DEPLOYMENTS, {
    selector: { matchLabels: { app: 'web' } }, status: { replicas: 3 }
  })
  t.same(object['status'], {})
  const put = await server.put(`${DEPLOYMENTS}/web/status`, {
    ...object, spec: { ...object['spec'], replicas: 9 }, status: { replicas: 3 }
  })
  t.match(put.json, { spec: { replicas: 2 }, status: { replicas: 3 } })
  t.match(
    (await server.patch(`${DEPLOYMENTS}/web/status`, { spec: { replicas: 9 }, status: { readyReplicas: 1 } })).json,
    { spec: { replicas: 2 }, status: { replicas: 3, readyReplicas: 1 } }
  )
  const whole = await server.patch(`${DEPLOYMENTS}/web`, { spec: { replicas: 4 }, status: { replicas: 8 } })
  t.match(whole.json, { spec: { replicas: 4 }, status: { replicas: 3, readyReplicas: 1 } })
  t.equal((await server.get(`${DEPLOYMENTS}/web/scale`)).json.status.replicas, 3)
})
