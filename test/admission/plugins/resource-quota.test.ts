import t from 'tap'
import type { Json, Test } from '../../build.js'
import { until } from '../../interop/server.js'
import { serve, MERGE, pod, container, type Served } from '../served.js'

const OPTIONS = { disabled: ['ServiceAccount'] }
const asking = (requests: Json, limits: Json = {}, more: Json = {}): Json =>
  container({ resources: { requests, limits }, ...more })
const quota = (name: string, hard: Json, more: Json = {}): Json => ({ metadata: { name }, spec: { hard, ...more } })

interface Held extends Served {
  readonly url: string
  /** Creates a quota and waits until it is enforced. */
  readonly hold: (name: string, hard: Json, more?: Json) => Promise<void>
  readonly used: (name?: string) => Promise<Json>
  /** Waits until the quota reports this usage. */
  readonly comesTo: (expected: Json, name?: string) => Promise<void>
}

async function start (t: Test, options = {}): Promise<Held> {
  const served = await serve(t, { ...OPTIONS, ...options })
  const url = '/api/v1/namespaces/team'
  await served.made('/api/v1/namespaces', { metadata: { name: 'team' } })
  const status = async (name: string): Promise<Json> =>
    (await served.get(`${url}/resourcequotas/${name}`)).json['status']
  const used = async (name = 'q'): Promise<Json> => (await status(name))['used'] ?? {}
  return {
    ...served,
    url,
    used,
    hold: async (name, hard, more) => {
      await served.made(`${url}/resourcequotas`, quota(name, hard, more))
      await until(`quota ${name} to hold`, async () => (await status(name))['hard'] !== undefined)
    },
    comesTo: async (expected, name = 'q') => {
      await until(`${JSON.stringify(expected)} in use`, async () => {
        const now = await used(name)
        return Object.entries(expected).every(([key, value]) => now[key] === value)
      })
    }
  }
}

t.test('a request over quota is refused with the requested, used and allowed amounts', async t => {
  const { url, hold, post, made, used } = await start(t)
  await hold('q', {
    pods: '2',
    'requests.cpu': '1',
    'limits.memory': '1Gi',
    configmaps: '3',
    'count/secrets': '1',
    'count/deployments.apps': '0'
  })
  t.match(await used(), {
    pods: '0',
    'requests.cpu': '0',
    'limits.memory': '0',
    configmaps: /^\d$/,
    'count/secrets': /^\d$/,
    'count/deployments.apps': '0'
  })
  t.match(await post(`${url}/pods`, pod('silent')), {
    code: 403,
    json: {
      reason: 'Forbidden',
      message: 'pods "silent" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c'
    }
  })
  await made(`${url}/pods`, pod('a', {
    containers: [asking({ cpu: '600m' }, { memory: '100Mi' })],
    initContainers: [asking({ cpu: '700m' }, { memory: '50Mi' }, { name: 'i' })]
  }))
  t.match(
    await used(), { pods: '1', 'requests.cpu': '700m', 'limits.memory': '100Mi' },
    'the maximum of init containers and containers'
  )
  t.match(await post(`${url}/pods`, pod('b', { containers: [asking({ cpu: '400m' }, { memory: '2Gi' })] })), {
    code: 403,
    json: {
      message:
        'pods "b" is forbidden: exceeded quota: q, requested: limits.memory=2Gi,requests.cpu=400m, used: ' +
        'limits.memory=100Mi,requests.cpu=700m, limited: limits.memory=1Gi,requests.cpu=1'
    }
  })
  t.match(await used(), { pods: '1', 'requests.cpu': '700m' }, 'and takes nothing')
  const deployment = {
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container()] } }
    }
  }
  t.match(await post('/apis/apps/v1/namespaces/team/deployments', deployment), {
    code: 403,
    json: {
      message:
        'deployments.apps "d" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: ' +
        'count/deployments.apps=0, limited: count/deployments.apps=0'
    }
  })
})

t.test('ten concurrent creates stay within the quota, and a dry run uses none', async t => {
  const { url, hold, as, post, used, comesTo } = await start(t)
  await hold('q', { 'count/secrets': '4' })
  await hold('r', { secrets: '100' })
  for (let count = 0; count < 3; count++) {
    t.equal((await as('root', 'POST', `${url}/secrets?dryRun=All`, { metadata: { name: `dry-${count}` } })).code, 201)
  }
  t.match(await used(), { 'count/secrets': '0' })
  const codes = (await Promise.all(Array.from(
    { length: 10 }, (_, index) => post(`${url}/secrets`, { metadata: { name: `s${index}` } })
  ))).map(({ code }) => code)
  t.same(codes.filter(code => code === 201).length, 4)
  t.same(codes.filter(code => code === 403).length, 6)
  await comesTo({ 'count/secrets': '4' })
  await comesTo({ secrets: '4' }, 'r')
  t.match(await as('root', 'POST', `${url}/secrets?dryRun=All`, { metadata: { name: 'dry' } }), {
    code: 403, json: { message: /exceeded quota: q/ }
  })
})

