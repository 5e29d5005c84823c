/** Mutating admission policies, through the server: what they change, in which order, and what is refused. */
import t, { type Test } from 'tap'
import { build, type Client, type Json } from '../build.js'
import { until } from '../interop/server.js'
import { caBundle, configure, hookServer, MUTATING, patching, webhook } from './webhooks/hook-server.js'
import { definition, install, version } from '../controllers/custom/definitions.js'

const GROUP = '/apis/admissionregistration.orch.io/v1'
const POLICIES = `${GROUP}/mutatingadmissionpolicies`
const BINDINGS = `${GROUP}/mutatingadmissionpolicybindings`
const MAPS = '/api/v1/namespaces/default/configmaps'
const PODS = '/api/v1/namespaces/default/pods'
const of = (resources: string[], apiGroups = [''], operations = ['CREATE', 'UPDATE']): Json =>
  ({ resourceRules: [{ apiGroups, apiVersions: ['*'], operations, resources }] })
const apply = (expression: string): Json => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patch = (expression: string): Json => ({ patchType: 'JSONPatch', jsonPatch: { expression } })
const policy = (name: string, mutations: Json[], more: Json = {}): Json => ({
  metadata: { name },
  spec: { matchConstraints: of(['configmaps']), reinvocationPolicy: 'Never', mutations, ...more }
})
const map = (name: string, data: Json = {}, metadata: Json = {}): Json => ({ metadata: { name, ...metadata }, data })
const pod = (name: string): Json => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })

interface Policed extends Client {
  /** Writes a policy and a binding of the same name. */
  readonly bind: (policy: Json, binding?: Json) => Promise<void>
  readonly unbind: (...names: string[]) => Promise<void>
}

async function policed (t: Test, options: Parameters<typeof build>[1] = {}): Promise<Policed> {
  const server = await build(t, { emulatedVersion: '1.36', ...options })
  return {
    ...server,
    bind: async (policy, binding = {}) => {
      const { name } = policy['metadata'] as { name: string }
      const bound = { metadata: { name }, spec: { policyName: name, ...binding } }
      for (const [path, object] of [[POLICIES, policy], [BINDINGS, bound]] as const) {
        const made = await server.post(path, object)
        if (made.code !== 201) throw new Error(made.body)
      }
    },
    unbind: async (...names) => {
      for (const name of names) for (const path of [BINDINGS, POLICIES]) await server.delete(`${path}/${name}`)
    }
  }
}

t.test('apply configurations are merged, and patches are followed, in order', async t => {
  const server = await policed(t)
  await server.bind(policy('p', [
    apply('Object{metadata: Object.metadata{labels: {"one": object.metadata.name}}}'),
    patch(
      '[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b"), value: ' +
      'object.metadata.labels.one + "_b"}]'
    ),
    apply('Object{data: {"seen": string(size(object.metadata.labels))}}')
  ]))
  const { code, json } = await server.post(MAPS, map('a', { kept: 'yes' }))
  t.equal(code, 201)
  t.match(json, { metadata: { labels: { one: 'a', 'a/b': 'a_b' } }, data: { kept: 'yes', seen: '2' } })
  t.match((await server.get(`${MAPS}/a`)).json, json)
  t.equal((await server.patch(`${MAPS}/a`, { data: { seen: null } })).json['data'].seen, '2', 'updates too')
  await server.unbind('p')
  t.equal((await server.patch(`${MAPS}/a`, { data: { seen: null } })).json['data'].seen, undefined)
  t.equal((await server.delete(`${MAPS}/a`)).code, 200)
})

t.test('items of lists are merged by their keys, defaults follow, and the creator owns what is changed', async t => {
  const server = await policed(t, { admission: { disabled: ['ServiceAccount'] } })
  await server.bind(policy('p', [apply(`Object{spec: Object.spec{
    containers: [Object.spec.containers{name: "c", env: [Object.spec.containers.env{name: "E", value: "v"}]},
      Object.spec.containers{name: "sidecar", image: "s", ports: [Object.spec.containers.ports{containerPort: 80}]}],
    ?hostname: optional.of("h")}}`)], { matchConstraints: of(['pods']) }))
  const { code, json, body } = await server.post(`${PODS}?fieldManager=me`, pod('a'))
  t.equal(code, 201, body)
  t.match(json['spec'], {
    hostname: 'h',
    containers: [
      { name: 'c', image: 'i', env: [{ name: 'E', value: 'v' }] },
      { name: 'sidecar', image: 's', imagePullPolicy: 'Always', ports: [{ containerPort: 80, protocol: 'TCP' }] }
    ]
  })
  const [{ manager, fieldsV1 }] = json['metadata'].managedFields
  t.equal(manager, 'me')
  t.ok(fieldsV1['f:spec']['f:containers']['k:{"name":"sidecar"}'])
})

