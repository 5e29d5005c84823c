/** Which requests a webhook receives: its rules, its selectors, and the version that it requested. */
import t from 'tap'
import Fastify from '../../fastify.js'
import { server as orch } from '../../../app.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import { OtherWrite } from '../../../registry/stages/write.js'
import type { ResourceRegistry } from '../../../registry/resource-registry.js'
import { client, build, type Client, type Json } from '../../build.js'
import { matchesRule, type Subject } from '../../../admission/webhooks/rules.js'
import {
  allow, configure, CONFIGS, deny, hookServer, MUTATING, ON_CONFIGS, patching, VALIDATING, webhook
} from './hook-server.js'

const MAPS = '/api/v1/namespaces/default/configmaps'
const RULE = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
const POD: Subject = {
  operation: 'CREATE', group: '', version: 'v1', resource: 'pods', subresource: '', namespaced: true
}

/** Part of a rule, part of a request, and whether they match. */
const TABLE: ReadonlyArray<readonly [Json, Partial<Subject>, boolean]> = [
  [{}, {}, true],
  [{}, { operation: 'UPDATE' }, false],
  [{ operations: ['UPDATE', 'CREATE'] }, { operation: 'UPDATE' }, true],
  [{ operations: ['*'] }, { operation: 'CONNECT' }, true],
  [{}, { group: 'apps' }, false],
  [{ apiGroups: ['*'] }, { group: 'apps' }, true],
  [{ apiGroups: ['apps', ''] }, {}, true],
  [{}, { version: 'v1beta1' }, false],
  [{ apiVersions: ['*'] }, { version: 'v1beta1' }, true],
  [{}, { resource: 'services' }, false],
  [{}, { subresource: 'status' }, false],
  [{ resources: ['*'] }, { resource: 'services' }, true],
  [{ resources: ['*'] }, { subresource: 'status' }, false],
  [{ resources: ['pods/status'] }, { subresource: 'status' }, true],
  [{ resources: ['pods/status'] }, {}, false],
  [{ resources: ['pods/*'] }, { subresource: 'exec' }, true],
  [{ resources: ['pods/*'] }, {}, true],
  [{ resources: ['pods/*'] }, { resource: 'services' }, false],
  [{ resources: ['*/scale'] }, { resource: 'deployments', subresource: 'scale' }, true],
  [{ resources: ['*/scale'] }, { resource: 'deployments' }, false],
  [{ resources: ['*/*'] }, {}, true],
  [{ resources: ['*/*'] }, { subresource: 'log' }, true],
  [{ scope: '*' }, { namespaced: false }, true],
  [{ scope: 'Namespaced' }, {}, true],
  [{ scope: 'Namespaced' }, { namespaced: false }, false],
  [{ scope: 'Cluster' }, {}, false],
  [{ scope: 'Cluster' }, { namespaced: false }, true],
  [{ operations: [], resources: [] }, {}, false]
]

t.test('a rule matches requests that satisfy all of its parts', async t => {
  for (const [rule, subject, expected] of TABLE) {
    t.equal(matchesRule({ ...RULE, ...rule }, { ...POD, ...subject }), expected, JSON.stringify({ rule, subject }))
  }
})

const names = (asked: readonly Json[]): string[] => asked.map(({ request }) =>
  `${request.operation} ${request.kind.kind} ${request.namespace ?? ''}/${request.name ?? ''}`)

t.test('selectors match the labels of the namespace, and of the old or the new object', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  for (const [name, labels] of [['one', { env: 'prod' }], ['two', { env: 'test' }]] as const) {
    await server.post('/api/v1/namespaces', { metadata: { name, labels } })
  }
  const every = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps', 'nodes'] }
  await configure(server, VALIDATING, 'a', webhook('a', hook, {
    rules: [every], namespaceSelector: { matchExpressions: [{ key: 'env', operator: 'In', values: ['prod'] }] }
  }))
  await server.post('/api/v1/namespaces/two/configmaps', { metadata: { name: 'c' } })
  t.same(hook.asked, [])
  await server.post('/api/v1/namespaces/one/configmaps', { metadata: { name: 'c' } })
  await server.post('/api/v1/nodes', { metadata: { name: 'n' } })
  t.same(
    names(hook.asked.splice(0)), ['CREATE ConfigMap one/c', 'CREATE Node /n'],
    'a namespace selector excludes no cluster-scoped object'
  )
  t.match(await server.post('/api/v1/namespaces/none/configmaps', { metadata: { name: 'c' } }), {
    code: 404, json: { message: 'namespaces "none" not found' }
  })

  await server.delete(`${VALIDATING}/a`)
  await configure(
    server, VALIDATING, 'b', webhook('b', hook, { rules: [every], objectSelector: { matchLabels: { watched: 'yes' } } })
  )
  await server.post(CONFIGS, { metadata: { name: 'c', labels: { watched: 'no' } } })
  t.same(hook.asked, [])
  for (const watched of ['yes', 'no', 'no']) await server.patch(`${CONFIGS}/c`, { metadata: { labels: { watched } } })
  t.equal(hook.asked.length, 2, 'when it has the label, and when it had it')
})

