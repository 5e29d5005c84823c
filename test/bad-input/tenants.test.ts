import t from 'tap'
import { GROWING } from '../benchmarks/growing-shapes.js'
import { SHAPES, type Call } from '../benchmarks/tenant-shapes.js'
import { build, type Client } from '../build.js'

const MAPS = '/api/v1/namespaces/default/configmaps'
const APPLY = 'application/apply-patch+yaml'
/** Turns of work that is done in steps; small requests take two or three. */
const FEW = 6
/** Refused before any work. */
const REFUSED_AT_ONCE = new Set([400, 413])
/** Answered from existing bytes, or from a cached answer. */
const CHEAP = /^(?:GET|LIST)|duplicate keys|doubling copies|slice of 1,000|access review|unknown fields|containers/

/** How many event loop turns others get while it runs. */
async function turnsOf<T> (work: () => Promise<T>): Promise<{ result: T, turns: number }> {
  let turns = 0
  let running = true
  const turn = (): void => {
    turns++
    if (running) setImmediate(turn)
  }
  setImmediate(turn)
  const result = await work()
  running = false
  return { result, turns }
}

async function apply (
  server: Client, name: string, manager: string, data: object, more = ''
): Promise<Awaited<ReturnType<Client['call']>>> {
  return await server.call(
    'PATCH', `${MAPS}/${name}?fieldManager=${manager}${more}`,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }, { 'content-type': APPLY }
  )
}

const keyed = (count: number, value = ''): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]))

t.test('the most expensive requests of a tenant run in steps, between which other requests run', async t => {
  const server = await build(t)
  for (const { name, code, before = [], call: { method, path, type, accept, body } } of SHAPES) {
    for (const one of before) {
      await server.call(one.method, one.path, one.body, one.type === undefined ? {} : { 'content-type': one.type })
    }
    const { result, turns } = await turnsOf(() => server.call(method, path, body, {
      ...type === undefined ? {} : { 'content-type': type }, ...accept === undefined ? {} : { accept }
    }))
    if (code === undefined) t.ok(result.code === 200 || result.code === 201, `${name}: ${result.code}`)
    else t.equal(result.code, code, name)
    if (REFUSED_AT_ONCE.has(result.code) || CHEAP.test(name)) continue
    t.ok(turns >= FEW, `${name}: ${turns} turns`)
  }
})

t.test('requests whose work would grow beyond what was sent are bounded', async t => {
  const server = await build(t, {
    authentication: { tokens: 'bench,bench,1,"group-a,system:masters"\n' },
    authorization: { modes: ['RBAC', 'AlwaysAllow'] }
  })
  const send = async ({ method, path, type, accept, body }: Call): Promise<number> => (await server.call(
    method,
    path,
    body,
    {
      authorization: 'Bearer bench',
      ...type === undefined ? {} : { 'content-type': type },
      ...accept === undefined ? {} : { accept }
    }
  )).code
  // The resource of a definition is served a moment later.
  const served = async (one: Call): Promise<number> => {
    let answer = await send(one)
    for (let tries = 0; answer === 404 && tries < 200; tries++) {
      await new Promise(resolve => { setTimeout(resolve, 20) })
      answer = await send(one)
    }
    return answer
  }
  for (const { name, code, before = [], call } of GROWING) {
    for (const one of before) {
      const answer = await served(one)
      t.ok(answer === 201 || answer === 409, `${name}: ${one.path}: ${answer}`)
    }
    const answer = await served(call)
    if (code === undefined) t.ok(answer === 200 || answer === 201, `${name}: ${answer}`)
    else t.equal(answer, code, name)
  }
})