t.test('what cannot be changed is refused with the words of the public project', async t => {
  const server = await policed(t)
  const said = async (mutation: Json, more: Json = {}): Promise<string> => {
    await server.bind(policy('p', [mutation], { matchConstraints: of(['pods']), ...more }))
    const { json } = await server.post(`${PODS}?dryRun=All`, pod('a'))
    await server.unbind('p')
    t.match(json, {
      code: 403, reason: 'Invalid', details: { name: 'a', kind: 'pods', causes: [{ message: json['message'] }] }
    })
    const before = "policy 'p' with binding 'p' denied request: "
    t.ok(String(json['message']).startsWith(before), json['message'])
    return String(json['message']).slice(before.length)
  }
  t.equal(
    await said(apply('Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: "k"}], containers: ' +
      '[Object.spec.containers{name: "c", command: ["x"]}]}}')),
    'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ' +
      '.spec.tolerations, .spec.containers[0].command'
  )
  t.equal(
    await said(apply('Object{spec: Object.wrong{hostname: "h"}}')),
    'type mismatch: unexpected type name "Object.wrong", expected "Object.spec", ' +
    'which matches field name path from root Object type'
  )
  t.equal(
    await said(apply('Object{spec: Object.spec{hostnam: "h"}}')),
    'error applying patch: failed to convert patch object to typed object: .spec.hostnam: field not declared in schema'
  )
  t.match(
    await said(apply('Object{spec: Object.spec{hostname: 1}}')),
    /^error applying patch: failed to convert patch object to typed object: .*spec\.hostname/
  )
  t.match(await said(patch('[JSONPatch{op: "remove", path: "/spec/nothing"}]')), /^JSON Patch: /)
  t.equal(
    await said(apply('Object{spec: Object.spec{hostname: object.spec.nothing}}')),
    "expression 'Object{spec: Object.spec{hostname: object.spec.nothing}}' resulted in error: no such key: nothing"
  )
  t.match(
    await said(apply('Object{}'), { matchConditions: [{ name: 'c', expression: 'object.spec.nothing' + " == 'x'" }] }),
    /no such key: nothing/
  )
})

t.test('results that are no such object are errors of the server', async t => {
  const server = await policed(t)
  for (const [value, message] of [
    ['"/spec/hostnam", value: "h"', /strict decoding error: unknown field "spec\.hostnam"/],
    ['"/spec/hostname", value: 1', /spec\.hostname/]
  ] as const) {
    await server.bind(policy('p', [patch(`[JSONPatch{op: "add", path: ${value}}]`)], {
      matchConstraints: of(['pods']), failurePolicy: 'Ignore'
    }))
    t.match(await server.post(`${PODS}?dryRun=All`, pod('a')), {
      code: 500, json: { reason: 'InternalError', message }
    })
    await server.unbind('p')
  }
})

t.test('failures are ignored mutation by mutation; a failed test leaves the object as it is', async t => {
  const server = await policed(t)
  await server.bind(policy('p', [
    patch('[JSONPatch{op: "remove", path: "/data/nothing"}]'), apply('Object{data: {"x": object.data.nothing}}'),
    patch('[JSONPatch{op: "add", path: "/data/lost", value: "y"}, JSONPatch{op: "test", path: "/data/a", value: "c"}]'),
    patch(
      '[JSONPatch{op: "test", path: "/data/a", value: "b"}, JSONPatch{op: "move", from: "/data/a", path: "/data/z"}]'
    )
  ], { failurePolicy: 'Ignore' }))
  t.same((await server.post(MAPS, map('a', { a: 'b' }))).json['data'], { z: 'b' })
})