t.test('a namespace is selected by its new labels, and on deletion by its current ones', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  await configure(
    server,
    VALIDATING,
    'a',
    webhook('a', hook, {
      rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'], scope: 'Cluster' }],
      namespaceSelector: { matchLabels: { guarded: 'yes' } }
    })
  )
  await server.post('/api/v1/namespaces', { metadata: { name: 'free' } })
  await server.post('/api/v1/namespaces', { metadata: { name: 'kept', labels: { guarded: 'yes' } } })
  await server.patch('/api/v1/namespaces/free', { metadata: { labels: { guarded: 'yes' } } })
  await server.patch('/api/v1/namespaces/free', { metadata: { labels: { guarded: null } } })
  await server.delete('/api/v1/namespaces/free?dryRun=All')
  hook.answer = deny({ message: 'kept', code: 403 })
  t.equal((await server.delete('/api/v1/namespaces/kept')).code, 403)
  t.same(names(hook.asked), ['CREATE Namespace kept/kept', 'UPDATE Namespace free/free', 'DELETE Namespace kept/kept'])
})

const autoscaler = (more: Json = {}): Json => ({
  metadata: { name: 'a' },
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 3, ...more }
})
const AUTOSCALERS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
const IN_V1 = {
  operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers']
}

t.test(
  'a rule that names another version of a resource has the object in that version, ' +
  'and its patch counts for the one that was sent',
  async t => {
    const [hook, exact] = [
      await hookServer(t, patching({ op: 'add', path: '/spec/targetCPUUtilizationPercentage', value: 42 })),
      await hookServer(t)
    ]
    const server = await build(t)
    await configure(
      server, MUTATING, 'a', webhook('a', hook, { rules: [IN_V1] }),
      webhook('b', exact, { rules: [IN_V1], matchPolicy: 'Exact' })
    )
    const { code, json } = await server.post(AUTOSCALERS, autoscaler())
    t.match(
      { code, json },
      {
        code: 201,
        json: {
          apiVersion: 'autoscaling/v2',
          spec: {
            metrics: [
              { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 42 } } }
            ]
          }
        }
      }
    )
    t.match(hook.asked[0]?.request, {
      kind: { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' },
      resource: { group: 'autoscaling', version: 'v1', resource: 'horizontalpodautoscalers' },
      requestKind: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
      requestResource: { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' },
      object: { apiVersion: 'autoscaling/v1', spec: { maxReplicas: 3 } }
    })
    t.same(exact.asked, [])
    hook.answer = allow
    await server.patch(`${AUTOSCALERS}/a`, { spec: { maxReplicas: 4 } })
    t.match(hook.asked[1]?.request, {
      object: { apiVersion: 'autoscaling/v1', spec: { maxReplicas: 4 } },
      oldObject: { apiVersion: 'autoscaling/v1', spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 42 } }
    })
  }
)

t.test('the same objects in another group are equivalent too', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  await configure(server, VALIDATING, 'a', webhook('a', hook, {
    rules: [{ operations: ['CREATE'], apiGroups: ['events.orch.io'], apiVersions: ['v1'], resources: ['events'] }]
  }))
  await server.post('/api/v1/namespaces/default/events', {
    metadata: { name: 'e', namespace: 'default' },
    involvedObject: { namespace: 'default' },
    message: 'm',
    reason: 'r',
    type: 'Normal'
  })
  t.match(hook.asked[0]?.request, {
    kind: { group: 'events.orch.io', version: 'v1', kind: 'Event' },
    requestKind: { group: '', version: 'v1' },
    object: { apiVersion: 'events.orch.io/v1', note: 'm' }
  })
})