t.test('an object over 1.5 MiB is refused whichever client made it grow, in a dry run too', async t => {
  const server = await build(t)
  const large = { metadata: { annotations: { a: 'x'.repeat(200_000) } } }
  // Endpoints have no limit of their own, nor do their owners.
  const endpoints = (name: string, count: number): object => ({
    metadata: { name, ...large.metadata },
    subsets: [
      {
        addresses: Array.from(
          { length: count },
          (_, at) => ({ ip: `10.1.${at >> 8}.${at & 255}`, hostname: `h${at}`, nodeName: `${'n'.repeat(200)}${at}` })
        ),
        ports: [{ port: 80 }]
      }
    ]
  })
  const path = '/api/v1/namespaces/default/endpoints'
  for (const query of ['', '?dryRun=All']) {
    const refused = await server.post(`${path}${query}`, endpoints('more', 6000))
    t.equal(refused.code, 413, query)
    t.match(
      refused.json,
      {
        reason: 'RequestEntityTooLarge',
        message:
          /^Request entity too large: the object would be stored in \d+ bytes with the owners of its fields, limit is 1570816$/
      },
      query
    )
  }
  t.equal((await server.post(path, endpoints('fits', 4000))).code, 201)
  const grown = await server.patch(`${path}/fits`, endpoints('fits', 6000))
  t.equal(grown.code, 413)
  t.match(await server.get(`${path}/more`), { code: 404 })
})

t.test('an object without room for its deletion mark can still be deleted', async t => {
  const server = await build(t)
  const path = '/api/v1/namespaces/default/endpoints'
  // As many values as may be stored, minus those that the server adds.
  const endpoints = (count: number): object => ({
    metadata: { name: 'full', finalizers: ['example.com/held'] },
    subsets: [{ addresses: Array.from({ length: count }, (_, at) => ({ ip: `10.1.${at >> 8}.${at & 255}` })) }]
  })
  const refusal: string = (await server.post(`${path}?dryRun=All`, endpoints(24_990))).json['message']
  const [, values, limit] = /hold (\d+) values.* limit is (\d+)/.exec(refusal) ?? []
  const fits = 24_990 - Math.ceil((Number(values) - Number(limit)) / 2) // an address and its text
  t.equal((await server.post(path, endpoints(fits + 1))).code, 413)
  t.equal((await server.post(path, endpoints(fits))).code, 201)
  t.equal(
    (await server.patch(`${path}/full`, { metadata: { labels: { a: 'b', c: 'd', e: 'f' } } })).code, 413,
    'it may not grow'
  )
  t.equal((await server.delete(`${path}/full`)).code, 202)
  t.match(await server.get(`${path}/full`), { code: 200, json: { metadata: { deletionGracePeriodSeconds: 0 } } })
  t.equal((await server.patch(`${path}/full`, { metadata: { finalizers: null } })).code, 200)
  t.equal((await server.get(`${path}/full`)).code, 404)
})

t.test('managers that a client sends are capped like tracked ones', async t => {
  const server = await build(t)
  const made = await server.post(MAPS, { metadata: { name: 'sent' }, data: { a: 'b' } })
  const managedFields = Array.from(
    { length: 100 },
    (_, at) => ({
      manager: `m${at}`,
      operation: at % 2 === 0 ? 'Apply' : 'Update',
      apiVersion: 'v1',
      time: '2026-01-15T10:21:09Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {} } }
    })
  )
  const { json } = await server.put(`${MAPS}/sent`, {
    ...made.json, metadata: { ...made.json.metadata, managedFields }
  })
  t.equal(
    json.metadata.managedFields.filter(({ operation }: { operation: string }) => operation === 'Apply').length, 32
  )
  t.ok(json.metadata.managedFields.length <= 43)
})

t.test('an object that was stored can be sent back: its owners count as values, too', async t => {
  const server = await build(t)
  const data = keyed(15_000)
  for (const manager of ['one', 'two']) {
    t.ok([200, 201].includes((await apply(server, 'owned', manager, data)).code), manager)
  }
  const third = await apply(server, 'owned', 'three', data)
  t.match(third, {
    code: 413,
    json: {
      message:
        /^Request entity too large: the object would hold \d+ values with the owners of its fields, limit is 50000$/
    }
  })
  t.match(await apply(server, 'owned', 'three', data, '&dryRun=All'), { code: 413 })
  const there = await server.get(`${MAPS}/owned`)
  t.equal((await server.put(`${MAPS}/owned`, there.body)).code, 200)
})

