/** DefaultTolerationSeconds, TaintNodesByCondition, Priority and RuntimeClass. */
import t from 'tap'
import { checkedFlags, configuration } from '../../../config/options.js'
import type { Json } from '../../build.js'
import { until } from '../../interop/server.js'
import { MERGE, PODS, pod, serve } from '../served.js'

const CLASSES = '/apis/scheduling.orch.io/v1/priorityclasses'
const RUNTIMES = '/apis/node.orch.io/v1/runtimeclasses'
const toleration = (key: string, tolerationSeconds: number): Json => ({
  key: `node.orch.io/${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds
})
const OPTIONS = { disabled: ['ServiceAccount'] }

t.test('a pod tolerates a node that is not ready for as long as the flags or the pod say', async t => {
  const { options } = await configuration(checkedFlags([
    `--data-dir=${t.testdir()}`, '--default-not-ready-toleration-seconds=10',
    '--default-unreachable-toleration-seconds=20'
  ]))
  t.same(options.admission?.tolerationSeconds, { notReady: 10, unreachable: 20 })
  const { made, as } = await serve(t, { ...OPTIONS, ...options.admission })
  const tolerations = async (name: string, given: Json[]): Promise<Json[]> =>
    (await made(PODS, pod(name, { tolerations: given })))['spec'].tolerations
  t.same(await tolerations('a', []), [toleration('not-ready', 10), toleration('unreachable', 20)])
  t.same(await tolerations('b', [toleration('unreachable', 5)]), [
    toleration('unreachable', 5), toleration('not-ready', 10)
  ])
  t.same(await tolerations('c', [{ operator: 'Exists' }]), [{ operator: 'Exists' }], 'one that tolerates all')
  t.same(
    await tolerations('d', [{ key: 'node.orch.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }]),
    [
      { key: 'node.orch.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }, toleration('not-ready', 10),
      toleration('unreachable', 20)
    ]
  )
  t.equal(
    (await as('root', 'PATCH', `${PODS}/a`, { spec: { tolerations: null } }, MERGE)).code, 200,
    'and so has one that is sent without them'
  )
})

t.test('a new node is not ready', async t => {
  const { made } = await serve(t, {})
  const taint = { key: 'node.orch.io/not-ready', effect: 'NoSchedule' }
  t.same((await made('/api/v1/nodes', { metadata: { name: 'a' } }))['spec'].taints, [taint])
  t.same((await made('/api/v1/nodes', { metadata: { name: 'b' }, spec: { taints: [taint] } }))['spec'].taints, [taint])
})

t.test('a pod has the priority of its class, or of the default one', async t => {
  const { post, made, as, get } = await serve(t, OPTIONS)
  await until('the classes of the system', async () => (await get(`${CLASSES}/system-cluster-critical`)).code === 200)
  t.match((await get(`${CLASSES}/system-node-critical`)).json, {
    value: 2_000_001_000, preemptionPolicy: 'PreemptLowerPriority'
  })
  t.match(await as('root', 'DELETE', `${CLASSES}/system-node-critical`), {
    code: 403,
    json: {
      message:
        'priorityclasses.scheduling.orch.io "system-node-critical" is forbidden: ' +
        'this is a system priority class and cannot be deleted'
    }
  })
  t.match((await made(PODS, pod('none')))['spec'], {
    priority: 0, preemptionPolicy: 'PreemptLowerPriority', priorityClassName: undefined
  })
  t.match(
    (await made(PODS, pod('critical', { priorityClassName: 'system-node-critical' })))['spec'],
    { priority: 2_000_001_000 }
  )
  await made(CLASSES, { metadata: { name: 'low' }, value: 10, preemptionPolicy: 'Never' })
  t.match((await made(PODS, pod('low', { priorityClassName: 'low' })))['spec'], {
    priority: 10, preemptionPolicy: 'Never'
  })
  const refused: ReadonlyArray<readonly [Json, string]> = [
    [{ priorityClassName: 'gone' }, 'no PriorityClass with name gone was found'],
    [
      { priority: 5 },
      'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 ' +
      'from the given PriorityClass name'
    ],
    [
      { priorityClassName: 'low', preemptionPolicy: 'PreemptLowerPriority' },
      'the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority ' +
      'admission controller computed Never from the given PriorityClass name'
    ]
  ]
  for (const [spec, why] of refused) {
    t.match(await post(PODS, pod('x', spec)), { code: 403, json: { message: `pods "x" is forbidden: ${why}` } }, why)
  }
  await made(CLASSES, { metadata: { name: 'usual' }, value: 100, globalDefault: true })
  t.match((await made(PODS, pod('usual')))['spec'], { priority: 100, priorityClassName: 'usual' })
  t.match(await post(CLASSES, { metadata: { name: 'another' }, value: 1, globalDefault: true }), {
    code: 403,
    json: {
      message:
        'priorityclasses.scheduling.orch.io "another" is forbidden: PriorityClass usual is already marked as ' +
        'default. Only one default can exist'
    }
  })
  t.equal((await as('root', 'PATCH', `${CLASSES}/usual`, { description: 'x' }, MERGE)).code, 200)
  t.equal(
    (await as('root', 'PATCH', `${PODS}/low`, { spec: { priority: null, preemptionPolicy: null } }, MERGE)).code, 200,
    'omitted fields keep their values'
  )
})

t.test('a pod gets the overhead and the scheduling of its runtime class', async t => {
  const { as, post, made } = await serve(t, OPTIONS)
  await made(RUNTIMES, {
    metadata: { name: 'heavy' },
    handler: 'h',
    overhead: { podFixed: { memory: '100Mi' } },
    scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }] }
  })
  await made(RUNTIMES, { metadata: { name: 'light' }, handler: 'h' })
  const { spec } = await made(PODS, pod('heavy', {
    runtimeClassName: 'heavy',
    nodeSelector: { c: 'd' },
    tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }]
  }))
  t.match(spec, { overhead: { memory: '100Mi' }, nodeSelector: { a: 'b', c: 'd' } })
  t.same(
    spec.tolerations.filter(({ key }: Json) => key === 'k'), [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }],
    'the wider toleration is left'
  )
  t.match(
    (await made(PODS, pod('same', { runtimeClassName: 'heavy', overhead: { memory: '104857600' } })))['spec'],
    { overhead: { memory: '100Mi' } }, 'in other words'
  )
  t.equal((await made(PODS, pod('light', { runtimeClassName: 'light' })))['spec'].overhead, undefined)
  t.equal(
    (await as('root', 'PATCH', `${PODS}/light`, { spec: { overhead: {} } }, MERGE)).code, 200,
    'nothing is no change of nothing'
  )
  const refused: ReadonlyArray<readonly [Json, string]> = [
    [{ runtimeClassName: 'gone' }, 'pod rejected: RuntimeClass "gone" not found'],
    [
      { runtimeClassName: 'heavy', overhead: { memory: '1Mi' } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    ],
    [
      { overhead: { memory: '1Mi' } },
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'
    ],
    [{ overhead: {} }, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'],
    [
      { runtimeClassName: 'heavy', overhead: {} },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    ],
    [
      { runtimeClassName: 'heavy', nodeSelector: { a: 'x' } },
      'conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = x'
    ]
  ]
  for (const [more, why] of refused) {
    t.match(await post(PODS, pod('x', more)), { code: 403, json: { message: `pods "x" is forbidden: ${why}` } }, why)
  }
})