t.test('for subresources the review contains their own kind', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await server.post('/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template }
  })
  await server.post('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: template.spec })
  await configure(
    server,
    MUTATING,
    'a',
    webhook('a', hook, {
      rules: [
        { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/scale', '*/eviction', '*/status'] }
      ]
    })
  )
  const scale = (await server.get('/apis/apps/v1/namespaces/default/deployments/d/scale')).json
  hook.answer = patching({ op: 'replace', path: '/spec/replicas', value: 7 })
  t.match(
    await server.put('/apis/apps/v1/namespaces/default/deployments/d/scale', { ...scale, spec: { replicas: 3 } }),
    { code: 200, json: { kind: 'Scale', spec: { replicas: 7 } } }
  )
  hook.answer = allow
  await server.post('/api/v1/namespaces/default/pods/p/eviction', {
    apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }
  })
  t.match(hook.asked.map(({ request }) => request), [
    {
      operation: 'UPDATE',
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'apps', version: 'v1', resource: 'deployments' },
      subResource: 'scale',
      requestSubResource: 'scale',
      requestKind: { kind: 'Scale' },
      object: { kind: 'Scale', spec: { replicas: 3 } },
      oldObject: { kind: 'Scale', spec: { replicas: 1 } }
    },
    {
      operation: 'CREATE',
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      resource: { resource: 'pods' },
      subResource: 'eviction',
      name: 'p',
      namespace: 'default',
      object: { kind: 'Eviction', apiVersion: 'policy/v1', metadata: { name: 'p' } }
    }
  ])
})

t.test('webhooks are called for reviews and bindings, but not again for the pod that a binding changes', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  await server.post('/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] }
  })
  await configure(
    server, VALIDATING, 'a',
    webhook('a', hook, { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }] })
  )
  const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }
  t.equal((await server.post('/api/v1/namespaces/default/pods/p/binding', binding)).code, 201)
  t.equal(
    (await server.post('/apis/authorization.orch.io/v1/selfsubjectaccessreviews', {
      spec: { nonResourceAttributes: { path: '/', verb: 'get' } }
    })).code,
    201
  )
  const ours = hook.asked.filter(({ request }) => request.userInfo.username !== 'system:apiserver')
  t.same(names(ours), ['CREATE Binding default/p', 'CREATE SelfSubjectAccessReview /'])
  t.match(ours[0]?.request, {
    kind: { group: '', version: 'v1', kind: 'Binding' },
    resource: { resource: 'pods' },
    subResource: 'binding',
    object: { target: { name: 'n' } }
  })
  hook.answer = deny({ code: 403 })
  t.match(await server.post('/api/v1/namespaces/default/bindings', binding), { code: 403 })
  t.match(
    await server.post('/apis/authorization.orch.io/v1/selfsubjectaccessreviews', {
      spec: { nonResourceAttributes: { path: '/', verb: 'get' } }
    }),
    { code: 403 }
  )
})

t.test(
  'an eviction is reviewed as such and not as a deletion; a deletion carries the effective grace period', async t => {
    const hook = await hookServer(t)
    const server = await build(t, { admission: { disabled: ['ServiceAccount'] } })
    const pods = '/api/v1/namespaces/default/pods'
    const pod = (name: string): Json => ({
      metadata: { name }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }
    })
    for (const name of ['evicted', 'deleted']) await server.post(pods, pod(name))
    await configure(
      server,
      VALIDATING,
      'v',
      webhook('v', hook, {
        rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['pods', 'pods/eviction'] }]
      })
    )
    const asked = (): Json[] => hook.asked.splice(0).map(
      ({ request: { operation, subResource, options } }) => [operation, subResource, options.gracePeriodSeconds]
    )
    t.equal(
      (await server.post(`${pods}/evicted/eviction`, {
        apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted' }
      })).code,
      201
    )
    t.same(asked(), [['CREATE', 'eviction', undefined]])
    t.equal((await server.delete(`${pods}/deleted`)).code, 202)
    t.same(asked(), [['DELETE', undefined, 30]])
    t.equal((await server.delete(`${pods}/deleted`)).code, 202)
    t.same(asked(), [], 'a repeated deletion with the same grace period is not reviewed again')
    t.equal((await server.delete(`${pods}/deleted?gracePeriodSeconds=5`)).code, 202)
    t.same(asked(), [['DELETE', undefined, 5]])
  }
)