t.test('conditions, variables, parameters and selectors decide', async t => {
  const server = await policed(t)
  for (const name of ['one', 'two']) {
    await server.post(MAPS, map(`param-${name}`, { key: name }, { labels: { set: 'both' } }))
  }
  await server.bind(policy('p', [apply('Object{data: {variables.key: variables.value}}')], {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConditions: [{ name: 'new', expression: "request.operation == 'CREATE' && !has(object.data.skip)" }],
    variables: [
      { name: 'key', expression: 'params.data.key' }, { name: 'value', expression: "variables.key + '!'" }
    ]
  }), { paramRef: { selector: { matchLabels: { set: 'both' } }, parameterNotFoundAction: 'Deny' } })
  t.same(
    (await server.post(MAPS, map('a', { k: '' }))).json['data'], { k: '', one: 'one!', two: 'two!' },
    'once for each parameter'
  )
  t.same((await server.post(MAPS, map('b', { skip: '' }))).json['data'], { skip: '' })
  t.same((await server.patch(`${MAPS}/b`, { data: { skip: null } })).json['data'], undefined)
  await server.delete(`${MAPS}/param-one`)
  await server.delete(`${MAPS}/param-two`)
  t.match((await server.post(MAPS, map('c', { k: '' }))).json, {
    code: 403, reason: 'Forbidden',
    message:
      "policy 'p' with binding 'p' denied request: failed to configure binding: no params found for policy binding " +
      'with `Deny` parameterNotFoundAction'
  })
})

t.test('policies that want it run once more after a change by another one', async t => {
  const server = await policed(t)
  const count = (key: string): Json =>
    apply(
      `Object{data: {"${key}": has(object.data.${key}) ? object.data.${key} + "+" + string("b" in object.data) : "1"}}`
    )
  await server.bind(policy('a', [count('a')], { reinvocationPolicy: 'IfNeeded' }))
  await server.bind(policy('never', [count('never')]))
  await server.bind(policy('z', [apply('Object{data: {"b": "b"}}')]))
  t.same((await server.post(MAPS, map('x', { k: '' }))).json['data'], { k: '', a: '1+true', never: '1', b: 'b' })
  await server.unbind('a', 'never', 'z')
  await server.bind(policy('a', [apply('Object{data: {"a": "set"}}')], { reinvocationPolicy: 'IfNeeded' }))
  t.same((await server.post(MAPS, map('y'))).json['data'], { a: 'set' })
})

t.test('custom types are changed too', async t => {
  const server = await policed(t)
  await server.post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' },
      versions: [{
        name: 'v1', served: true, storage: true, schema: {
          openAPIV3Schema: {
            type: 'object', properties: {
              spec: {
                type: 'object', properties: {
                  size: { type: 'integer' }, colour: { type: 'string', default: 'red' },
                  'x-y': { type: 'string' },
                  parts: {
                    type: 'array', 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: { type: 'string' }, n: { type: 'integer' } }
                    }
                  }
                }
              }
            }
          }
        }
      }]
    }
  })
  const widgets = '/apis/example.com/v1/namespaces/default/widgets'
  await until('the type is served', async () => (await server.get(widgets)).code === 200)
  await server.bind(policy('p', [
    apply(
      'Object{spec: Object.spec{size: object.spec.size + 1, x__dash__y: "z", parts: [Object.spec.parts{name: "a", n: ' +
      '2}, Object.spec.parts{name: "b"}]}}'
    )
  ], { matchConstraints: of(['widgets'], ['example.com']) }))
  const { code, json, body } = await server.post(widgets, {
    apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 1, parts: [{ name: 'a' }] }
  })
  t.equal(code, 201, body)
  t.same(json['spec'], { size: 2, colour: 'red', 'x-y': 'z', parts: [{ name: 'a', n: 2 }, { name: 'b' }] })
})

t.test('other versions of an object are changed in that of the rule', async t => {
  const server = await policed(t, { emulatedVersion: '1.24', featureGates: { MutatingAdmissionPolicy: true } })
  await server.bind(policy('jobs', [
    apply('Object{metadata: Object.metadata{annotations: {"seen": object.apiVersion}}}')
  ], {
    matchConstraints: {
      resourceRules: [{ apiGroups: ['batch'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['cronjobs'] }]
    }
  }))
  const job = {
    schedule: '* * * * *',
    jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } }
  }
  const made = await server.post('/apis/batch/v1beta1/namespaces/default/cronjobs', {
    metadata: { name: 'a' }, spec: job
  })
  t.match(made.json, { apiVersion: 'batch/v1beta1', metadata: { annotations: { seen: 'batch/v1' } } })
})