t.test('of forty appliers thirty-two keep their entries; the fields of the others are merged into one', async t => {
  const server = await build(t)
  for (let at = 0; at < 40; at++) await apply(server, 'shared', `m${String(at).padStart(2, '0')}`, { [`k${at}`]: 'x' })
  const { managedFields } = (await server.get(`${MAPS}/shared`)).json.metadata
  t.equal(managedFields.length, 33)
  const ancient = managedFields.find(({ manager }: { manager: string }) => manager === 'ancient-changes')
  t.match(ancient, { operation: 'Update', apiVersion: 'v1' })
  t.same(Object.keys(ancient.fieldsV1['f:data']).sort(), Array.from({ length: 8 }, (_, at) => `f:k${at}`))
  const conflict = await apply(server, 'shared', 'other', { k0: 'y' })
  t.match(conflict, {
    code: 409,
    json: {
      details: {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "ancient-changes" using v1', field: '.data.k0' }
        ]
      }
    }
  })
})

t.test('at most a hundred conflicts are listed, followed by the number of the rest', async t => {
  const server = await build(t)
  await apply(server, 'contested', 'one', keyed(150))
  const { code, json } = await apply(server, 'contested', 'two', keyed(150, 'x'))
  t.equal(code, 409)
  t.equal(json.details.causes.length, 100)
  t.match(json.message, /^Apply failed with 150 conflicts: conflicts with "one":\n/)
  t.match(json.message, /\nand 50 more$/)
})

t.test('texts that hold more than they show are refused before they are read', async t => {
  const server = await build(t)
  const yaml = (body: string): ReturnType<Client['call']> =>
    server.call('POST', MAPS, body, { 'content-type': 'application/yaml' })
  const aliases = Array.from({ length: 400 }, (_, at) => `  a${at}: *x\n`).join('')
  t.match(await yaml(`metadata: {name: a}\ndata:\n  k: &x ${'x'.repeat(100_000)}\n${aliases}`), {
    code: 400, json: { message: /too large a YAML document once its aliases are followed/ }
  })
  const owned = (element: string): Promise<Awaited<ReturnType<Client['call']>>> => server.post(MAPS, {
    metadata: {
      name: 'a',
      managedFields: [
        {
          manager: 'm',
          operation: 'Update',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:x': { [element]: {} } }
        }
      ]
    }
  })
  for (const element of [
    `v:${'['.repeat(20_000)}${']'.repeat(20_000)}`, `v:${'['.repeat(5000)}${']'.repeat(5000)}`,
    `k:{${'"a":1,'.repeat(5000)}"b":1}`
  ]) {
    t.match(
      await owned(element),
      { code: 422, json: { details: { causes: [{ field: 'metadata.managedFields[0].fieldsV1' }] } } },
      element.slice(0, 20)
    )
  }
  const schedule = `0${',0'.repeat(100_000)} * * * *`
  const job = await server.post('/apis/batch/v1/namespaces/default/cronjobs', {
    metadata: { name: 'a' },
    spec: {
      schedule,
      jobTemplate: { spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } } } }
    }
  })
  t.equal(job.code, 422, job.body.slice(0, 300))
  t.match(job.json.details.causes, [{ field: 'spec.schedule', message: /a schedule has at most 1000 characters/ }])
  const autoscaler = await server.post(
    '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers',
    {
      metadata: { name: 'a', annotations: { 'autoscaling.alpha.orch.io/conditions': `[${'{},'.repeat(200_000)}{}]` } },
      spec: { maxReplicas: 1, scaleTargetRef: { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' } }
    }
  )
  t.match(autoscaler, { code: 413 }, 'an annotation that holds more than an object may')
})
