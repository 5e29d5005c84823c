import t from 'tap'
import type { Attributes } from '../../../auth/authorizer.js'
import { build, type Answer, type Json } from '../../build.js'

const ROOT = '/apis/authorization.orch.io/v1'
const ANYBODYS = `${ROOT}/subjectaccessreviews`
const ONES = `${ROOT}/selfsubjectaccessreviews`
const LOCAL = `${ROOT}/namespaces/team/localsubjectaccessreviews`
const RULES = `${ROOT}/selfsubjectrulesreviews`
const pods = { verb: 'list', resource: 'pods', namespace: 'team' }
const causes = ({ code, json }: Answer): unknown => [
  code, ...json.details?.causes?.map(({ field }: { field: string }) => field) ?? []
]

t.test('a review answers what the authorizers would decide, regardless of its sender', async t => {
  const asked: Attributes[] = []
  const server = await build(t, {
    authorization: {
      modes: ['AlwaysDeny'],
      authorizers: [{
        name: 'own',
        authorize: attributes => {
          if (attributes.user.username !== 'ann') return { decision: 'Allow' }
          asked.push(attributes)
          if (attributes.info.verb === 'delete') return { decision: 'Deny', reason: 'never' }
          return attributes.info.verb === 'list'
            ? { decision: 'Allow', reason: 'ann may' }
            : { decision: 'NoOpinion', evaluationError: new Error('no list of roles') }
        }
      }]
    }
  })
  const ask = async (spec: object) => (await server.post(ANYBODYS, { spec: { user: 'ann', ...spec } })).json.status
  t.same(
    await ask({
      resourceAttributes: { ...pods, group: 'g', version: 'v', subresource: 's', name: 'n' },
      uid: '7',
      groups: ['dev'],
      extra: { k: ['v'] }
    }),
    { allowed: true, reason: 'ann may' }
  )
  t.same(asked[0], {
    user: { username: 'ann', uid: '7', groups: ['dev'], extra: { k: ['v'] } },
    info: {
      path: '',
      isResourceRequest: true,
      verb: 'list',
      group: 'g',
      version: 'v',
      resource: 'pods',
      subresource: 's',
      namespace: 'team',
      name: 'n'
    }
  })
  t.same(await ask({ nonResourceAttributes: { path: '/metrics', verb: 'delete' } }), {
    allowed: false, denied: true, reason: 'never'
  })
  t.match(asked[1], { info: { isResourceRequest: false, path: '/metrics' } })
  t.same(await ask({ resourceAttributes: { verb: 'get' } }), {
    allowed: false, reason: 'Everything is forbidden.', evaluationError: 'no list of roles'
  })
  const whole = await server.post(ANYBODYS, { spec: { groups: ['dev'], resourceAttributes: pods } })
  t.same(
    [whole.code, whole.json.kind, whole.json.spec],
    [201, 'SubjectAccessReview', { groups: ['dev'], resourceAttributes: pods }]
  )
})

