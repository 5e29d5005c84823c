/** Priority and fairness where release 1.36 is emulated, and one store for both releases. */
import t from 'tap'
import { build, type Json } from '../build.js'
import { fromStored, toStored } from '../../schemas/api/flowcontrol/shares.js'
import type { PriorityLevelConfiguration } from '../../schemas/api/flowcontrol/v1.js'

const GROUP = '/apis/flowcontrol.apiserver.orch.io'
const LEVELS = `${GROUP}/v1/prioritylevelconfigurations`
const MERGE = 'application/merge-patch+json'
const ON = { limits: { priorityAndFairness: true }, emulatedVersion: '1.36' } as const
const limited = (more: Json = {}): Json => ({
  spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...more } }
})

t.test('the levels and schemas are those of the release', async t => {
  const server = await build(t, ON)
  const levels = (await server.get(LEVELS)).json['items'] as Json[]
  const shares = ({ metadata, spec }: Json): [string, unknown[]] => {
    const part = ((spec as Json)['limited'] ?? (spec as Json)['exempt']) as Json
    return [String((metadata as Json)['name']), [part['nominalConcurrencyShares'], part['lendablePercent']]]
  }
  t.same(Object.fromEntries(levels.map(shares)), {
    'catch-all': [5, 0], exempt: [0, 0], 'global-default': [20, 50], 'leader-election': [10, 0], 'node-high': [40, 25],
    system: [30, 33], 'workload-high': [40, 50], 'workload-low': [100, 90]
  })
  const schemas = (await server.get(`${GROUP}/v1/flowschemas`)).json['items'] as Json[]
  const names = schemas.map(({ metadata }) => (metadata as Json)['name'])
  t.notOk(names.includes('endpoint-controller') || names.includes('workload-leader-election'))
  t.equal(names.length, 11)
  t.equal((await server.get(`${GROUP}/v1beta2/flowschemas`)).code, 404)
  t.match(((await server.get(`${LEVELS}/system`)).json['metadata'] as Json)['managedFields'], [
    { apiVersion: 'flowcontrol.apiserver.orch.io/v1' }
  ])
  t.equal(
    (await server.patch(`${LEVELS}/exempt`, { spec: { exempt: { nominalConcurrencyShares: 7 } } }, MERGE)).code, 200
  )
  t.match(
    (await server.get('/metrics')).body, /^apiserver_flowcontrol_nominal_limit_seats{priority_level="exempt"} 17$/m,
    'the seats that it reserves count'
  )
  t.match(
    (await server.patch(`${LEVELS}/catch-all`, { spec: { limited: { lendablePercent: 7 } } }, MERGE)).json,
    { message: /spec of 'catch-all' must equal the fixed value/ }
  )
})

t.test('shares of zero, lending and borrowing are kept', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const read = async (name: string): Promise<unknown> =>
    ((await server.get(`${LEVELS}/${name}`)).json['spec'] as Json)['limited']
  await server.post(LEVELS, {
    metadata: { name: 'zero', annotations: { a: 'b' } },
    ...limited({ nominalConcurrencyShares: 0, borrowingLimitPercent: 50 })
  })
  t.same(await read('zero'), {
    nominalConcurrencyShares: 0, limitResponse: { type: 'Reject' }, lendablePercent: 0, borrowingLimitPercent: 50
  })
  t.same(((await server.get(`${LEVELS}/zero`)).json['metadata'] as Json)['annotations'], { a: 'b' })
  await server.patch(`${LEVELS}/zero`, { spec: { limited: { nominalConcurrencyShares: null } } }, MERGE)
  t.match(await read('zero'), { nominalConcurrencyShares: 30 })
})

