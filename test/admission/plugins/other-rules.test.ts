/** Plugins that are off by default and concern objects other than pods. */
import t from 'tap'
import type { Json } from '../../build.js'
import { eventRateLimit } from '../../../admission/plugins/event-rate-limit.js'
import type { AdmissionRequest } from '../../../registry/admission.js'
import { MERGE, serve } from '../served.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const RBAC = '/apis/rbac.authorization.orch.io/v1'
const config = (name: string, metadata: Json = {}): Json => ({ metadata: { name, ...metadata } })

t.test('AlwaysDeny: every change is refused and reads are served', async t => {
  const { as, post, get } = await serve(t, { enabled: ['AlwaysDeny'] })
  t.match(await post(CONFIGS, config('a')), {
    code: 403, json: { message: 'configmaps "a" is forbidden: admission control is denying all modifications' }
  })
  t.equal((await as('root', 'DELETE', '/api/v1/namespaces/default')).code, 403)
  t.equal((await get('/api/v1/namespaces/default')).code, 200, 'objects the server creates itself exist')
})

t.test('DenyServiceExternalIPs: services get no new external addresses and keep those they have', async t => {
  const { as, post, made } = await serve(t, { enabled: ['DenyServiceExternalIPs'] })
  const services = '/api/v1/namespaces/default/services'
  const service = (externalIPs?: string[]): Json => ({
    metadata: { name: 's' }, spec: { ports: [{ port: 80 }], externalIPs }
  })
  const why = 'services "s" is forbidden: Use of external IPs is denied by admission control'
  t.match(await post(services, service(['1.2.3.4'])), { code: 403, json: { message: why } })
  await made(services, service())
  t.match(await as('root', 'PATCH', `${services}/s`, { spec: { externalIPs: ['1.2.3.4'] } }, MERGE), {
    code: 403, json: { message: why }
  })
  t.equal((await as('root', 'PATCH', `${services}/s`, { metadata: { labels: { a: 'b' } } }, MERGE)).code, 200)
})

t.test(
  'NamespaceAutoProvision: a missing namespace is created, except in a dry run; NamespaceExists refuses it',
  async t => {
    const making = await serve(t, { enabled: ['NamespaceAutoProvision'] })
    t.equal((await making.post('/api/v1/namespaces/new/configmaps?dryRun=All', config('a'))).code, 404)
    t.equal((await making.post('/api/v1/namespaces/new/configmaps', config('a'))).code, 201)
    t.match((await making.get('/api/v1/namespaces/new')).json, { status: { phase: 'Active' } })
    const wanting = await serve(t, { enabled: ['NamespaceExists'], disabled: ['NamespaceLifecycle'] })
    t.match(await wanting.post('/api/v1/namespaces/none/configmaps', config('a')), {
      code: 404, json: { message: 'namespaces "none" not found' }
    })
    t.equal((await wanting.post(CONFIGS, config('a'))).code, 201)
  }
)