t.test('versions that a webhook converts are changed too, by policies and by webhooks, with their schema', async t => {
  const server = await policed(t)
  const converter = await hookServer(t, ({ request }) => ({
    result: { status: 'Success' },
    convertedObjects: request['objects'].map((object: Json) =>
      ({ ...object, apiVersion: request['desiredAPIVersion'] }))
  }))
  const properties = { spec: { type: 'object', properties: { size: { type: 'integer' }, colour: { type: 'string' } } } }
  await install(server, definition({
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: converter.url, caBundle }, conversionReviewVersions: ['v1'] }
    },
    versions: ['v1', 'v2'].map((name, at) =>
      version(name, { storage: at === 0, schema: { openAPIV3Schema: { type: 'object', properties } } }))
  }))
  await server.bind(policy('p', [
    apply('Object{spec: Object.spec{size: object.spec.size + 1, colour: object.apiVersion}}')
  ], { matchConstraints: of(['widgets'], ['example.com']) }))
  const hook = await hookServer(t, patching(
    { op: 'add', path: '/metadata/annotations', value: { seen: 'yes' } }, { op: 'add', path: '/spec/odd', value: 1 }
  ))
  await configure(server, MUTATING, 'w', webhook('w.example.com', hook, {
    rules: [{ operations: ['CREATE'], apiGroups: ['example.com'], apiVersions: ['v2'], resources: ['widgets'] }]
  }))
  const path = '/apis/example.com/v2/namespaces/default/widgets'
  const { code, json, body } = await server.post(path, {
    apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 1 }
  })
  t.equal(code, 201, body)
  t.same(json['spec'], { size: 2, colour: 'example.com/v2' }, 'without what the schema does not have')
  t.same(json['metadata'].annotations, { seen: 'yes' })
  t.match((await server.patch(`${path}/w`, { metadata: { labels: { a: 'b' } } })).json, { spec: { size: 3 } })
})

t.test('a policy that says what it cannot is refused with its causes', async t => {
  const server = await policed(t)
  const causes = async (policy: Json): Promise<string[]> => {
    const { code, json } = await server.post(POLICIES, policy)
    t.equal(code, 422)
    return json['details'].causes.map(({ field, message }: Json) => `${String(field)}: ${String(message)}`)
  }
  t.same(await causes({ metadata: { name: 'p' }, spec: {} }), [
    'spec.matchConstraints: Required value',
    'spec.mutations: Required value: mutations must contain at least one item',
    'spec.reinvocationPolicy: Required value'
  ])
  t.same(await causes(policy('p', [
    { patchType: '' }, { patchType: 'Other' }, { patchType: 'JSONPatch', applyConfiguration: {} }, apply(' ')
  ], {
    matchConstraints: of(['pods'], [''], ['CREATE', 'DELETE']), reinvocationPolicy: 'Always', failurePolicy: 'Maybe'
  })), [
    'spec.failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"',
    'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: ' +
    '"*", "CONNECT", "CREATE", "UPDATE"',
    'spec.mutations[0].patchType: Required value',
    'spec.mutations[1].patchType: Unsupported value: "Other": supported values: "ApplyConfiguration", "JSONPatch"',
    'spec.mutations[2].jsonPatch: Required value: must be specified when patchType is JSONPatch',
    'spec.mutations[2].applyConfiguration: Invalid value: "{applyConfiguration}": ' +
    'must not be specified when patchType is JSONPatch',
    'spec.mutations[3].applyConfiguration.expression: Required value',
    'spec.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"'
  ])
  t.same(await causes(policy('p', [
    apply('object'), patch('[]'), apply('Object{a: x}'), patch('[JSONPatch{no: 1}]')
  ])), [
    'spec.mutations[0].applyConfiguration.expression: Invalid value: "object": must evaluate to Object',
    'spec.mutations[1].jsonPatch.expression: Invalid value: "[]": must evaluate to list(JSONPatch)',
    'spec.mutations[2].applyConfiguration.expression: Invalid value: "Object{a: x}": compilation failed: ERROR: ' +
      "<input>:1:11: undeclared reference to 'x' (in container '')\n | Object{a: x}\n | ..........^",
    'spec.mutations[3].jsonPatch.expression: Invalid value: "[JSONPatch{no: 1}]": compilation failed: ERROR: ' +
      "<input>:1:14: undefined field 'no'\n | [JSONPatch{no: 1}]\n | .............^"
  ])
})