t.test('each object of a collection that is deleted is reviewed under its name', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  for (const name of ['a', 'b']) await server.post(MAPS, { metadata: { name } })
  await configure(
    server, VALIDATING, 'v',
    webhook(
      'v', hook,
      { rules: [{ operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }] }
    )
  )
  t.equal((await server.delete(MAPS)).code, 200)
  t.same(names(hook.asked).sort(), ['DELETE ConfigMap default/a', 'DELETE ConfigMap default/b'])
})

t.test('connections are reviewed with their options, which a webhook may change', async t => {
  const hook = await hookServer(t, patching({ op: 'replace', path: '/container', value: 'other' }))
  const app = Fastify()
  t.teardown(() => app.close())
  let resources: ResourceRegistry | undefined
  await app.register(async scope => {
    await orch(scope, {})
    resources = scope.orchResources
  })
  const server = client(app)
  const store = resources?.find('', 'pods')
  if (store === undefined) throw new Error('there are no pods')
  await configure(
    server,
    MUTATING,
    'a',
    webhook('a', hook, {
      rules: [{ operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec'] }]
    })
  )
  const { admission } = store
  const options = { kind: 'PodExecOptions', apiVersion: 'v1', stdin: true, container: 'c', command: ['sh'] }
  const context = { dryRun: false, caller: new AbortController() }
  const target = { namespace: 'default', name: 'p', subresource: 'exec' }
  const write = new OtherWrite({ store, target, context }, 'CONNECT', options as unknown as ApiObject, 'PodExecOptions')
  write.requested = { group: '', version: 'v1', plural: 'pods', kind: 'PodExecOptions' }
  const request = write.admitted
  await admission.mutate(request)
  t.match(hook.asked[0]?.request, {
    operation: 'CONNECT', kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
    resource: { group: '', version: 'v1', resource: 'pods' }, subResource: 'exec', name: 'p', namespace: 'default',
    object: { ...options, container: 'c' }, oldObject: null, options: null
  })
  t.equal(options.container, 'other')
  hook.answer = deny({ code: 403, message: 'no shells' })
  await t.rejects(admission.mutate(request), {
    message: 'admission webhook "a.example.com" denied the request: no shells'
  })
})

t.test(
  'a created, changed or deleted configuration applies to later requests, with and without a watch cache', async t => {
    for (const watchCache of [{}, { size: 0 }]) {
      const hook = await hookServer(t, deny())
      const server: Client = await build(t, { watchCache })
      const refused = async (): Promise<boolean> =>
        (await server.post(`${CONFIGS}?dryRun=All`, { metadata: { name: 'c' } })).code === 400
      t.notOk(await refused())
      await configure(server, VALIDATING, 'a', webhook('a', hook))
      t.ok(await refused())
      await server.patch(`${VALIDATING}/a`, {
        webhooks: [webhook('a', hook, { rules: [{ ...ON_CONFIGS, resources: ['secrets'] }] })]
      })
      t.notOk(await refused())
      await server.patch(`${VALIDATING}/a`, { webhooks: [webhook('a', hook)] })
      t.ok(await refused())
      await server.delete(`${VALIDATING}/a`)
      t.notOk(await refused())
    }
  }
)

t.test('ten thousand rules are looked through once for each way to ask', async t => {
  const hook = await hookServer(t, deny())
  const server = await build(t)
  const rules = Array.from({ length: 100 }, (_, at) => ({ ...ON_CONFIGS, resources: [`things${at}`] }))
  for (let at = 0; at < 10; at++) {
    await configure(
      server, VALIDATING, `many-${at}`,
      ...Array.from({ length: 10 }, (_, hooks) => webhook(`h${hooks}`, hook, { rules }))
    )
  }
  await configure(server, VALIDATING, 'z', webhook('z', hook, { rules: [...rules, ON_CONFIGS] }))
  t.match(await server.post(CONFIGS, { metadata: { name: 'c' } }), {
    code: 400, json: { message: /"z\.example\.com" denied/ }
  })
  t.equal(hook.asked.length, 1)
  t.equal((await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } })).code, 201)
})
