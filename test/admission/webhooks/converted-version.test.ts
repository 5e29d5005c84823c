/** Webhooks and policies whose rules name another version of a custom type, to which a webhook converts. */
import t, { type Test } from 'tap'
import { definition, install } from '../../controllers/custom/definitions.js'
import { build, type Client, type Json } from '../../build.js'
import {
  allow, caBundle, configure, deny, GROUP, hookServer, MUTATING, patching, VALIDATING, webhook, type HookServer
} from './hook-server.js'

/** The field that holds the size, which each version names otherwise. */
const FIELDS: Readonly<Record<string, string>> = { v1: 'size', v2: 'length' }
const CASES = [['v1', 'v2'], ['v2', 'v1']] as const
const fieldOf = (version: string): string => FIELDS[version] ?? ''

const pathOf = (version: string, name = ''): string =>
  `/apis/example.com/${version}/namespaces/default/widgets${name === '' ? '' : `/${name}`}`
const widget = (version: string, name: string, size: number): Json => ({
  apiVersion: `example.com/${version}`, kind: 'Widget', metadata: { name }, spec: { [fieldOf(version)]: size }
})
const rule = (version: string, ...operations: string[]): Json => ({
  operations, apiGroups: ['example.com'], apiVersions: [version], resources: ['widgets', 'widgets/scale']
})
const kind = (version: string): Json => ({ group: 'example.com', version, kind: 'Widget' })
const resource = (version: string): Json => ({ group: 'example.com', version, resource: 'widgets' })

interface Converting extends Client {
  readonly converter: HookServer
  /** How many objects were to be converted to a version since the last call. */
  readonly conversions: (version: string) => number
  /** Conversions to these versions fail from now on. */
  readonly fail: (...versions: string[]) => void
}

/** Serves widgets in v1, which is stored, and v2. */
async function converting (t: Test): Promise<Converting> {
  const server = await build(t, { emulatedVersion: '1.36' })
  let failing: readonly string[] = []
  const converter = await hookServer(t, ({ request: { desiredAPIVersion, objects } }) => {
    const version = desiredAPIVersion.split('/')[1] as string
    if (failing.includes(version)) return { result: { status: 'Failure', message: `no ${version} today` } }
    const convertedObjects = objects.map(({ spec, ...rest }: Json) => {
      const { size, length = size, ...others } = spec
      return { ...rest, apiVersion: desiredAPIVersion, spec: { ...others, [fieldOf(version)]: length } }
    })
    return { result: { status: 'Success' }, convertedObjects }
  })
  const webhook = { clientConfig: { url: converter.url, caBundle }, conversionReviewVersions: ['v1'] }
  await install(server, definition({
    conversion: { strategy: 'Webhook', webhook },
    versions: Object.entries(FIELDS).map(([name, field]) => ({
      name,
      served: true,
      storage: name === 'v1',
      subresources: { scale: { specReplicasPath: `.spec.${field}`, statusReplicasPath: '.status.replicas' } },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              required: [field],
              properties: { [field]: { type: 'integer' }, note: { type: 'string' } }
            },
            status: { type: 'object', properties: { replicas: { type: 'integer' } } }
          }
        }
      }
    }))
  }))
  return {
    ...server,
    converter,
    conversions: version => converter.asked.splice(0)
      .filter(({ request }) => request.desiredAPIVersion === `example.com/${version}`)
      .flatMap(({ request }) => request.objects).length,
    fail: (...versions) => { failing = versions }
  }
}

/** A policy with a binding, for widgets of one version. */
async function bind (server: Client, which: 'mutating' | 'validating', version: string, spec: Json): Promise<void> {
  const path = `${GROUP}/${which}admissionpolic`
  const matchConstraints = { resourceRules: [rule(version, 'CREATE', 'UPDATE')], ...spec['matchConstraints'] }
  const actions = which === 'validating' ? { validationActions: ['Deny'] } : { }
  for (const [at, object] of [
    [`${path}ies`, { metadata: { name: 'p' }, spec: { ...spec, matchConstraints } }],
    [`${path}ybindings`, { metadata: { name: 'p' }, spec: { policyName: 'p', ...actions } }]
  ] as const) {
    const { code, body } = await server.post(at, object)
    if (code !== 201) throw new Error(body)
  }
}

