import t from 'tap'
import type { FlowSchema, PriorityLevelConfiguration } from '../../../schemas/api/flowcontrol/v1beta1.js'
import type { ManagedFieldsEntry } from '../../../schemas/meta/object.js'
import { corrected, FlowDefaults } from '../../../controllers/flow-control/defaults.js'
import { MANDATORY_LEVELS, SUGGESTED_LEVELS } from '../../../flow-control/defaults.js'
import { build } from '../../build.js'
import { FakeClock, turns } from '../../storage/fake-clock.js'
import { registry } from '../namespace-race.js'

const GROUP = '/apis/flowcontrol.apiserver.orch.io/v1beta2'
const ON = { limits: { priorityAndFairness: true } }
const AUTOUPDATE = 'apf.orch.io/autoupdate-spec'

t.test('a server that is ready has the levels and schemas of the convention', async t => {
  const server = await build(t, ON)
  const levels = (await server.get(`${GROUP}/prioritylevelconfigurations`)).json['items']
  t.same(
    levels.map((
      { metadata: { name }, spec: { limited } }: PriorityLevelConfiguration
    ) =>
      `${name} ${limited?.assuredConcurrencyShares} ${limited?.limitResponse.queuing?.queues} ` +
      `${limited?.limitResponse.queuing?.handSize} ${limited?.limitResponse.queuing?.queueLengthLimit}`),
    [
      'catch-all 5 undefined undefined undefined', 'exempt undefined undefined undefined undefined',
      'global-default 20 128 6 50', 'leader-election 10 16 4 50',
      'node-high 40 64 6 50', 'system 30 64 6 50', 'workload-high 40 128 6 50', 'workload-low 100 128 6 50'
    ]
  )
  const schemas: FlowSchema[] = (await server.get(`${GROUP}/flowschemas`)).json['items']
  t.same(
    schemas.map(({ metadata: { name }, spec }) =>
      `${spec.matchingPrecedence} ${name} ${spec.priorityLevelConfiguration.name} ${spec.distinguisherMethod?.type}`)
      .sort((one, other) => parseInt(one) - parseInt(other)),
    [
      '1 exempt exempt undefined', '2 probes exempt undefined', '100 system-leader-election leader-election ByUser',
      '150 endpoint-controller workload-high ByUser',
      '200 workload-leader-election leader-election ByUser', '400 system-node-high node-high ByUser',
      '500 system-nodes system ByUser', '800 orch-controller-manager workload-high ByNamespace',
      '800 orch-scheduler workload-high ByNamespace', '900 orch-system-service-accounts workload-high ByNamespace',
      '9000 service-accounts workload-low ByUser',
      '9900 global-default global-default ByUser', '10000 catch-all catch-all ByUser'
    ]
  )
  t.ok([...levels, ...schemas].every(({ metadata }) =>
    metadata.annotations?.[AUTOUPDATE] === 'true' && metadata.generation === 1))
  const owners = [...levels, ...schemas].flatMap(({ metadata }) => metadata.managedFields.map(
    ({ manager, apiVersion, operation, subresource = '' }: ManagedFieldsEntry) =>
      `${manager} ${operation} ${apiVersion} ${subresource}`.trim()
  ))
  t.ok(owners.includes('api-priority-and-fairness-config-producer-v1 Update flowcontrol.apiserver.orch.io/v1beta2'))
  t.same(
    owners.filter(owner => !/ flowcontrol\.apiserver\.orch\.io\/v1beta2(?: status)?$/.test(owner)), [],
    'conditions are written in no other version either'
  )
})

t.test('suggested objects keep annotated changes; mandatory ones are restored', t => {
  const suggested = SUGGESTED_LEVELS[0] as PriorityLevelConfiguration
  const catchAll = MANDATORY_LEVELS[0] as PriorityLevelConfiguration
  const stored = (
    of: PriorityLevelConfiguration, shares: number, generation: number, annotation?: string
  ): PriorityLevelConfiguration => ({
    ...of,
    metadata: {
      ...of.metadata,
      generation,
      ...(annotation === undefined ? {} : { annotations: { [AUTOUPDATE]: annotation, other: 'kept' } })
    },
    spec: {
      ...of.spec, limited: { limitResponse: { type: 'Reject' }, ...of.spec.limited, assuredConcurrencyShares: shares }
    }
  })
  const cases: Array<readonly [
    what: string, there: PriorityLevelConfiguration, wanted: PriorityLevelConfiguration, shares: number | undefined,
    annotation: string | undefined
  ]> = [
    ['as it should be', stored(suggested, 30, 1, 'true'), suggested, undefined, undefined],
    ['changed, to be kept', stored(suggested, 31, 2, 'true'), suggested, 30, 'true'],
    ['changed, to be left', stored(suggested, 31, 2, 'false'), suggested, undefined, undefined],
    ['without a word, never changed', stored(suggested, 31, 1), suggested, 30, 'true'],
    ['without a word, changed', stored(suggested, 31, 2), suggested, 31, 'false'],
    ['with a word that is none', stored(suggested, 31, 2, 'maybe'), suggested, 31, 'false'],
    ['mandatory, to be left', stored(catchAll, 9, 2, 'false'), catchAll, 5, 'true']
  ]
  for (const [what, there, wanted, shares, annotation] of cases) {
    const result = corrected(there, wanted, wanted === catchAll)
    t.equal(result?.spec.limited?.assuredConcurrencyShares, shares, what)
    t.equal(result?.metadata.annotations?.[AUTOUPDATE], annotation, what)
  }
  t.end()
})

t.test('several servers make them at once, and look after them each minute, without a word in the log', async t => {
  const resources = await registry(t, {})
  const clock = new FakeClock(Date.now())
  const log: string[] = []
  const options = { resources, clock, log: (message: string) => { log.push(message) } }
  const servers = Array.from({ length: 4 }, () => new FlowDefaults(options))
  await Promise.all(servers.map(server => server.start()))
  const [levels, schemas] = [
    resources.find('flowcontrol.apiserver.orch.io', 'prioritylevelconfigurations'),
    resources.find('flowcontrol.apiserver.orch.io', 'flowschemas')
  ]
  const names = (): string[] => [levels, schemas].flatMap(store =>
    store?.cache === undefined ? [] : [...namesIn(store.cache.snapshot.map, store.keys.range(''))])
  await levels?.cache?.fresh()
  await schemas?.cache?.fresh()
  t.equal(names().length, 8 + 13)
  for (const server of servers.slice(1)) await server.close()
  const key = schemas?.keys.of('', 'probes') ?? ''
  const revision = schemas?.cache?.get(key)?.revision
  await schemas?.backend.delete(key, revision ?? 0)
  await schemas?.cache?.fresh()
  t.equal(names().length, 20)
  clock.advance(60_000)
  while (clock.waits.length === 0) await turns()
  await schemas?.cache?.fresh()
  t.equal(names().length, 21, 'deleted objects are restored')
  await servers[0]?.close()
  t.same(clock.waits, [])
  t.same(log, [])
})

function namesIn (
  map: { forEach: (start: string, end: string, each: (entry: { name: string }) => boolean) => void },
  { start, end }: { start: string, end: string }
): string[] {
  const names: string[] = []
  map.forEach(start, end, ({ name }) => {
    names.push(name)
    return true
  })
  return names
}