t.test('a name that the server generates is not there yet, and is for validating policies', async t => {
  const server = await policed(t)
  await server.bind(policy(
    'p', [apply('Object{data: {"name": request.?name.orValue("none"), "made": string(object.metadata.generateName)}}')]
  ))
  const v1 = POLICIES.replace('mutatingadmissionpolicies', 'validatingadmission')
  await server.post(`${v1}policies`, {
    metadata: { name: 'v' },
    spec: {
      matchConstraints: of(['configmaps']),
      validations: [{ expression: 'false', messageExpression: "request.name + ' ' + object.metadata.name" }]
    }
  })
  const { code, json } = await server.post(MAPS, { metadata: { generateName: 'some-' } })
  t.equal(code, 201)
  t.same(json['data'], { name: 'none', made: 'some-' })
  await server.post(`${v1}policybindings`, {
    metadata: { name: 'v' }, spec: { policyName: 'v', validationActions: ['Deny'] }
  })
  const { json: denied } = await server.post(MAPS, { metadata: { generateName: 'some-' } })
  t.match(denied, { code: 422, message: /: (some-\w{5}) \1$/ })
})

t.test('under public names, mutations read and write those', async t => {
  const zone = 'topology.kubernetes.io/zone'
  const server = await policed(t, { compatNames: true, admission: { disabled: ['ServiceAccount'] } })
  const bind = async (mutation: Json): Promise<void> => {
    for (const [path, object] of [
      [POLICIES, policy('p', [mutation], { matchConstraints: of(['pods']) })],
      [BINDINGS, { metadata: { name: 'p' }, spec: { policyName: 'p' } }]
    ] as const) {
      const made = await server.post(path.replace('orch', 'k8s'), object)
      t.ok(made.code < 300 || made.code === 409, made.body)
    }
  }
  await bind(apply(
    `Object{metadata: Object.metadata{labels: {"seen": string(object.metadata.labels["${zone}"]), "${zone}": "b"}}}`
  ))
  t.same(
    (await server.post(PODS, {
      ...pod('a'), metadata: { name: 'a', labels: { [zone]: 'a' } }
    })).json['metadata'].labels,
    { seen: 'a', [zone]: 'b' }
  )
  await server.delete(`${POLICIES.replace('orch', 'k8s')}/p`)
  await bind(patch(
    `[JSONPatch{op: "replace", path: "/metadata/labels/" + jsonpatch.escapeKey("${zone}"), value: "c"}]`
  ))
  t.same(
    (await server.post(PODS, {
      ...pod('b'), metadata: { name: 'b', labels: { [zone]: 'a' } }
    })).json['metadata'].labels,
    { [zone]: 'c' }
  )
})

t.test('policies, their bindings and reviews are never changed', async t => {
  const server = await policed(t)
  await server.bind(policy(
    'p', [apply('Object{metadata: Object.metadata{labels: {"changed": "yes"}}}')],
    { matchConstraints: of(['*/*'], ['*']) }
  ))
  t.equal((await server.post(MAPS, map('a'))).json['metadata'].labels.changed, 'yes')
  const made = await server.post(POLICIES, policy('q', [apply('Object{}')]))
  t.equal(made.json['metadata'].labels, undefined)
  t.equal((await server.post('/apis/authorization.orch.io/v1/selfsubjectaccessreviews', {
    spec: { resourceAttributes: { verb: 'get', resource: 'pods' } }
  })).json['metadata'].labels, undefined)
})

t.test('v1beta1 is served when it is asked for', async t => {
  const BETA = POLICIES.replace('v1', 'v1beta1')
  t.equal((await (await policed(t)).get(BETA)).code, 404)
  const server = await policed(t, { api: { disabled: [] } })
  await server.bind(policy('p', [apply('Object{}')]))
  t.match(await server.get(`${BETA}/p`), {
    code: 200, json: { apiVersion: 'admissionregistration.orch.io/v1beta1', metadata: { generation: 1 } }
  })
  t.match(
    (await server.get('/apis/admissionregistration.orch.io')).json['versions'].map(({ version }: Json) => version),
    ['v1', 'v1beta1']
  )
})