t.test('levels are validated', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const findings = async (body: Json): Promise<string[]> =>
    ((await server.post(LEVELS, { metadata: { name: 'a' }, ...body })).json['details'] as { causes: Json[] }).causes
      .map(({ field, message }) => `${String(field)}: ${String(message).replace(/^.*?: (?:.*?: )?/, '')}`)
  t.same(await findings(limited({ nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 })), [
    'spec.limited.nominalConcurrencyShares: must be a non-negative integer',
    'spec.limited.lendablePercent: must be between 0 and 100, inclusive',
    'spec.limited.borrowingLimitPercent: if specified, must be a non-negative integer'
  ])
  t.same(await findings({ spec: { ...limited()['spec'] as Json, exempt: {} } }), [
    'spec.exempt: must be nil if the type is Limited'
  ])
  t.same(await findings({
    metadata: { name: 'exempt' },
    spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: -1, lendablePercent: -1 } }
  }),
  [
    'spec.exempt.nominalConcurrencyShares: must be a non-negative integer',
    'spec.exempt.lendablePercent: must be between 0 and 100, inclusive'
  ])
  t.match(await findings({ metadata: { name: 'exempt' }, ...limited() }), [
    /^spec.type: .*type must be 'Exempt' if and only if name is 'exempt'/,
    /spec of 'exempt' except the 'spec.exempt' field must equal the fixed value/
  ])
})

t.test('the stored form is that of the earlier release', t => {
  const level = (spec: Json): PriorityLevelConfiguration => ({
    apiVersion: 'flowcontrol.apiserver.orch.io/v1', kind: '', metadata: {}, spec, status: {}
  }) as unknown as PriorityLevelConfiguration
  for (const spec of [
    limited({ nominalConcurrencyShares: 0, lendablePercent: 3 }),
    limited({ nominalConcurrencyShares: 30, lendablePercent: 0, borrowingLimitPercent: 1 }),
    { spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 3 } } }
  ]) {
    const one = level(spec['spec'] as Json)
    t.same(fromStored(toStored(one)), one)
  }
  t.match(toStored(level(limited({ nominalConcurrencyShares: 9 })['spec'] as Json)), {
    apiVersion: 'flowcontrol.apiserver.orch.io/v1beta1', spec: { limited: { assuredConcurrencyShares: 9 } }
  })
  t.end()
})

t.test('servers of both releases share a store', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const later = await build(t, { ...ON, storage })
  await later.post(LEVELS, {
    metadata: { name: 'mine' },
    ...limited({ nominalConcurrencyShares: 0, lendablePercent: 40, borrowingLimitPercent: 9 })
  })
  await later.app.close()
  const earlier = await build(t, { limits: ON.limits, storage })
  const OLD = `${GROUP}/v1beta2/prioritylevelconfigurations`
  t.match((await earlier.get(`${OLD}/mine`)).json['spec'], {
    limited: { assuredConcurrencyShares: 30, lendablePercent: 40 }
  })
  t.equal((await earlier.patch(`${OLD}/mine`, { metadata: { labels: { a: 'b' } } }, MERGE)).code, 200)
  t.match(
    (await earlier.get(`${OLD}/workload-low`)).json['spec'], { limited: { lendablePercent: 90 } },
    'the defaults of the earlier release leave it'
  )
  t.equal((await earlier.get(`${GROUP}/v1beta2/flowschemas/endpoint-controller`)).code, 200)
  const made = await earlier.post(OLD, {
    metadata: { name: 'old' }, ...limited({ assuredConcurrencyShares: 4, lendablePercent: 3 })
  })
  t.match(made, { code: 201, headers: { warning: ['299 - "unknown field \\"spec.limited.lendablePercent\\""'] } })
  await earlier.app.close()
  const again = await build(t, { ...ON, storage })
  t.match((await again.get(`${LEVELS}/mine`)).json, {
    metadata: { labels: { a: 'b' } },
    spec: { limited: { nominalConcurrencyShares: 0, lendablePercent: 40, borrowingLimitPercent: 9 } }
  })
  t.match((await again.get(`${LEVELS}/old`)).json['spec'], {
    limited: { nominalConcurrencyShares: 4, lendablePercent: 0 }
  })
  t.equal((await again.get(`${GROUP}/v1/flowschemas/endpoint-controller`)).code, 404)
  await again.app.close()
})