t.test(
  'OwnerReferencesPermissionEnforcement: ' +
  'setting owners needs the right to delete, and blocking their deletion the right to their finalizers',
  async t => {
    const { as, made } = await serve(
      t, { enabled: ['OwnerReferencesPermissionEnforcement'] },
      { authorization: { modes: ['RBAC'] }, tokens: ['del,del,3', 'all,all,4', 'any,any,5'] }
    )
    const grant = async (name: string, rules: Json[], user: string): Promise<void> => {
      await made(`${RBAC}/clusterroles`, { metadata: { name }, rules })
      await made(`${RBAC}/clusterrolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name },
        subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.orch.io' }]
      })
    }
    const write = { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'update', 'patch', 'get'] }
    const remove = { apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] }
    await grant('write', [write], 'ann')
    await grant('delete', [write, remove], 'del')
    await grant('anything', [write, { apiGroups: ['*'], resources: ['*/finalizers'], verbs: ['update'] }], 'any')
    await grant(
      'finalize', [write, { apiGroups: ['apps'], resources: ['deployments/finalizers'], verbs: ['update'] }], 'all'
    )
    const owned = (more: Json = {}): Json =>
      config('c', { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'u', ...more }] })
    const attempt = async (user: string, body: Json) => await as(user, 'POST', `${CONFIGS}?dryRun=All`, body)
    t.equal((await attempt('ann', owned())).code, 201, 'a creator needs no right to delete')
    t.match(await attempt('ann', owned({ blockOwnerDeletion: true })), {
      code: 403,
      json: {
        message: /cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: /
      }
    })
    t.equal((await attempt('all', owned({ blockOwnerDeletion: true }))).code, 201)
    t.match(await attempt('all', owned({ blockOwnerDeletion: true, kind: 'Nope' })), {
      code: 403,
      json: {
        message:
          /cannot find RESTMapping for APIVersion apps\/v1 Kind Nope: no matches for kind "Nope" in version "apps\/v1"/
      }
    })
    for (const more of [{}, { kind: 'Nope' }, { apiVersion: 'nope/v1' }, { apiVersion: 'v1', kind: 'Node' }]) {
      t.equal(
        (await attempt('any', owned({ blockOwnerDeletion: true, ...more }))).code, 201,
        'with rights on every finalizer subresource'
      )
    }
    await made(CONFIGS, config('free'))
    const give = async (user: string, more: Json = {}) => await as(
      user, 'PATCH', `${CONFIGS}/free?dryRun=All`,
      { metadata: { ownerReferences: owned(more)['metadata'].ownerReferences } }, MERGE
    )
    t.match(await give('ann'), {
      code: 403,
      json: { message: /^configmaps "free" is forbidden: cannot set an ownerRef on a resource you can't delete: / }
    })
    t.match(await give('any', { blockOwnerDeletion: true }), {
      code: 403, json: { message: /resource you can't delete/ }
    })
    t.equal((await give('del')).code, 200)
    t.match(await give('del', { blockOwnerDeletion: true }), {
      code: 403, json: { message: /resource you can't set finalizers on/ }
    })
    await made(CONFIGS, owned())
    t.equal(
      (await as('ann', 'PATCH', `${CONFIGS}/c`, { data: { a: 'b' } }, MERGE)).code, 200,
      'owners that stay ask for nothing'
    )
  }
)

t.test(
  'PersistentVolumeLabel: volumes of clouds that are not there are refused, but for those that say where they are',
  async t => {
    const { post, made } = await serve(t, { enabled: ['PersistentVolumeLabel'] })
    const volume = (spec: Json, metadata: Json = {}): Json => ({
      metadata: { name: 'v', ...metadata },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec }
    })
    const disk = { awsElasticBlockStore: { volumeID: 'vol-1' } }
    t.match(await post('/api/v1/persistentvolumes', volume(disk)), {
      code: 403,
      json: {
        message:
          'persistentvolumes "v" is forbidden: error querying AWS EBS volume vol-1: ' +
          'unable to build AWS cloud provider for EBS'
      }
    })
    t.match(await post('/api/v1/persistentvolumes', volume({ cinder: { volumeID: 'vol-1' } })), {
      code: 403, json: { message: /unable to build OpenStack cloud provider for Cinder disk$/ }
    })
    await made(
      '/api/v1/persistentvolumes',
      volume({ awsElasticBlockStore: { volumeID: 'placeholder-for-provisioning' } }, { name: 'later' })
    )
    const provisioned = (name: string, zone: string): Json => ({
      name,
      annotations: { 'pv.orch.io/provisioned-by': 'x' },
      labels: { 'topology.orch.io/zone': zone, 'topology.orch.io/region': 'r' }
    })
    const where = [
      { key: 'topology.orch.io/zone', operator: 'In', values: ['a', 'b'] },
      { key: 'topology.orch.io/region', operator: 'In', values: ['r'] }
    ]
    t.same(
      (await made('/api/v1/persistentvolumes', volume(disk, provisioned('v', 'b__a'))))['spec'].nodeAffinity,
      { required: { nodeSelectorTerms: [{ matchExpressions: where }] } }, 'one with labels is used there alone'
    )
    const own = {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'topology.orch.io/zone', operator: 'In', values: ['c'] }] }]
      }
    }
    t.same(
      (await made(
        '/api/v1/persistentvolumes', volume({ ...disk, nodeAffinity: own }, provisioned('own', 'a'))
      ))['spec'].nodeAffinity,
      own
    )
    t.match(await post('/api/v1/persistentvolumes', volume(disk, provisioned('x', 'a__'))), {
      code: 403,
      json: { message: 'persistentvolumes "x" is forbidden: failed to convert label string for Zone: a__ to a Set' }
    })
    await made('/api/v1/persistentvolumes', volume({ hostPath: { path: '/x' } }, { name: 'local' }))
  }
)

t.test('EventRateLimit: events beyond the limits are refused with 429', async t => {
  const value = {
    apiVersion: 'eventratelimit.admission.orch.io/v1alpha1',
    kind: 'Configuration',
    limits: [{ type: 'Namespace', qps: 1, burst: 1 }]
  }
  const { post } = await serve(t, {
    enabled: ['EventRateLimit'],
    configuration: { EventRateLimit: { value: { ...value, limits: [{ type: 'SourceAndObject', qps: 1, burst: 1 }] } } }
  })
  const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } }
  for (let n = 0; n < 20; n++) {
    t.equal(
      (await post('/api/v1/namespaces/default/events?dryRun=All', event)).code, 201, 'a dry run takes nothing of it'
    )
  }
  t.equal((await post('/api/v1/namespaces/default/events', event)).code, 201)
  const wrong: ReadonlyArray<readonly [Json | undefined, RegExp]> = [
    [undefined, /EventRateLimit is wrong: there is none; say in --admission-control-config-file what is limited/],
    [{ ...value, limits: [] }, /limits: Invalid value: \[\]: must not be empty/],
    [{ ...value, limits: [{ type: 'Some', qps: 1, burst: 1 }] }, /limits\[0\]\.type: Unsupported value: "Some"/],
    [
      { ...value, limits: [{ type: 'User', qps: 0, burst: 1 }] }, /limits\[0\]\.qps: Invalid value: 0: must be positive/
    ],
    [{ ...value, limits: [{ type: 'User', qps: 1, burst: 1, cacheSize: -1 }] }, /limits\[0\]\.cacheSize/]
  ]
  for (const [bad, message] of wrong) {
    await t.rejects(
      serve(t, {
        enabled: ['EventRateLimit'], ...bad === undefined ? {} : { configuration: { EventRateLimit: { value: bad } } }
      }),
      { message },
      String(message)
    )
  }
})

t.test('event limits count by key, recover with time, and all apply', async t => {
  let now = 0
  const plugin = eventRateLimit(
    [{ type: 'Namespace', qps: 1, burst: 2, cacheSize: 2 }, { type: 'User', qps: 1, burst: 3, cacheSize: 2 }], () => now
  )
  const send = (namespace: string, username = 'ann'): string => {
    try {
      void plugin.validate?.({ namespace, user: { username } } as AdmissionRequest)
      return 'ok'
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
  }
  t.same(
    [send('a'), send('a'), send('a')], ['ok', 'ok', 'Too many requests: limit reached on type Namespace for key a']
  )
  t.equal(
    send('b'), 'Too many requests: limit reached on type User for key ann',
    'a request that one limit refused has counted for the other'
  )
  now = 1000
  t.same(
    [send('a'), send('a')],
    ['ok', 'Too many requests: [limit reached on type Namespace for key a, limit reached on type User for key ann]'],
    'the message names every limit that was reached'
  )
  t.same(
    [send('c', 'x'), send('d', 'y'), send('a', 'z'), send('a', 'z')], ['ok', 'ok', 'ok', 'ok'],
    'a key that was forgotten begins anew'
  )
})