t.test('subresources of a kind of their own are changed too', async t => {
  const server = await policed(t, { admission: { disabled: ['ServiceAccount'] } })
  await server.post(PODS, pod('a'))
  for (const [mutation, code] of [
    [apply('Object{deleteOptions: Object.deleteOptions{dryRun: ["All"]}}'), 403],
    [patch('[JSONPatch{op: "add", path: "/deleteOptions", value: {"dryRun": ["All"]}}]'), 201],
    [apply('Object{metadata: Object.metadata{labels: {"a": "b"}}}'), 201]
  ] as const) {
    await server.bind(policy('p', [mutation], { matchConstraints: of(['pods/eviction']) }))
    const answer = await server.post(`${PODS}/a/eviction?dryRun=All`, {
      apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' }
    })
    t.equal(answer.code, code, answer.body)
    await server.unbind('p')
  }
  await server.post('/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: pod('x')['spec'] }
    }
  })
  await server.bind(policy('p', [apply('Object{spec: Object.spec{replicas: object.spec.replicas + 1}}')], {
    matchConstraints: of(['deployments/scale'], ['apps'])
  }))
  t.equal(
    (await server.patch(
      '/apis/apps/v1/namespaces/default/deployments/d/scale', { spec: { replicas: 2 } }
    )).json['spec'].replicas,
    3
  )
})

t.test('metrics count what policies and match conditions did', async t => {
  const server = await policed(t)
  const validating = POLICIES.replace('mutatingadmissionpolicies', 'validatingadmission')
  await server.bind(policy('m', [
    apply('Object{data: {"x": "y"}}'), apply('Object{data: {"z": object.data.nothing}}')
  ], {
    failurePolicy: 'Ignore', matchConditions: [{ name: 'c', expression: "object.metadata.name != 'skipped'" }]
  }))
  await server.post(`${validating}policies`, {
    metadata: { name: 'v' },
    spec: {
      matchConstraints: of(['configmaps']),
      validations: [{ expression: 'false' }, { expression: "object.data.nothing == ''" }]
    }
  })
  await server.post(`${validating}policybindings`, {
    metadata: { name: 'b' }, spec: { policyName: 'v', validationActions: ['Audit', 'Warn'] }
  })
  t.equal((await server.post(MAPS, map('a'))).code, 201)
  t.equal((await server.post(MAPS, map('skipped', { nothing: 'x' }))).code, 201)
  const { body } = await server.get('/metrics')
  const lines = body.split('\n')
  const ofMutating = 'policy="m",policy_binding="m"'
  const ofValidating = 'policy="v",policy_binding="b"'
  const ofCondition = 'name="m",kind="policy",type="validate",operation="CREATE"'
  for (const [name, labels, value] of [
    ['mutating_admission_policy_check_total', `${ofMutating},error_type="no_error"`, 1],
    ['mutating_admission_policy_check_total', `${ofMutating},error_type="invalid_error"`, 1],
    ['mutating_admission_policy_check_duration_seconds_count', `${ofMutating},error_type="no_error"`, 1],
    [
      'validating_admission_policy_check_total',
      `${ofValidating},error_type="no_error",enforcement_action="audit"`, 3
    ],
    [
      'validating_admission_policy_check_total',
      `${ofValidating},error_type="invalid_error",enforcement_action="warn"`, 1
    ],
    [
      'validating_admission_policy_check_duration_seconds_count',
      `${ofValidating},error_type="invalid_error",enforcement_action="audit"`, 1
    ],
    ['admission_match_condition_exclusions_total', ofCondition, 1],
    ['admission_match_condition_evaluation_seconds_count', ofCondition, 3]
  ] as const) {
    const line = `apiserver_${name}{${labels}} ${value}`
    t.ok(lines.includes(line), line, {
      lines: lines.filter(other => other.startsWith(line.slice(0, line.indexOf('{'))))
    })
  }
})

t.test('a change by a webhook lets policies that want it run once more', async t => {
  const server = await policed(t)
  const hook = await hookServer(t, patching({ op: 'add', path: '/data/hook', value: 'here' }))
  await configure(server, MUTATING, 'hooks', webhook('a', hook, { clientConfig: { url: hook.url, caBundle } }))
  const seen = (key: string): Json => apply(`Object{data: {"${key}": string("hook" in object.data)}}`)
  await server.bind(policy('again', [seen('again')], { reinvocationPolicy: 'IfNeeded' }))
  await server.bind(policy('once', [seen('once')]))
  t.same((await server.post(MAPS, map('a', { k: '' }))).json['data'], {
    k: '', hook: 'here', again: 'true', once: 'false'
  })
})