for (const [ruled, sent] of CASES) {
  const field = fieldOf(ruled)

  t.test(`webhooks for ${ruled} get what was sent in ${sent}, and their patches are converted back`, async t => {
    const server = await converting(t)
    const mutating = await hookServer(t, patching(
      { op: 'replace', path: `/spec/${field}`, value: 5 }, { op: 'add', path: '/spec/note', value: 'patched' }
    ))
    const second = await hookServer(t, patching({ op: 'add', path: '/metadata/labels', value: { a: 'b' } }))
    const validating = await hookServer(t)
    const rules = [rule(ruled, 'CREATE', 'UPDATE', 'DELETE')]
    await configure(
      server, MUTATING, 'm', webhook('a', mutating, { rules: [rule(ruled, 'CREATE', 'UPDATE')] }),
      webhook('b', second, { rules: [rule(sent, 'CREATE')] })
    )
    await configure(server, VALIDATING, 'v', webhook('a', validating, { rules }))
    const made = await server.post(pathOf(sent), widget(sent, 'w', 3))
    t.equal(made.code, 201, made.body)
    t.match(made.json, { ...widget(sent, 'w', 5), metadata: { labels: { a: 'b' } } })
    t.same(made.json['spec'], { [fieldOf(sent)]: 5, note: 'patched' })
    const named = {
      kind: kind(ruled), resource: resource(ruled), requestKind: kind(sent), requestResource: resource(sent)
    }
    t.match(mutating.asked[0], { request: { ...named, object: widget(ruled, 'w', 3), oldObject: null } })
    t.match(second.asked[0], { request: { kind: kind(sent), object: widget(sent, 'w', 5) } })
    t.match(validating.asked[0], { request: { ...named, object: widget(ruled, 'w', 5), oldObject: null } })
    t.notHas(validating.asked[0]?.['request'].object.spec, { [fieldOf(sent)]: 5 })

    const changed = await server.patch(pathOf(sent, 'w'), { spec: { [fieldOf(sent)]: 7, note: 'changed' } })
    t.equal(changed.code, 200, changed.body)
    t.match(mutating.asked[1], {
      request: { ...named, object: widget(ruled, 'w', 7), oldObject: widget(ruled, 'w', 5) }
    })
    t.match((await server.get(pathOf(ruled, 'w'))).json, widget(ruled, 'w', 5))

    mutating.answer = validating.answer = allow
    const scale = await server.patch(`${pathOf(sent, 'w')}/scale`, { spec: { replicas: 9 } })
    t.equal(scale.code, 200, scale.body)
    t.match(mutating.asked[2], {
      request: { kind: { kind: 'Scale' }, resource: resource(ruled), object: { kind: 'Scale', spec: { replicas: 9 } } }
    })

    validating.answer = deny({ message: 'keep it' })
    t.match((await server.delete(pathOf(sent, 'w'))).json, { message: /keep it/ })
    t.match(validating.asked.at(-1), { request: { ...named, object: null, oldObject: widget(ruled, 'w', 9) } })
  })

  t.test(`policies for ${ruled} see and change what was sent in ${sent}`, async t => {
    const server = await converting(t)
    const expression = `Object{spec: Object.spec{${field}: object.spec.${field} + (oldObject == null ? 1 : ` +
      `oldObject.spec.${field} * 10)}}`
    await bind(server, 'mutating', ruled, {
      reinvocationPolicy: 'Never',
      matchConditions: [{ name: 'c', expression: `request.kind.version == '${ruled}'` }],
      mutations: [
        { patchType: 'ApplyConfiguration', applyConfiguration: { expression } },
        {
          patchType: 'JSONPatch',
          jsonPatch: {
            expression: `[JSONPatch{op: "add", path: "/spec/note", value: string(object.spec.${field})}]`
          }
        }
      ]
    })
    await bind(server, 'validating', ruled, {
      validations: [{
        expression: `object.spec.${field} < 50 && object.apiVersion == 'example.com/${ruled}' && ` +
          `request.requestKind.version == '${sent}'`
      }]
    })
    const made = await server.post(pathOf(sent), widget(sent, 'w', 3))
    t.equal(made.code, 201, made.body)
    t.same(made.json['spec'], { [fieldOf(sent)]: 4, note: '4' })
    const changed = await server.patch(pathOf(sent, 'w'), { spec: { [fieldOf(sent)]: 2 } })
    t.equal(changed.code, 200, changed.body)
    t.same(changed.json['spec'], { [fieldOf(sent)]: 42, note: '42' })
    t.equal((await server.post(pathOf(sent), widget(sent, 'x', 49))).code, 422)
  })
}