t.test('a review tells the authorizers its selectors, and what it did not tell', async t => {
  const asked: Attributes[] = []
  const authorizers = [
    {
      name: 'own',
      authorize: (attributes: Attributes) => { asked.push(attributes); return { decision: 'Allow' } as const }
    }
  ]
  const server = await build(t, { authorization: { modes: [], authorizers } })
  const review = async (selectors: object): Promise<unknown> => {
    const { code, json } = await server.post(`${ANYBODYS}?fieldValidation=Strict`, {
      spec: { user: 'ann', resourceAttributes: { ...pods, ...selectors } }
    })
    const { selectors: told } = (asked.at(-1) as Attributes).info
    return code === 201
      ? [told?.fields, told?.labels, json.status.evaluationError]
      : [code, ...json.details.causes.map(({ field, reason }: Json) => `${String(reason)} ${String(field)}`)]
  }
  const [field, label] = ['spec.resourceAttributes.fieldSelector', 'spec.resourceAttributes.labelSelector']
  const is = (key: string, operator: string, ...values: string[]): Json => ({
    key, operator, ...values.length === 0 ? {} : { values }
  })
  t.same(await review({}), [undefined, undefined, undefined])
  t.same(
    await review({ fieldSelector: { rawSelector: 'a=b,c!=d' }, labelSelector: { rawSelector: 'x in (2,1)' } }),
    [[is('a', 'In', 'b'), is('c', 'NotIn', 'd')], [is('x', 'In', '1', '2')], undefined]
  )
  t.same(
    await review({
      fieldSelector: { requirements: [is('a', 'In', 'b')] }, labelSelector: { requirements: [is('x', 'Exists')] }
    }),
    [[is('a', 'In', 'b')], [is('x', 'Exists')], undefined]
  )
  t.same(await review({ fieldSelector: { rawSelector: 'a' }, labelSelector: { rawSelector: '!!' } }), [
    [], [], `[${field} ignored due to parse error, ${label} ignored due to parse error]`
  ])
  t.same(
    await review({
      fieldSelector: {
        requirements: [is('a', 'In', 'b'), is('c', 'In', 'd', 'e'), is('f', 'Exists'), is('g', 'Like', 'h')]
      }
    }),
    [[is('a', 'In', 'b')], [], `${field} partially ignored due to parse error`]
  )
  t.same(await review({ labelSelector: { requirements: [is('a', 'Like', 'b')] } }), [
    [], [], `${label} ignored due to parse error`
  ])
  t.same(
    await review({ fieldSelector: {}, labelSelector: { rawSelector: 'a', requirements: [is('a', 'Exists')] } }),
    [422, `FieldValueRequired ${field}.requirements`, `FieldValueInvalid ${label}.rawSelector`]
  )
  t.same(await review({ fieldSelector: { requirements: [is('', 'In'), is('a', 'Exists', 'b')] } }), [
    422, `FieldValueRequired ${field}.requirements[0].values`, `FieldValueRequired ${field}.requirements[0].key`,
    `FieldValueForbidden ${field}.requirements[1].values`
  ])
  t.same(await review({ labelSelector: { requirements: [is('a b', 'In', '?'), is('a', 'NotIn')] } }), [
    422, `FieldValueInvalid ${label}.requirements[0].key`, `FieldValueInvalid ${label}.requirements[0].values[0]`,
    `FieldValueRequired ${label}.requirements[1].values`
  ])
})

t.test('selectors of reviews have the names of their client', async t => {
  const asked: Attributes[] = []
  const authorizers = [
    {
      name: 'own',
      authorize: (attributes: Attributes) => { asked.push(attributes); return { decision: 'Allow' } as const }
    }
  ]
  const server = await build(t, { compatNames: true, authorization: { modes: [], authorizers } })
  const sent = {
    fieldSelector: { rawSelector: 'metadata.namespace=kube-system' },
    labelSelector: { rawSelector: 'kubernetes.io/hostname=n' }
  }
  const { json } = await server.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    spec: { user: 'ann', resourceAttributes: sent }
  })
  t.same(json['spec'].resourceAttributes, sent)
  t.match((asked.at(-1) as Attributes).info.selectors, {
    fields: [{ key: 'metadata.namespace', values: ['orch-system'] }],
    labels: [{ key: 'orch.io/hostname', values: ['n'] }]
  })
  const requirements = [{ key: 'metadata.namespace', operator: 'In', values: ['kube-system'] }]
  await server.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    spec: { user: 'ann', resourceAttributes: { fieldSelector: { requirements } } }
  })
  t.match((asked.at(-1) as Attributes).info.selectors, {
    fields: [{ key: 'metadata.namespace', values: ['orch-system'] }]
  })
})

t.test('OpenAPI of 1.24 has no selectors of reviews, that of 1.36 has', async t => {
  for (const emulatedVersion of ['1.24', '1.36'] as const) {
    const { body } = await (await build(t, { emulatedVersion })).get('/openapi/v2')
    t.equal(body.includes('FieldSelectorAttributes'), emulatedVersion === '1.36', emulatedVersion)
  }
})

t.test('a client can request the metadata of a review alone', async t => {
  const server = await build(t)
  for (const [format, type] of [['json', 'application/json'], ['yaml', 'application/yaml']]) {
    const { code, body, headers } = await server.post(
      ANYBODYS, { spec: { user: 'ann', resourceAttributes: pods } },
      { accept: `application/${format};as=PartialObjectMetadata;g=meta.orch.io;v=v1` }
    )
    t.match({ code, type: headers['content-type'] }, { code: 201, type })
    if (format === 'json') {
      t.strictSame(JSON.parse(body), {
        kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: { creationTimestamp: null }
      })
    }
    t.notMatch(body, /spec|allowed/)
  }
})

