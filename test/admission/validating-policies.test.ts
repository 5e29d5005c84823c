/** Validating admission policies, through the server: which requests they see, what they read, and what refusals do. */
import t, { type Test } from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OWN_ADMISSION_NAMES } from '../../admission/names.js'
import { conditionsHold, failuresOf } from '../../admission/policies/evaluation.js'
import { parametersOf } from '../../admission/policies/parameters.js'
import { bindingOf, validatingPolicyOf } from '../../admission/policies/policy.js'
import { expressionWarnings } from '../../admission/policies/type-checking.js'
import type { Authorizer } from '../../auth/authorizer.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { validateConditionsOf } from '../../schemas/api/admissionregistration/rules/webhooks.js'
import type { MutatingWebhook } from '../../schemas/api/admissionregistration/webhooks.js'
import { configMaps } from '../../schemas/api/core/configmaps.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { WaitingSteps } from '../../schemas/steps.js'
import { build, type Client, type Json } from '../build.js'
import { until } from '../interop/server.js'

const GROUP = '/apis/admissionregistration.orch.io/v1'
const POLICIES = `${GROUP}/validatingadmissionpolicies`
const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`
const MAPS = '/api/v1/namespaces/default/configmaps'
const FOR_MAPS = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] }
  ]
}

const policy = (spec: Json = {}, name = 'p'): Json =>
  ({ metadata: { name }, spec: { matchConstraints: FOR_MAPS, ...spec } })
const binding = (spec: Json = {}, name = 'b'): Json =>
  ({ metadata: { name }, spec: { policyName: 'p', validationActions: ['Deny'], ...spec } })
const map = (name: string, data: Json = {}, metadata: Json = {}): Json => ({ metadata: { name, ...metadata }, data })
const rule = (expression: string, more: Json = {}): Json => ({ validations: [{ expression, ...more }] })

interface Policed extends Client { readonly with: (spec: Json, of?: Json) => Promise<void> }

async function policed (t: Test, options: Parameters<typeof build>[1] = {}): Promise<Policed> {
  const server = await build(t, { emulatedVersion: '1.36', ...options })
  return {
    ...server,
    with: async (spec, of = {}) => {
      await server.delete(`${POLICIES}/p`)
      await server.delete(`${BINDINGS}/b`)
      for (const [path, object] of [[POLICIES, policy(spec)], [BINDINGS, binding(of)]] as const) {
        const made = await server.post(path, object)
        if (made.code !== 201) throw new Error(made.body)
      }
    }
  }
}

t.test('a false validation denies, at once and until the binding goes', async t => {
  const server = await policed(t)
  await server.with(rule("object.metadata.name != 'bad'", { message: 'not bad' }))
  const { code, json } = await server.post(MAPS, map('bad'))
  t.equal(code, 422)
  t.match(json, {
    reason: 'Invalid',
    message: "configmaps \"bad\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not bad",
    details: {
      name: 'bad', kind: 'configmaps',
      causes: [{ message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not bad" }]
    }
  })
  t.equal((await server.post(MAPS, map('good'))).code, 201)
  t.equal((await server.delete(`${BINDINGS}/b`)).code, 200)
  t.equal((await server.post(MAPS, map('bad'))).code, 201)
})

t.test('reasons and messages', async t => {
  const server = await policed(t)
  for (const [more, code, reason, text] of [
    [{ reason: 'Forbidden' }, 403, 'Forbidden', /failed expression: object\.data\.x == 'y'$/],
    [{ reason: 'RequestEntityTooLarge', message: 'too large' }, 413, 'RequestEntityTooLarge', /: too large$/],
    [{ messageExpression: "'x is ' + object.data.x" }, 422, 'Invalid', /: x is z$/],
    [{ messageExpression: "''", message: 'otherwise' }, 422, 'Invalid', /: otherwise$/],
    [{ messageExpression: 'string(object.data.nothing)', message: 'otherwise' }, 422, 'Invalid', /: otherwise$/]
  ] as const) {
    await server.with(rule("object.data.x == 'y'", more))
    const answer = await server.post(MAPS, map('a', { x: 'z' }))
    t.equal(answer.code, code)
    t.match(answer.json, { reason, message: text })
  }
})

t.test('what expressions read', async t => {
  const server = await policed(t, { authentication: { tokens: 'secret,bob,1,dev\n' } })
  const denied = async (expression: string): Promise<boolean> => {
    await server.with({
      ...rule(expression), variables: [
        { name: 'x', expression: "object == null ? 'none' : object.data.x" },
        { name: 'both', expression: "variables.x + '!'" }
      ]
    })
    const { code, body } = await server.call(
      'POST', `${MAPS}?dryRun=All`, map('a', { x: 'y' }, { labels: { l: 'm' } }), { authorization: 'Bearer secret' }
    )
    t.ok(code === 201 || code === 422, body)
    return code === 422
  }
  for (const expression of [
    "object.kind == 'ConfigMap' && object.apiVersion == 'v1' && object.metadata.labels.l == 'm'", 'oldObject == null',
    "request.operation == 'CREATE' && request.name == 'a' && request.namespace == 'default'",
    "request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps' && request.requestKind.version == " +
      "'v1' && !has(request.subResource) && !has(request.requestSubResource)",
    "request.?subResource.orValue('none') == 'none' && !has(request.userInfo.extra)",
    'request.dryRun == true',
    "request.userInfo.username == 'bob' && 'dev' in request.userInfo.groups", 'namespaceObject.metadata.name == ' +
      "'default' && namespaceObject.status.phase == 'Active'", "variables.both == 'y!'",
    "authorizer.group('').resource('pods').namespace('default').check('get').allowed()",
    "authorizer.requestResource.check('create').allowed()", 'has(object.metadata.uid) || !has(object.metadata.uid)',
    "request.options.kind == 'CreateOptions'"
  ]) {
    t.equal(await denied(expression), false, expression)
    t.equal(await denied(`!(${expression})`), true, expression)
  }
})

t.test('rules, names, selectors and exclusions', async t => {
  const server = await policed(t)
  await server.patch('/api/v1/namespaces/default', { metadata: { labels: { guarded: 'yes' } } })
  await server.post('/api/v1/namespaces', { metadata: { name: 'free' } })
  const denies = async (constraints: Json, of: Json = {}, path = MAPS, labels: Json = {}): Promise<boolean> => {
    await server.with({ matchConstraints: { ...FOR_MAPS, ...constraints }, ...rule('false') }, of)
    return (await server.post(`${path}?dryRun=All`, map('a', {}, { labels }))).code === 422
  }
  const [inFree, selected] = [
    '/api/v1/namespaces/free/configmaps', { namespaceSelector: { matchLabels: { guarded: 'yes' } } }
  ]
  t.ok(await denies({}))
  t.ok(await denies(selected))
  t.notOk(await denies(selected, {}, inFree))
  t.notOk(await denies({}, { matchResources: selected }, inFree))
  t.ok(await denies({ objectSelector: { matchLabels: { l: 'm' } } }, {}, MAPS, { l: 'm' }))
  t.notOk(await denies({ objectSelector: { matchLabels: { l: 'm' } } }))
  t.notOk(await denies({ excludeResourceRules: [{ ...FOR_MAPS.resourceRules[0], resourceNames: ['a'] }] }))
  t.ok(await denies({ excludeResourceRules: [{ ...FOR_MAPS.resourceRules[0], resourceNames: ['other'] }] }))
  t.notOk(await denies({ resourceRules: [{ ...FOR_MAPS.resourceRules[0], resourceNames: ['other'] }] }))
  t.notOk(
    await denies({}, { matchResources: { resourceRules: [{ ...FOR_MAPS.resourceRules[0], operations: ['DELETE'] }] } })
  )
  t.notOk(await denies({ resourceRules: [{ ...FOR_MAPS.resourceRules[0], resources: ['pods'] }] }))
})

t.test('other versions of an object match, and are converted to that of the rule', async t => {
  const server = await policed(t, { emulatedVersion: '1.24', featureGates: { ValidatingAdmissionPolicy: true } })
  const jobs = {
    resourceRules: [{ apiGroups: ['batch'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['cronjobs'] }]
  }
  const job = {
    metadata: { name: 'a' }, spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } }
    }
  }
  await server.with({
    matchConstraints: jobs, ...rule(
      "object.apiVersion == 'batch/v1' && request.kind.version == 'v1' && request.requestKind.version == 'v1beta1'"
    )
  })
  t.equal((await server.post('/apis/batch/v1beta1/namespaces/default/cronjobs?dryRun=All', job)).code, 201)
  await server.with({ matchConstraints: { ...jobs, matchPolicy: 'Exact' }, ...rule('false') })
  t.equal((await server.post('/apis/batch/v1beta1/namespaces/default/cronjobs?dryRun=All', job)).code, 201)
  t.equal((await server.post('/apis/batch/v1/namespaces/default/cronjobs?dryRun=All', job)).code, 422)
})

t.test('updates see the old object, deletes see it alone', async t => {
  const server = await policed(t)
  await server.post(MAPS, map('a', { x: 'y' }))
  await server.with(
    rule(
      "request.operation == 'DELETE' ? object == null && oldObject.data.x == 'keep' : request.operation == 'CREATE' " +
        '|| object.data.x != oldObject.data.x'
    )
  )
  t.equal((await server.put(`${MAPS}/a`, map('a', { x: 'y', z: '1' }))).code, 422)
  t.equal((await server.patch(`${MAPS}/a`, { data: { x: 'keep' } })).code, 200)
  t.equal((await server.delete(`${MAPS}/a`)).code, 200)
  await server.post(MAPS, map('c', { x: 'y' }))
  t.equal((await server.delete(`${MAPS}/c`)).code, 422)
  t.equal((await server.get(`${MAPS}/c`)).code, 200)
})

t.test('parameters: by name, by selector, none, and of custom types', async t => {
  const server = await policed(t)
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    ...rule('params == null || object.data.x == params.data.allowed'),
    matchConditions: [{ name: 'no-params', expression: "!object.metadata.name.startsWith('param')" }]
  }
  for (const name of ['one', 'two']) {
    await server.post(MAPS, map(`param-${name}`, { allowed: name }, { labels: { set: 'both' } }))
  }
  const code = async (x: string): Promise<number> => (await server.post(`${MAPS}?dryRun=All`, map('a', { x }))).code
  await server.with(spec, { paramRef: { name: 'param-one', parameterNotFoundAction: 'Deny' } })
  t.same([await code('one'), await code('two')], [201, 422])
  await server.with(spec, { paramRef: { selector: { matchLabels: { set: 'both' } }, parameterNotFoundAction: 'Deny' } })
  t.same([await code('one'), await code('two')], [422, 422], 'each of them must agree')
  await server.with(spec)
  t.equal(await code('any'), 201, 'null without paramRef')
  for (const [action, expected] of [['Allow', 201], ['Deny', 422]] as const) {
    await server.with(spec, { paramRef: { name: 'nobody', parameterNotFoundAction: action } })
    t.equal(await code('one'), expected, action)
  }
  await server.with({ ...spec, failurePolicy: 'Ignore' }, {
    paramRef: { name: 'nobody', parameterNotFoundAction: 'Deny' }
  })
  t.equal(await code('one'), 201)
  await server.with({ ...spec, paramKind: { apiVersion: 'example.com/v1', kind: 'Unknown' } }, {
    paramRef: { name: 'x', parameterNotFoundAction: 'Allow' }
  })
  t.match(await server.post(`${MAPS}?dryRun=All`, map('a', { x: 'one' })), {
    code: 422, json: { message: /failed to find resource referenced by paramKind/ }
  })
})

t.test('who names parameters may read them', async t => {
  const root = { authorization: 'Bearer root' }
  const admin = await build(t, {
    emulatedVersion: '1.36', authentication: { tokens: 'secret,bob,1,dev\nroot,root,2,system:masters\n' },
    authorization: { modes: ['RBAC'] }
  })
  const allow = async (name: string, rules: readonly Json[]): Promise<void> => {
    for (const [path, object] of [['clusterroles', { metadata: { name }, rules }], ['clusterrolebindings', {
      metadata: { name }, roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'bob' }]
    }]] as const) {
      const { code, body } = await admin.call('POST', `/apis/rbac.authorization.orch.io/v1/${path}`, object, root)
      t.equal(code, 201, body)
    }
  }
  const bob = { authorization: 'Bearer secret' }
  await allow('writes', [{ apiGroups: ['admissionregistration.orch.io'], resources: ['*'], verbs: ['*'] }])
  const withParams = policy({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, ...rule('true') })
  const named = binding({ paramRef: { name: 'one', namespace: 'default', parameterNotFoundAction: 'Allow' } })
  t.equal((await admin.call('POST', POLICIES, policy(rule('true'), 'without'), bob)).code, 201)
  t.match(await admin.call('POST', POLICIES, withParams, bob), {
    code: 422, json: {
      details: {
        kind: 'ValidatingAdmissionPolicy',
        causes: [{
          reason: 'FieldValueForbidden', field: 'spec.paramKind',
          message: /must have "get" permission on all objects of the referenced paramKind/
        }]
      }
    }
  })
  t.equal((await admin.call('POST', POLICIES, withParams, root)).code, 201)
  t.match(await admin.call('POST', BINDINGS, named, bob), {
    code: 422, json: {
      details: {
        kind: 'ValidatingAdmissionPolicyBinding',
        causes: [{
          reason: 'FieldValueForbidden', field: 'spec.paramRef',
          message: /does not have "get" permission on the object referenced by paramRef/
        }]
      }
    }
  })
  await allow('reads', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }])
  t.equal((await admin.call('POST', BINDINGS, named, bob)).code, 201)
  t.equal(
    (await admin.call(
      'POST', BINDINGS, binding({ paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } }, 'all'), bob
    )).code,
    422, 'a selector lists'
  )
})

t.test('errors obey the failure policy, and conditions decide before', async t => {
  const server = await policed(t)
  const code = async (): Promise<number> => (await server.post(`${MAPS}?dryRun=All`, map('a'))).code
  for (const [failurePolicy, expected] of [['Fail', 422], ['Ignore', 201]] as const) {
    await server.with({ failurePolicy, ...rule('object.nothing == 1') })
    t.equal(await code(), expected)
    await server.with({
      failurePolicy, matchConditions: [{ name: 'errs', expression: 'object.nothing == 1' }], ...rule('true')
    })
    t.equal(await code(), expected)
    await server.with({
      failurePolicy,
      matchConditions: [{ name: 'errs', expression: 'object.nothing == 1' }, { name: 'no', expression: 'false' }],
      ...rule('false')
    })
    t.equal(await code(), 201, 'a false condition skips, even beside one that errs')
    await server.with({ failurePolicy, ...rule('false') })
    t.equal(await code(), 422, 'false is no error')
  }
})

t.test('a policy that costs too much ends, and holds nobody up', async t => {
  const server = await policed(t)
  await server.with(
    rule("object.data.all(a, object.data.all(b, object.data.all(c, object.data.all(d, a + b + c + d != 'x'))))")
  )
  const data = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`key-${index}`, 'v']))
  const pending = server.post(`${MAPS}?dryRun=All`, map('a', data))
  t.equal((await server.get(MAPS)).code, 200)
  t.match(await pending, { code: 422, json: { message: /running out of cost budget/ } })
})

t.test('a warning, an audit annotation, and annotations of values', async t => {
  const path = join(t.testdir(), 'audit.log')
  const server = await policed(t, { audit: { path } })
  await server.with({
    ...rule("object.data.x == 'y'", { message: 'x' }), auditAnnotations: [
      { key: 'seen', valueExpression: "'x=' + object.data.x" }, { key: 'none', valueExpression: 'null' }
    ]
  }, {
    validationActions: ['Warn', 'Audit']
  })
  const { code, headers } = await server.post(MAPS, map('a', { x: 'z' }))
  t.equal(code, 201)
  t.match(String(headers.warning), /Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': x/)
  let annotations: Json = {}
  await until('the event', () =>
    readFileSync(path, 'utf8').split('\n').slice(0, -1).map(line => JSON.parse(line) as Json).some(event => {
      annotations = (event['annotations'] ?? {}) as Json
      return annotations['p/seen'] !== undefined
    }))
  t.equal(annotations['p/seen'], 'x=z')
  t.equal(annotations['p/none'], undefined)
  t.same(
    JSON.parse(annotations['validation.policy.admission.orch.io/validation_failure'] as string),
    [{ message: 'x', policy: 'p', binding: 'b', expressionIndex: 0, validationActions: ['Warn', 'Audit'] }]
  )
})

t.test('policies do not see policies, so that none is for ever', async t => {
  const server = await policed(t)
  await server.with({
    matchConstraints: {
      resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*', '*'].slice(0, 1) }]
    }, ...rule('false')
  })
  t.equal((await server.post(MAPS, map('a'))).code, 422)
  t.equal((await server.delete(`${POLICIES}/p`)).code, 200)
  t.equal((await server.post(MAPS, map('a'))).code, 201)
})

t.test('public names: expressions read what clients of these names read', async t => {
  const server = await policed(t, { compatNames: true })
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
  const made = await server.post('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies', {
    apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name: 'p' },
    spec: {
      matchConstraints: {
        resourceRules: [{
          apiGroups: ['rbac.authorization.k8s.io'], apiVersions: ['v1'], operations: ['CREATE'],
          resources: ['clusterroles']
        }]
      },
      ...rule(
        "object.apiVersion == 'rbac.authorization.k8s.io/v1' && request.resource.group == " +
          "'rbac.authorization.k8s.io' && object.metadata.name != 'bad'"
      )
    }
  })
  t.equal(made.code, 201, made.body)
  await server.post('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', {
    apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding', ...binding()
  })
  const role = (name: string): Json =>
    ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules: [] })
  t.equal((await server.post(roles, role('good'))).code, 201)
  t.equal((await server.post(roles, role('bad'))).code, 422)
})

t.test('public names: of the namespace, and of what expressions ask authorizers', async t => {
  const server = await build(t, {
    compatNames: true, authorization: { modes: ['RBAC'] },
    authentication: { tokens: 'root,root,1,system:masters\nsecret,bob,2\n' }
  })
  const as = async (token: string, path: string, body: Json): Promise<number> =>
    (await server.call('POST', path, body, { authorization: `Bearer ${token}` })).code
  const made = async (path: string, body: Json): Promise<void> => { t.equal(await as('root', path, body), 201, path) }
  const rbac = (namespace: string): string => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
  const allow = async (namespace: string, subject: Json, rule: Json): Promise<void> => {
    const metadata = { name: rule['resources'][0] }
    await made(`${rbac(namespace)}/roles`, { metadata, rules: [rule] })
    await made(`${rbac(namespace)}/rolebindings`, {
      metadata, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', ...metadata }, subjects: [subject]
    })
  }
  const bob = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }
  await allow('kube-system', bob, { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] })
  await allow('default', bob, {
    apiGroups: [''], resources: ['configmaps'], resourceNames: ['kube-root-ca.crt'], verbs: ['get']
  })
  await allow('kube-system', { kind: 'ServiceAccount', namespace: 'kube-system', name: 'robot' }, {
    apiGroups: [''], resources: ['secrets'], verbs: ['get']
  })
  const group = '/apis/admissionregistration.k8s.io/v1'
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
  await made(`${group}/validatingadmissionpolicybindings`, binding())
  for (const expression of [
    "namespaceObject.metadata.name == 'kube-system'",
    "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'kube-system'",
    "authorizer.requestResource.check('create').allowed()", "!authorizer.requestResource.check('update').allowed()",
    "authorizer.group('coordination.k8s.io').resource('leases').namespace('kube-system').check('create').allowed()",
    "!authorizer.group('coordination.k8s.io').resource('leases').namespace('orch-system').check('create').allowed()",
    "authorizer.group('').resource('configmaps').namespace('default').name('kube-root-ca.crt').check('get').allowed()",
    "authorizer.serviceAccount('kube-system', 'robot')" +
    ".group('').resource('secrets').namespace('kube-system').check('get').allowed()"
  ]) {
    await made(`${group}/validatingadmissionpolicies`, policy({
      matchConstraints: {
        resourceRules: [{
          apiGroups: ['coordination.k8s.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['leases']
        }]
      }, ...rule(expression)
    }))
    t.equal(await as('secret', `${leases}?dryRun=All`, { metadata: { name: 'a' } }), 201, expression)
    await server.call('DELETE', `${group}/validatingadmissionpolicies/p`, undefined, { authorization: 'Bearer root' })
  }
})

t.test('authorizers are told of the selectors that an expression names', async t => {
  const told: unknown[] = []
  const spy: Authorizer = {
    name: 'spy',
    authorize: ({ info: { resource, selectors } }) => {
      if (resource === 'pods') told.push(selectors && { fields: selectors.fields, labels: selectors.labels })
      return { decision: 'Allow' }
    }
  }
  const server = await build(t, { compatNames: true, authorization: { authorizers: [spy] } })
  const check = (selectors: string): string =>
    `authorizer.group('').resource('pods').namespace('default')${selectors}.check('list').allowed()`
  const group = '/apis/admissionregistration.k8s.io/v1'
  await server.post(`${group}/validatingadmissionpolicybindings`, binding())
  await server.post(`${group}/validatingadmissionpolicies`, policy({
    validations: [
      ".fieldSelector('spec.nodeName=n').labelSelector('kubernetes.io/os in (linux)')", ".labelSelector('((')", ''
    ].map(selectors => ({ expression: check(selectors) }))
  }))
  t.equal((await server.post(`${MAPS}?dryRun=All`, map('a'))).code, 201)
  t.strictSame(told, [
    {
      fields: [{ key: 'spec.nodeName', operator: 'In', values: ['n'] }],
      labels: [{ key: 'orch.io/os', operator: 'In', values: ['linux'] }]
    },
    { fields: [], labels: [] }, // what cannot be read narrows nothing
    undefined
  ])
})

t.test('what a policy and a binding may not be', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const causes = async (path: string, object: Json): Promise<unknown> => {
    const { code, json } = await server.post(path, object)
    return code === 201 ? [] : ((json['details'] as Json)['causes'] as Json[]).map(({ field }) => field as string)
  }
  for (const [spec, ...fields] of [
    [{}, 'spec.validations', 'spec.auditAnnotations'], [rule('object.'), 'spec.validations[0].expression'],
    [rule("'text'"), 'spec.validations[0].expression'], [rule('params == null'), 'spec.validations[0].expression'],
    [rule('true', { reason: 'Unauthorized' }), 'spec.validations[0].reason'],
    [rule('true', { message: 'a\nb' }), 'spec.validations[0].message'], [rule('true\n'), ...[]],
    [rule('true', { messageExpression: '1' }), 'spec.validations[0].messageExpression'],
    [rule('true', { messageExpression: 'string(authorizer != null)' }), 'spec.validations[0].messageExpression'],
    [{ matchConstraints: {}, ...rule('true') }, 'spec.matchConstraints.resourceRules'],
    [{ paramKind: {}, ...rule('true') }, 'spec.paramKind.apiVersion', 'spec.paramKind.kind'],
    [{ variables: [{ name: '1', expression: 'true' }], ...rule('true') }, 'spec.variables[0].name'],
    [{ variables: [{ name: 'a', expression: 'variables.b' }], ...rule('true') }, 'spec.variables[0].expression'],
    [{ matchConditions: [{ name: 'a b', expression: 'true' }], ...rule('true') }, 'spec.matchConditions[0].name'],
    [{ matchConditions: [{ name: 'a', expression: '1' }], ...rule('true') }, 'spec.matchConditions[0].expression'],
    [{ auditAnnotations: [{ key: 'a b', valueExpression: "''" }] }, 'spec.auditAnnotations[0].key'],
    [{ auditAnnotations: [{ key: 'a', valueExpression: 'true' }] }, 'spec.auditAnnotations[0].valueExpression'],
    [{ failurePolicy: 'Perhaps', ...rule('true') }, 'spec.failurePolicy']
  ] as Array<[Json, ...string[]]>) {
    t.same(await causes(`${POLICIES}?dryRun=All`, policy(spec)), fields, JSON.stringify(spec))
  }
  t.match(await server.post(POLICIES, policy(rule('object.'))), {
    code: 422, json: { message: /compilation failed: [^]*\^/ }
  })
  for (const [spec, ...fields] of [
    [{ policyName: '' }, 'spec.policyName'], [{ validationActions: [] }, 'spec.validationActions'],
    [{ validationActions: ['Deny', 'Warn'] }, 'spec.validationActions'],
    [{ validationActions: ['Deny', 'Deny'] }, 'spec.validationActions[1]'],
    [{ validationActions: ['Stop'] }, 'spec.validationActions[0]'],
    [{ paramRef: { parameterNotFoundAction: 'Deny' } }, 'spec.paramRef'],
    [{ paramRef: { name: 'a' } }, 'spec.paramRef.parameterNotFoundAction'],
    [{
      paramRef: {
        name: 'a', selector: {}, parameterNotFoundAction: 'Deny'
      }
    }, 'spec.paramRef.name', 'spec.paramRef.selector']
  ] as Array<[Json, ...string[]]>) {
    t.same(await causes(`${BINDINGS}?dryRun=All`, binding(spec)), fields, JSON.stringify(spec))
  }
})

t.test('releases of before do not have them, unless the gate is on', async t => {
  t.equal((await (await build(t)).post(POLICIES, policy(rule('true')))).code, 404)
  const gated = await build(t, { featureGates: { ValidatingAdmissionPolicy: true } })
  t.equal((await gated.post(POLICIES, policy(rule('false')))).code, 201)
  t.equal((await gated.post(BINDINGS, binding())).code, 201)
  t.equal((await gated.post(MAPS, map('a'))).code, 422)
})

t.test('expressions are checked against the types that rules name, and the status says what is wrong', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const checked = async (spec: Json, name: string): Promise<Json> => {
    const made = await server.post(POLICIES, policy(spec, name))
    if (made.code !== 201) throw new Error(made.body)
    await until('it is checked', async () =>
      (await server.get(`${POLICIES}/${name}`)).json['status']?.observedGeneration === 1)
    return (await server.get(`${POLICIES}/${name}`)).json['status']
  }
  const rules = (apiGroups: string[], resources: string[], apiVersions = ['v1']): Json =>
    ({ matchConstraints: { resourceRules: [{ apiGroups, apiVersions, operations: ['CREATE'], resources }] } })
  t.same(
    await checked({
      ...rules(['apps'], ['replicasets', 'deployments', 'deployments/scale']),
      variables: [{ name: 'n', expression: 'object.spec.replicas' }],
      validations: [
        { expression: 'object.replicas > 1' },
        { expression: 'variables.n > 1 && has(object.metadata.labels)', messageExpression: "'n is ' + variables.n" }
      ]
    }, 'wrong'),
    {
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [
          {
            fieldRef: 'spec.validations[0].expression',
            warning:
              "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'\n" +
              ' | object.replicas > 1\n | ......^\n\n' +
              "apps/v1, Kind=ReplicaSet: ERROR: <input>:1:7: undefined field 'replicas'\n" +
              ' | object.replicas > 1\n | ......^\n'
          },
          {
            fieldRef: 'spec.validations[1].messageExpression',
            warning: ['Deployment', 'ReplicaSet'].map(kind =>
              `apps/v1, Kind=${kind}: ERROR: <input>:1:9: found no matching overload for ` +
              "'_+_' applied to '(string, int)'\n | 'n is ' + variables.n\n | ........^\n").join('\n')
          }
        ]
      }
    }
  )
  for (const [name, spec] of Object.entries({
    right: {
      ...rules([''], ['pods']),
      validations: [{ expression: "object.spec.containers.all(c, c.image != '') && object.kind == 'Pod'" }]
    },
    reserved: {
      ...rules(['rbac.authorization.orch.io'], ['rolebindings']),
      validations: [{ expression: 'object.subjects.all(s, s.?namespace.orValue("") == object.metadata.namespace)' }]
    },
    wildcard: { ...rules(['*'], ['pods']), validations: [{ expression: 'object.nothing' + " == ''" }] },
    unknown: { ...rules(['example.com'], ['widgets']), validations: [{ expression: 'object.nothing' + " == ''" }] },
    params: {
      ...rules([''], ['pods']), paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [{ expression: 'params == null || params.data.x == object.metadata.name' }]
    }
  })) t.same(await checked(spec, name), { observedGeneration: 1, typeChecking: {} }, name)
})

t.test('conditions of a policy are those that all objects have', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  await server.post(POLICIES, policy(rule('true')))
  const status = async (condition: Json): Promise<string[] | undefined> => {
    const { json } = await server.patch(`${POLICIES}/p/status`, { status: { conditions: [condition] } })
    return (json['details'] as Json | undefined)?.['causes']?.map(({ field }: Json) => field as string).toSorted()
  }
  t.same(
    await status({ type: 'Ready', status: 'Perhaps', reason: '' }),
    ['lastTransitionTime', 'reason', 'status'].map(field => `status.conditions[0].${field}`)
  )
  t.equal(
    await status({
      type: 'Ready', status: 'True', reason: 'Checked', message: '', lastTransitionTime: '2026-01-01T00:00:00Z'
    }),
    undefined
  )
})

t.test('chains of variables cost what their number does, and end where their types would double', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const chain = (count: number, next: (before: string) => string): Json => policy({
    variables: Array.from({ length: count }, (_, at) =>
      ({ name: `v${at}`, expression: at === 0 ? '[1]' : next(`variables.v${at - 1}`) })),
    ...rule('true')
  })
  const began = process.cpuUsage()
  t.match(await server.post(`${POLICIES}?dryRun=All`, chain(5000, before => `${before} + ${before}`)), { code: 201 })
  const { user, system } = process.cpuUsage(began)
  t.ok(user + system < 4e6, `5,000 variables took ${user + system} \u00b5s`)
  for (const [first, next] of [[6, (x: string) => `{${x}: ${x}}`], [99, (x: string) => `[${x}]`]] as const) {
    t.match(await server.post(`${POLICIES}?dryRun=All`, chain(first + 1, next)), {
      code: 422, json: { details: { causes: [{ field: `spec.variables[${first}].expression` }] } }
    })
    t.match(await server.post(`${POLICIES}?dryRun=All`, chain(first, next)), { code: 201 })
  }
  const within = `[[1]]${Array.from({ length: 30 }, (_, at) => `.map(a${at}, {a${at}: a${at}})`).join('')}.size() > 0`
  t.match(await server.post(`${POLICIES}?dryRun=All`, policy(rule(within))), { code: 422 })
})

const stepsOf = (steps: WaitingSteps<unknown>): number => {
  for (let count = 0; ; count++) if (steps.next().done === true) return count
}

t.test('many variables, conditions and validations are compiled in steps', async t => {
  const MANY = 500
  const named = (more = ''): Json[] =>
    Array.from({ length: MANY }, (_, at) => ({ name: `v${at}`, expression: `'${at}' != ''${more}` }))
  const whole = policy({ variables: named(), matchConditions: named(' || true'), validations: named() })
  const compiled = validatingPolicyOf(whole as ApiObject)
  const of = { name: 'p', kind: 'policy', type: 'validate', operation: 'CREATE' } as const
  t.ok(stepsOf(conditionsHold(compiled.conditions, {}, of, undefined)) >= MANY)
  t.ok(stepsOf(failuresOf(compiled, {})) >= 2 * MANY)
  t.ok(compiled.variables.every(({ program }) => !(program instanceof Error)))
  const webhooks = [{ matchConditions: named() }, { matchConditions: named() }] as unknown as MutatingWebhook[]
  t.ok(stepsOf(validateConditionsOf({ webhooks }, () => {})) >= 2 * MANY)
})

t.test('types of many variables are checked in turns', async t => {
  const [representation] = configMaps.representations
  const resources = { lookup: () => ({ representation }) } as unknown as ResourceRegistry // all that is asked of it
  const variables = Array.from({ length: 2000 }, (_, at) =>
    ({ name: `v${at}`, expression: `[${at}].all(x, x > 0) && has(object.data)` }))
  let turned = false
  setImmediate(() => { turned = true })
  await expressionWarnings({ matchConstraints: FOR_MAPS, variables }, resources)
  t.ok(turned)
})

t.test('thousands of parameters are made in turns', async t => {
  const [representation] = configMaps.representations
  const resources = { served: () => [{ representation }] } as unknown as ResourceRegistry // all that is asked of it
  const data = Object.fromEntries(Array.from({ length: 50 }, (_, key) => [`k${key}`, 'v']))
  const objects = Array.from({ length: 3000 }, (_, at) => map(`m${at}`, data))
  // likewise
  const asked = { namespace: 'default', reader: { list: async () => objects } } as unknown as AdmissionRequest
  const compiled = validatingPolicyOf(policy({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }) as ApiObject)
  const of = bindingOf(binding({ paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } }) as ApiObject)
  let turned = false
  setImmediate(() => { turned = true })
  t.equal((await parametersOf(compiled, of, asked, { resources, names: OWN_ADMISSION_NAMES })).length, 3000)
  t.ok(turned)
})

t.test('a rule with names protects them from the deletion of their collection', async t => {
  const server = await policed(t)
  for (const name of ['kept', 'other']) await server.post(MAPS, map(name))
  await server.with({
    matchConstraints: {
      resourceRules: [{
        apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'], resourceNames: ['kept']
      }]
    },
    ...rule('false')
  })
  t.equal((await server.delete(MAPS)).code, 422)
  t.equal((await server.get(`${MAPS}/kept`)).code, 200)
  t.equal((await server.delete(`${MAPS}?fieldSelector=metadata.name%3Dother`)).code, 200)
})