t.test('with matchPolicy Exact, nothing is converted, and nothing is called', async t => {
  const server = await converting(t)
  const hook = await hookServer(t, deny())
  const exact = { matchPolicy: 'Exact', rules: [rule('v2', 'CREATE')] }
  await configure(server, MUTATING, 'm', webhook('a', hook, exact))
  await configure(server, VALIDATING, 'v', webhook('a', hook, exact))
  const matchConstraints = { matchPolicy: 'Exact' }
  await bind(server, 'validating', 'v2', { matchConstraints, validations: [{ expression: 'false' }] })
  await bind(server, 'mutating', 'v2', {
    matchConstraints,
    reinvocationPolicy: 'Never',
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: 1}' } }]
  })
  t.equal((await server.post(pathOf('v1'), widget('v1', 'w', 3))).code, 201)
  t.equal(hook.asked.length, 0)
  t.equal(server.conversions('v2'), 0)
})

t.test('an object is converted once for all who ask for a version, unless it changes', async t => {
  const server = await converting(t)
  const hook = await hookServer(t)
  const matchConditions = [{ name: 'c', expression: 'object.spec.length == 3' }]
  const of = { rules: [rule('v2', 'CREATE', 'UPDATE')], matchConditions }
  await configure(server, MUTATING, 'm', webhook('a', hook, of), webhook('b', hook, of))
  await configure(server, VALIDATING, 'v', webhook('a', hook, of), webhook('b', hook, of))
  await bind(server, 'validating', 'v2', { validations: [{ expression: 'object.spec.length == 3' }] })
  server.conversions('v2')
  const { code, body } = await server.post(pathOf('v1'), { ...widget('v1', 'w', 3) })
  t.equal(code, 201, body)
  t.equal(hook.asked.length, 4)
  t.equal(server.conversions('v2'), 2, 'as sent, and as completed')
})

t.test('a conversion that fails refuses what webhooks are called for, whatever their failure policy', async t => {
  const server = await converting(t)
  const hook = await hookServer(t, patching({ op: 'replace', path: '/spec/length', value: 5 }))
  const rules = [rule('v2', 'CREATE')]
  const refused = async (version: string, message: string): Promise<void> => {
    server.fail(version)
    const { code, json } = await server.post(pathOf('v1'), widget('v1', 'w', 3))
    t.equal(code, 500, message)
    t.match(json, { reason: 'InternalError', message })
  }
  const failed = (from: string, to: string): string => 'Internal error occurred: conversion webhook for example.com/' +
    `${from}, Kind=Widget failed: no ${to} today`
  for (const path of [MUTATING, VALIDATING]) {
    for (const more of [{}, { matchConditions: [{ name: 'c', expression: 'object.spec.length > 0' }] }]) {
      await configure(server, path, 'h', webhook('a', hook, { rules, failurePolicy: 'Ignore', ...more }))
      await refused('v2', failed('v1', 'v2'))
      t.equal(hook.asked.length, 0)
      await server.delete(`${path}/h`)
    }
  }
  await configure(server, MUTATING, 'h', webhook('a', hook, { rules, failurePolicy: 'Ignore' }))
  await refused('v1', failed('v2', 'v1'))
  server.fail()
  t.equal((await server.post(pathOf('v1'), widget('v1', 'w', 3))).code, 201)
})

t.test('a conversion that fails is judged by the failure policy of a policy', async t => {
  const said = 'failed to configure binding: failed to convert object version: conversion webhook for ' +
    'example.com/v1, Kind=Widget failed: no v2 today'
  const kinds = [
    ['validating', 422, { validations: [{ expression: 'true' }] }],
    ['mutating', 403, {
      reinvocationPolicy: 'Never',
      mutations: [{
        patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Object.spec{length: 5}}' }
      }]
    }]
  ] as const
  for (const [which, expected, spec] of kinds) {
    for (const failurePolicy of ['Fail', 'Ignore']) {
      const server = await converting(t)
      await bind(server, which, 'v2', { ...spec, failurePolicy })
      server.fail('v2')
      const { code, json, body } = await server.post(pathOf('v1'), widget('v1', 'w', 3))
      t.equal(code, failurePolicy === 'Ignore' ? 201 : expected, body)
      if (failurePolicy === 'Fail') t.ok(json['message'].endsWith(said), body)
      else t.match(json, widget('v1', 'w', 3))
    }
  }
})