t.test('1.36 leaves out the creation time that a review has not', async t => {
  for (const [emulatedVersion, metadata] of [['1.24', { creationTimestamp: null }], ['1.36', {}]] as const) {
    const server = await build(t, { emulatedVersion })
    const spec = { user: 'ann', resourceAttributes: pods }
    t.strictSame((await server.post(ANYBODYS, { spec })).json.metadata, metadata, emulatedVersion)
    t.strictSame(
      (await server.post(`${ANYBODYS}?pretty=true`, { spec })).json.metadata, metadata, `${emulatedVersion}, indented`
    )
    t.strictSame(
      (await server.post(
        ANYBODYS, { spec }, { accept: 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1' }
      )).json.metadata,
      metadata, `${emulatedVersion}, metadata alone`
    )
    const { body } = await server.post(ANYBODYS, { spec }, { accept: 'application/yaml' })
    t.equal(body.includes('creationTimestamp'), emulatedVersion === '1.24', `${emulatedVersion}, YAML`)
  }
})

t.test('a self-review is about its sender', async t => {
  const server = await build(t, {
    authentication: { tokens: 'secret,bob,1,dev\n' },
    authorization: {
      modes: [],
      authorizers: [
        {
          name: 'own',
          authorize: ({ user, info }) => ({
            decision: info.verb === 'create' || !info.isResourceRequest || user.groups.includes('dev')
              ? 'Allow'
              : 'NoOpinion'
          })
        }
      ]
    }
  })
  const body = { spec: { resourceAttributes: pods } }
  t.equal((await server.post(ONES, body, { authorization: 'Bearer secret' })).json.status.allowed, true)
  t.equal((await server.post(ONES, body)).json.status.allowed, false)
})

t.test('a review needs exactly one kind of attributes, a user, and no name', async t => {
  const server = await build(t)
  const other = { path: '/', verb: 'get' }
  t.same(causes(await server.post(ANYBODYS, { spec: { user: 'ann' } })), [422, 'spec.resourceAttributes'])
  t.same(
    causes(await server.post(ANYBODYS, {
      spec: { user: 'ann', resourceAttributes: pods, nonResourceAttributes: other }
    })),
    [422, 'spec.nonResourceAttributes']
  )
  t.same(causes(await server.post(ANYBODYS, { spec: { resourceAttributes: pods } })), [422, 'spec.user'])
  t.same(
    causes(await server.post(ANYBODYS, { metadata: { name: 'x' }, spec: { user: 'ann', resourceAttributes: pods } })),
    [422, 'metadata']
  )
  t.same(causes(await server.post(ONES, { spec: {} })), [422, 'spec.resourceAttributes'])
  t.same((await server.get(ANYBODYS)).code, 405)
})

t.test('a local review is about its own namespace', async t => {
  const server = await build(t)
  const spec = { user: 'ann', resourceAttributes: pods }
  t.match(await server.post(LOCAL, { spec }), {
    code: 201, json: { kind: 'LocalSubjectAccessReview', metadata: { namespace: 'team' }, status: { allowed: true } }
  })
  t.equal((await server.post(LOCAL, { metadata: { namespace: 'other' }, spec })).code, 400)
  t.same(
    causes(await server.post(LOCAL, { spec: { user: 'ann', resourceAttributes: { ...pods, namespace: 'other' } } })),
    [422, 'spec.resourceAttributes.namespace']
  )
  t.same(
    causes(await server.post(LOCAL, { spec: { user: 'ann', nonResourceAttributes: { path: '/', verb: 'get' } } })),
    [422, 'spec.nonResourceAttributes']
  )
  t.same(causes(await server.post(LOCAL, { metadata: { labels: { a: 'b' } }, spec })), [422, 'metadata'])
})

t.test('rules are those that all authorizers list; more is possible where one lists none', async t => {
  const everything = {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }]
  }
  const all = await build(t)
  const answer = await all.post(RULES, { spec: { namespace: 'team' } })
  t.same([answer.code, answer.json.status], [201, { ...everything, incomplete: false }])
  t.equal((await all.post(RULES, { spec: {} })).code, 400)

  const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }
  const own = await build(t, {
    authorization: {
      modes: ['AlwaysDeny'],
      authorizers: [
        {
          name: 'lists',
          authorize: () => ({ decision: 'Allow' }),
          rules: async (user, namespace) => ({
            resourceRules: namespace === 'team' && user.username !== '' ? [rule] : [],
            nonResourceRules: [],
            incomplete: false
          })
        },
        { name: 'mute', authorize: () => ({ decision: 'NoOpinion' }) },
        { name: 'broken', authorize: () => ({ decision: 'NoOpinion' }), rules: () => { throw new Error('no roles') } }
      ]
    }
  })
  t.same((await own.post(RULES, { spec: { namespace: 'team' } })).json.status, {
    resourceRules: [rule], nonResourceRules: [], incomplete: true,
    evaluationError: 'authorizer mute does not list rules, no roles'
  })
})
