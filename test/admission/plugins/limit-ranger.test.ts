import t from 'tap'
import type { Json } from '../../build.js'
import { MERGE, PODS, container, pod, serve } from '../served.js'

const RANGES = '/api/v1/namespaces/default/limitranges'
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims'
const OPTIONS = { disabled: ['ServiceAccount'] }
const range = (name: string, ...limits: Json[]): Json => ({ metadata: { name }, spec: { limits } })
const asking = (requests: Json = {}, limits: Json = {}, more: Json = {}): Json =>
  container({ resources: { requests, limits }, ...more })

t.test('containers without requests or limits get the defaults, and an annotation lists what was set', async t => {
  const { made } = await serve(t, OPTIONS)
  await made(RANGES, range('r', {
    type: 'Container', default: { cpu: '200m', memory: '64Mi' }, defaultRequest: { cpu: '100m', memory: '32Mi' }
  }))
  const { spec, metadata } = await made(
    PODS, pod('a', { initContainers: [container({ name: 'i' })], containers: [asking({ cpu: '50m' })] })
  )
  t.same(spec.containers[0].resources, {
    requests: { cpu: '50m', memory: '32Mi' }, limits: { cpu: '200m', memory: '64Mi' }
  })
  t.same(spec.initContainers[0].resources, {
    requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '200m', memory: '64Mi' }
  })
  t.equal(
    metadata.annotations['orch.io/limit-ranger'],
    'LimitRanger plugin set: memory request for container c; cpu, memory limit for container c; cpu, memory request ' +
    'for init container i; cpu, memory limit for init container i'
  )
  t.equal(
    (await made(
      PODS, pod('b', { containers: [asking({ cpu: '1m', memory: '1Mi' }, { cpu: '1', memory: '1Gi' })] })
    ))['metadata'].annotations,
    undefined
  )
})