t.test('deleted and finished objects and failed writes release their quota', async t => {
  const { url, hold, as, post, made, comesTo } = await start(t)
  await hold('q', { pods: '2', cpu: '1', secrets: '2' })
  for (const name of ['a', 'b']) await made(`${url}/pods`, pod(name, { containers: [asking({ cpu: '500m' })] }))
  await comesTo({ pods: '2', cpu: '1' })
  t.equal((await as('root', 'PATCH', `${url}/pods/a/status`, { status: { phase: 'Succeeded' } }, MERGE)).code, 200)
  await comesTo({ pods: '1', cpu: '500m' })
  await as('root', 'DELETE', `${url}/pods/b`)
  await comesTo({ pods: '0', cpu: '0' })
  await made(`${url}/secrets`, { metadata: { name: 's' } })
  t.equal((await post(`${url}/secrets`, { metadata: { name: 's' } })).code, 409)
  await comesTo({ secrets: '1' })
  await as('root', 'PATCH', `${url}/resourcequotas/q`, { spec: { hard: { secrets: '7', cpu: null } } }, MERGE)
  await until('the new limits', async () =>
    (await as('root', 'GET', `${url}/resourcequotas/q`)).json['status'].hard.secrets === '7')
})

t.test('a quota counts existing objects, and changes of services and claims', async t => {
  const { url, hold, as, post, made, used, comesTo } = await start(t, {
    disabled: ['ServiceAccount', 'StorageObjectInUseProtection']
  })
  const claim = (name: string, storage: string, storageClassName: string): Json => ({
    metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage } } }
  })
  await made(`${url}/persistentvolumeclaims`, claim('old', '1Gi', 'gold'))
  await hold('q', {
    'requests.storage': '5Gi',
    persistentvolumeclaims: '3',
    'gold.storageclass.storage.orch.io/requests.storage': '2Gi',
    services: '2',
    'services.nodeports': '2'
  })
  t.match(await used(), {
    'requests.storage': '1Gi',
    persistentvolumeclaims: '1',
    'gold.storageclass.storage.orch.io/requests.storage': '1Gi',
    services: '0'
  })
  t.match(await post(`${url}/persistentvolumeclaims`, claim('gold', '2Gi', 'gold')), {
    code: 403,
    json: {
      message:
        /exceeded quota: q, requested: gold\.storageclass\.storage\.orch\.io\/requests\.storage=2Gi, used: .*=1Gi, limited: .*=2Gi$/
    }
  })
  await made(`${url}/persistentvolumeclaims`, claim('silver', '2Gi', 'silver'))
  await comesTo({ 'requests.storage': '3Gi' })
  const ports = (count: number): Json[] =>
    Array.from({ length: count }, (_, index) => ({ name: `p${index}`, port: 80 + index }))
  await made(`${url}/services`, { metadata: { name: 's' }, spec: { ports: ports(3) } })
  t.match(await as('root', 'PATCH', `${url}/services/s`, { spec: { type: 'NodePort' } }, MERGE), {
    code: 403,
    json: {
      message:
        /exceeded quota: q, requested: services\.nodeports=3, used: services\.nodeports=0, limited: services\.nodeports=2/
    }
  })
  t.equal(
    (await as('root', 'PATCH', `${url}/services/s`, { spec: { type: 'NodePort', ports: ports(2) } }, MERGE)).code, 200
  )
  await comesTo({ services: '1', 'services.nodeports': '2' })
})

t.test('a quota with scopes counts the pods that are in all of them', async t => {
  const { url, hold, post, made, used } = await start(t)
  await made('/apis/scheduling.orch.io/v1/priorityclasses', { metadata: { name: 'high' }, value: 10 })
  await hold('ending', { pods: '0' }, { scopes: ['Terminating'] })
  await hold('best', { pods: '5' }, { scopes: ['BestEffort'] })
  await hold(
    'high', { pods: '0' },
    { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } }
  )
  await hold('far', { pods: '0' }, { scopes: ['CrossNamespacePodAffinity'] })
  const term = { topologyKey: 'zone', namespaces: ['other'] }
  const refused: ReadonlyArray<readonly [string, Json]> = [
    ['ending', { activeDeadlineSeconds: 5 }], ['high', { priorityClassName: 'high' }],
    [
      'far',
      {
        affinity: {
          podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] }
        }
      }
    ]
  ]
  for (const [name, spec] of refused) {
    t.match(
      await post(`${url}/pods`, pod('x', { ...spec, containers: [asking({ cpu: '1' })] })),
      {
        code: 403,
        json: {
          message: `pods "x" is forbidden: exceeded quota: ${name}, requested: pods=1, used: pods=0, limited: pods=0`
        }
      },
      name
    )
  }
  await made(`${url}/pods`, pod('burst', { containers: [asking({ cpu: '1' })] }))
  t.match(await used('best'), { pods: '0' })
  await made(`${url}/pods`, pod('best'))
  t.match(await used('best'), { pods: '1' })
})