t.test('a mutation that costs too much ends, and holds nobody up', async t => {
  const server = await policed(t)
  await server.bind(policy('p', [apply(
    "Object{data: {'x': string(object.data.all(a, object.data.all(b, " +
    "object.data.all(c, object.data.all(d, a + b + c + d != 'x')))))}}"
  )]))
  const data = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`key-${index}`, 'v']))
  const pending = server.post(`${MAPS}?dryRun=All`, map('a', data))
  t.equal((await server.get(MAPS)).code, 200)
  t.match(await pending, { code: 403, json: { reason: 'Invalid', message: /running out of cost budget/ } })
})

t.test('whoever names parameters has to be allowed to read them', async t => {
  const server = await policed(t, {
    authentication: { tokens: 'root,root,1,system:masters\nsecret,bob,2\n' }, authorization: { modes: ['RBAC'] }
  })
  const as = (token: string) => async (path: string, object: Json): Promise<Json> =>
    (await server.call('POST', path, object, { authorization: `Bearer ${token}` })).json
  const [root, bob] = [as('root'), as('secret')]
  await root('/apis/rbac.authorization.orch.io/v1/clusterroles', {
    metadata: { name: 'writes' },
    rules: [{ apiGroups: ['admissionregistration.orch.io'], resources: ['*'], verbs: ['*'] }]
  })
  await root('/apis/rbac.authorization.orch.io/v1/clusterrolebindings', {
    metadata: { name: 'writes' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'writes' },
    subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'bob' }]
  })
  const withParams = policy('p', [apply('Object{}')], { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } })
  t.match(
    await bob(POLICIES, withParams),
    {
      code: 422,
      message: /spec.paramKind: Forbidden: .* must have "get" permission on all objects of the referenced paramKind/
    }
  )
  t.match(await root(POLICIES, withParams), { kind: 'MutatingAdmissionPolicy' })
  const bound = {
    metadata: { name: 'p' }, spec: { policyName: 'p', paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } }
  }
  t.match(
    await bob(BINDINGS, bound),
    {
      code: 422,
      message: /spec.paramRef: Forbidden: .* does not have "list" permission on the object referenced by paramRef/
    }
  )
})

t.test('a scalar of another type than the schema of a definition names is an error of the policy', async t => {
  const server = await policed(t)
  const text = { type: 'string' }
  const spec = {
    type: 'object',
    properties: {
      size: { type: 'integer' }, on: { type: 'boolean' }, name: text, since: { ...text, format: 'date' },
      list: { type: 'array', items: text }, map: { type: 'object', additionalProperties: text }
    }
  }
  await install(
    server,
    definition({ versions: [version('v1', { schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } })] })
  )
  const widgets = '/apis/example.com/v1/namespaces/default/widgets'
  const made = async (fields: string, failurePolicy = 'Fail'): Promise<Json> => {
    await server.bind(policy(
      'p', [apply(`Object{spec: Object.spec{${fields}}}`)],
      { matchConstraints: of(['widgets'], ['example.com']), failurePolicy }
    ))
    const { json } = await server.post(
      `${widgets}?dryRun=All`,
      { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { name: 'n' } }
    )
    await server.unbind('p')
    return json
  }
  for (const [fields, place] of [
    ['size: "x"', 'size'], ['on: 1', 'on'], ['name: 1', 'name'], ['map: {"a": 1}', 'map.a']
  ] as const) {
    t.match(
      await made(fields),
      {
        code: 403, message: new RegExp(`failed to convert patch object to typed object: \\.spec\\.${place}: expected a`)
      },
      fields
    )
    t.same((await made(fields, 'Ignore'))['spec'], { name: 'n' }, 'which its failure policy may ignore')
  }
  t.same((await made('size: 3, on: true, map: {"a": "b"}'))['spec'], { name: 'n', size: 3, on: true, map: { a: 'b' } })
  t.match(
    await made('since: 1'), { code: 422, details: { causes: [{ field: 'spec.since' }] } },
    'text with a format is left to the schema'
  )
})