t.test('a range without limits, which is sent as null, limits nothing', async t => {
  const { made } = await serve(t, OPTIONS)
  t.same((await made(RANGES, { metadata: { name: 'empty' } }))['spec'], { limits: null })
  t.match(await made(PODS, pod('a')), { kind: 'Pod' })
  t.match(
    await made(CLAIMS, {
      metadata: { name: 'a' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    }),
    { kind: 'PersistentVolumeClaim' }
  )
})

t.test('a pod outside a range is refused with all violations', async t => {
  const { post, made } = await serve(t, OPTIONS)
  const refused = async (limits: Json, spec: Json, why: string): Promise<void> => {
    await made('/api/v1/namespaces', { metadata: { name: `n${++count}` } })
    await made(`/api/v1/namespaces/n${count}/limitranges`, range('r', limits))
    t.match(
      await post(`/api/v1/namespaces/n${count}/pods`, pod('x', spec)),
      { code: 403, json: { message: `pods "x" is forbidden: ${why}` } }, why
    )
  }
  let count = 0
  const of = (...containers: Json[]): Json => ({ containers })
  await refused(
    { type: 'Container', min: { cpu: '100m' }, default: { memory: '1Mi' } }, of(asking({ cpu: '50m' })),
    'minimum cpu usage per Container is 100m, but request is 50m'
  )
  await refused(
    { type: 'Container', max: { cpu: '1' } }, of(asking({ cpu: '2' }, { cpu: '2' })),
    'maximum cpu usage per Container is 1, but limit is 2'
  )
  await refused(
    { type: 'Container', max: { cpu: '1', memory: '1Gi' } },
    of(asking({}, { cpu: '2', memory: '2Gi' })),
    '[maximum cpu usage per Container is 1, but limit is 2, ' +
    'maximum memory usage per Container is 1Gi, but limit is 2Gi]'
  )
  await refused(
    { type: 'Container', max: { cpu: '1' } }, of(asking({}, { cpu: '2' }), asking({}, { cpu: '2' }, { name: 'd' })),
    'maximum cpu usage per Container is 1, but limit is 2'
  )
  await refused(
    { type: 'Container', maxLimitRequestRatio: { cpu: '2' } }, of(asking({ cpu: '100m' }, { cpu: '300m' })),
    'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000'
  )
  await refused(
    { type: 'Container', maxLimitRequestRatio: { cpu: '2' } }, of(container()),
    'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0'
  )
  await refused(
    { type: 'Pod', min: { memory: '1Gi' } }, of(container()),
    'minimum memory usage per Pod is 1Gi.  No request is specified'
  )
  await refused(
    { type: 'Pod', max: { memory: '1Gi' } }, of(container()),
    'maximum memory usage per Pod is 1Gi.  No limit is specified'
  )
  await refused(
    { type: 'Pod', max: { cpu: '1' } }, of(asking({}, { cpu: '700m' }), asking({}, { cpu: '500m' }, { name: 'd' })),
    'maximum cpu usage per Pod is 1, but limit is 1200m'
  )
  await refused(
    { type: 'Pod', max: { cpu: '1' } },
    { ...of(asking({}, { cpu: '100m' })), initContainers: [asking({}, { cpu: '2' }, { name: 'i' })] },
    'maximum cpu usage per Pod is 1, but limit is 2'
  )
})

t.test('ranges that contradict each other admit nothing', async t => {
  const { post, made } = await serve(t, OPTIONS)
  await made(RANGES, range('high', { type: 'Container', min: { cpu: '2' } }))
  await made(RANGES, range('low', { type: 'Container', max: { cpu: '1' } }))
  for (const cpu of ['500m', '1500m', '3']) {
    t.match(
      await post(PODS, pod('x', { containers: [asking({ cpu }, { cpu })] })),
      { code: 403, json: { message: /(?:minimum|maximum) cpu usage per Container/ } }, cpu
    )
  }
})

t.test('the sizes of claims are checked when they are created and when they grow', async t => {
  const { post, made, as } = await serve(t, OPTIONS)
  await made(RANGES, range('r', { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } }))
  const claim = (storage: string): Json => ({
    metadata: { name: 'x' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 's', resources: { requests: { storage } } }
  })
  t.match(await post(CLAIMS, claim('10Gi')), {
    code: 403,
    json: {
      message:
        'persistentvolumeclaims "x" is forbidden: ' +
        'maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 10Gi'
    }
  })
  t.match(await post(CLAIMS, claim('1Mi')), {
    code: 403,
    json: {
      message:
        'persistentvolumeclaims "x" is forbidden: ' +
        'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi'
    }
  })
  await made(CLAIMS, claim('2Gi'))
  await as('root', 'PATCH', `${CLAIMS}/x/status`, { status: { phase: 'Bound' } }, MERGE)
  t.match(
    await as('root', 'PATCH', `${CLAIMS}/x`, { spec: { resources: { requests: { storage: '6Gi' } } } }, MERGE),
    { code: 403, json: { message: /maximum storage usage per PersistentVolumeClaim is 5Gi/ } }
  )
})

t.test('many containers and ranges of many amounts are refused for what is in them, not for its product', async t => {
  const { post, made } = await serve(t, OPTIONS)
  const amounts = (count: number): Json =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`example.com/r${at}`, '9']))
  const many = (count: number): Json => pod('x', {
    containers: Array.from(
      { length: count }, (_, at) => container({ name: `c${at}`, resources: { limits: { cpu: '1' } } })
    )
  })
  for (const name of ['asking', 'giving']) await made('/api/v1/namespaces', { metadata: { name } })
  await made(
    '/api/v1/namespaces/asking/limitranges', range('r', { type: 'Container', maxLimitRequestRatio: amounts(2500) })
  )
  const refused = await post('/api/v1/namespaces/asking/pods', many(500))
  t.equal(refused.code, 403)
  t.ok(refused.json.message.split('no request is specified').length <= 101)
  await made('/api/v1/namespaces/giving/limitranges', range('r', { type: 'Container', default: amounts(1500) }))
  t.match(await post('/api/v1/namespaces/giving/pods', many(500)), {
    code: 413, json: { message: /LimitRanges make more than 50000 values/ }
  })
})