t.test('limited resources of the configuration need a quota that covers them', async t => {
  const value = {
    apiVersion: 'apiserver.config.orch.io/v1',
    kind: 'ResourceQuotaConfiguration',
    limitedResources: [
      { resource: 'persistentvolumeclaims', matchContains: ['.storageclass.storage.orch.io/requests.storage'] },
      { resource: 'pods', matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] }
    ]
  }
  const { url, hold, as, post, made } = await start(t, { configuration: { ResourceQuota: { value } } })
  await made('/apis/scheduling.orch.io/v1/priorityclasses', { metadata: { name: 'high' }, value: 10 })
  const claim = {
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'gold', resources: { requests: { storage: '1Gi' } } }
  }
  t.match(await post(`${url}/persistentvolumeclaims`, claim), {
    code: 403,
    json: {
      message:
        'persistentvolumeclaims "c" is forbidden: insufficient quota to consume: ' +
        'gold.storageclass.storage.orch.io/requests.storage'
    }
  })
  t.match(await post(`${url}/pods`, pod('x', { priorityClassName: 'high' })), {
    code: 403,
    json: { message: 'pods "x" is forbidden: insufficient quota to match these scopes: [{PriorityClass In [high]}]' }
  })
  await hold('q', { 'gold.storageclass.storage.orch.io/requests.storage': '1Gi' })
  await hold(
    'high', { pods: '1' },
    { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } }
  )
  t.equal((await post(`${url}/persistentvolumeclaims`, claim)).code, 201)
  t.equal((await post(`${url}/pods`, pod('x', { priorityClassName: 'high' }))).code, 201)
  t.equal((await as('root', 'DELETE', `${url}/resourcequotas/q`)).code, 200)
  t.equal(
    (await as('root', 'PATCH', `${url}/persistentvolumeclaims/c`, { metadata: { labels: { a: 'b' } } }, MERGE)).code,
    200, 'an update without more usage needs no quota'
  )
  await t.rejects(
    serve(t, { configuration: { ResourceQuota: { value: { ...value, limitedResource: [] } } } }),
    { message: /ResourceQuota is wrong: unknown field "limitedResource"/ }
  )
  const scopes: ReadonlyArray<readonly [Json, RegExp]> = [
    [
      { scopeName: 'Priority', operator: 'Exists' },
      /limitedResources\[0\]\.matchScopes\[0\]\.scopeName: Unsupported value: "Priority"/
    ],
    [
      { scopeName: 'PriorityClass', operator: 'Is', values: ['a'] },
      /matchScopes\[0\]\.operator: Unsupported value: "Is"/
    ],
    [{ scopeName: 'PriorityClass', operator: 'In' }, /matchScopes\[0\]\.values: Required value/]
  ]
  for (const [scope, message] of scopes) {
    await t.rejects(
      serve(t, {
        configuration: {
          ResourceQuota: { value: { ...value, limitedResources: [{ resource: 'pods', matchScopes: [scope] }] } }
        }
      }),
      { message },
      'a scope that nothing is in would limit nothing'
    )
  }
})

t.test('a claim that shrinks after a failed expansion uses what is set aside for it', async t => {
  const served = await serve(
    t, { disabled: ['ServiceAccount', 'StorageObjectInUseProtection'] },
    { featureGates: { RecoverVolumeExpansionFailure: true } }
  )
  const url = '/api/v1/namespaces/default'
  await served.made(`${url}/persistentvolumeclaims`, {
    metadata: { name: 'c' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '3Gi' } } }
  })
  const claim = `${url}/persistentvolumeclaims/c`
  t.equal(
    (await served.as(
      'root', 'PATCH', `${claim}/status`,
      { status: { phase: 'Bound', capacity: { storage: '1Gi' }, allocatedResources: { storage: '3Gi' } } }, MERGE
    )).code,
    200
  )
  await served.made(`${url}/resourcequotas`, quota('q', { 'requests.storage': '5Gi' }))
  const uses = async (amount: string): Promise<void> => {
    await until(`${amount} in use`, async () =>
      (await served.get(`${url}/resourcequotas/q`)).json['status'].used?.['requests.storage'] === amount)
  }
  await uses('3Gi')
  t.equal(
    (await served.as('root', 'PATCH', claim, { spec: { resources: { requests: { storage: '2Gi' } } } }, MERGE)).code,
    200
  )
  await uses('3Gi')
  t.equal(
    (await served.as(
      'root', 'PATCH', `${claim}/status`, { status: { allocatedResources: { storage: '2Gi' } } }, MERGE
    )).code,
    200
  )
  await uses('2Gi')
})
