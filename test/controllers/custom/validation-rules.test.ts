import t from 'tap'
import { build, type Client, type Json } from '../../build.js'
import { APPLY, DEFINITIONS, definition, install, version } from './definitions.js'

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const GATE = { featureGates: { CustomResourceValidationExpressions: true } }
const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more })
const rules = (...texts: Array<string | [rule: string, message: string]>): Json => ({
  'x-orch-validations': texts.map(one => typeof one === 'string' ? { rule: one } : { rule: one[0], message: one[1] })
})
const integer = { type: 'integer' }
const string = { type: 'string' }
const of = (openAPIV3Schema: Json, more: Json = {}): Json =>
  definition({ versions: [version('v1', { schema: { openAPIV3Schema }, ...more })] })
const widget = (spec: Json, name = 'a', more: Json = {}): Json => ({
  apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec, ...more
})

const KEYED = { 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['name'] }
const SCHEMA = object({
  spec: object({
    least: integer, most: integer,
    fixed: { ...string, ...rules(['self == oldSelf', 'may not change']) },
    parts: {
      type: 'array',
      maxItems: 10,
      ...KEYED,
      items: object({ name: string, weight: { ...integer, ...rules('self >= oldSelf') } }, { required: ['name'] })
    },
    ports: { type: 'array', maxItems: 10, items: { ...integer, ...rules('self > 1023') } },
    limits: { type: 'object', additionalProperties: { ...integer, ...rules('self > 0') } },
    share: { 'x-orch-int-or-string': true, ...rules('type(self) == int || self.endsWith("%")') },
    note: { ...string, nullable: true, maxLength: 100, ...rules('self != "no"') },
    template: {
      type: 'object',
      'x-orch-embedded-resource': true,
      'x-orch-preserve-unknown-fields': true,
      ...rules('self.metadata.name != "bad"')
    }
  }, rules('!has(self.least) || !has(self.most) || self.least <= self.most')),
  status: object({ ready: { ...integer, ...rules('self >= 0') } })
}, rules(['self.metadata.name.startsWith("a")', 'the name begins with a']))

const causesOf = ({ json }: { json: Json }): string[] =>
  ((json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? [])
    .map(({ reason, field, message }) => `${String(reason)} ${String(field)} ${String(message)}`)
const spec = (server: Client, value: Json, name = 'a') =>
  server.call('PATCH', `${WIDGETS}/${name}`, { spec: value }, { 'content-type': 'application/merge-patch+json' })

t.test('without the gate, rules are dropped', async t => {
  const off = await build(t)
  t.notMatch(JSON.stringify(await install(off, of(SCHEMA))), 'x-orch-validations')
  t.equal((await off.post(WIDGETS, widget({ ports: [1] }))).code, 201)
  const on = await build(t, GATE)
  t.match(JSON.stringify(await install(on, of(SCHEMA))), 'x-orch-validations')
})

t.test('new objects satisfy the rules of their schema', async t => {
  const server = await build(t, GATE)
  await install(server, of(SCHEMA))
  const refused = async (object: Json, ...causes: string[]): Promise<void> => {
    const answer = await server.post(WIDGETS, object)
    t.equal(answer.code, 422, JSON.stringify(object))
    t.same(causesOf(answer), causes)
  }
  await refused(
    widget({ least: 2, most: 1 }),
    'FieldValueInvalid spec Invalid value: "object": failed rule: ' +
    '!has(self.least) || !has(self.most) || self.least <= self.most'
  )
  await refused(
    widget({ ports: [80, 8080, 443] }),
    'FieldValueInvalid spec.ports[0] Invalid value: "integer": failed rule: self > 1023',
    'FieldValueInvalid spec.ports[2] Invalid value: "integer": failed rule: self > 1023'
  )
  await refused(
    widget({ limits: { 'a.b': 0 } }),
    'FieldValueInvalid spec.limits[a.b] Invalid value: "integer": failed rule: self > 0'
  )
  await refused(
    widget({ share: '50' }),
    'FieldValueInvalid spec.share Invalid value: "": failed rule: type(self) == int || self.endsWith("%")'
  )
  await refused(
    widget({ template: { apiVersion: '', kind: '', metadata: { name: 'good' } } }),
    'FieldValueInvalid spec.template.apiVersion Invalid value: "": must not be empty',
    'FieldValueInvalid spec.template.kind Invalid value: "": must not be empty'
  )
  await refused(
    widget({ template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'bad' } } }),
    'FieldValueInvalid spec.template Invalid value: "object": failed rule: self.metadata.name != "bad"'
  )
  await refused(widget({}, 'b'), 'FieldValueInvalid <nil> Invalid value: "object": the name begins with a')
  await refused(
    widget({ note: 'no' }), 'FieldValueInvalid spec.note Invalid value: "string": failed rule: self != "no"'
  )
  await refused(
    widget({ least: 'x', most: 1, ports: [1] }),
    'FieldValueTypeInvalid spec.least Invalid value: "string": spec.least in body must be of type integer: "string"',
    'FieldValueInvalid <nil> Invalid value: "null": some validation rules were not checked because the object was ' +
    'invalid; correct the existing errors to complete validation'
  )
  const valid = widget({
    least: 1,
    most: 2,
    ports: [8080],
    limits: { a: 1 },
    share: '50%',
    note: null,
    template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'good' } }
  })
  t.equal((await server.post(`${WIDGETS}?dryRun=All`, widget({ ports: [1] }))).code, 422)
  t.equal((await server.post(`${WIDGETS}?dryRun=All`, valid)).code, 201)
  t.equal((await server.post(WIDGETS, valid)).code, 201)
  t.equal(
    (await server.call(
      'PATCH', `${WIDGETS}/ab?fieldManager=me`, widget({ ports: [1] }, 'ab'), { 'content-type': APPLY }
    )).code,
    422
  )
})

t.test('a transition rule compares with the stored object, where it can be found', async t => {
  const server = await build(t, GATE)
  await install(server, of(SCHEMA, { subresources: { status: {} } }))
  t.equal((await server.post(WIDGETS, widget({ fixed: 'x', parts: [{ name: 'p', weight: 2 }] }))).code, 201)
  t.same(causesOf(await spec(server, { fixed: 'y' })), [
    'FieldValueInvalid spec.fixed Invalid value: "string": may not change'
  ])
  t.equal((await spec(server, { fixed: 'x' })).code, 200)
  t.equal(
    (await spec(server, { parts: [{ name: 'new', weight: 0 }, { name: 'p', weight: 3 }] })).code, 200,
    'items are found by their keys'
  )
  t.same(causesOf(await spec(server, { parts: [{ name: 'p', weight: 1 }] })), [
    'FieldValueInvalid spec.parts[0].weight Invalid value: "integer": failed rule: self >= oldSelf'
  ])
  t.equal((await spec(server, { fixed: null })).code, 200, 'a value that is removed is not compared')
  t.equal((await spec(server, { fixed: 'z' })).code, 200, 'nor one that is added')
  const { json } = await server.get(`${WIDGETS}/a`)
  t.match(await server.put(`${WIDGETS}/a/status`, { ...json, status: { ready: -1 } }), {
    code: 422, json: { details: { causes: [{ field: 'status.ready' }] } }
  })
  t.equal((await server.put(`${WIDGETS}/a/status`, { ...json, status: { ready: 1 } })).code, 200)
})

t.test(
  'rules of a version that is not stored see its own fields and defaults, and the object is stored without them',
  async t => {
    const server = await build(t, GATE)
    const stored = object({ spec: object({ size: { ...integer, default: 7 }, kept: string }) })
    const served = object({
      spec: object({ size: integer, shape: { ...string, default: 'round' }, only: string, fixed: string },
        rules('has(self.only) && !has(self.size) && self.shape == "round"'))
    })
    await install(server, definition({
      versions: [
        version('v1', { schema: { openAPIV3Schema: stored } }),
        version('v2', { storage: false, schema: { openAPIV3Schema: served } }),
        version('v3', { storage: false, schema: { openAPIV3Schema: object({ spec: object({}) }) } })
      ]
    }))
    const V2 = WIDGETS.replace('/v1/', '/v2/')
    const v2 = (spec: Json, name = 'a'): Json => ({ ...widget(spec, name), apiVersion: 'example.com/v2' })
    for (const query of ['?dryRun=All', '']) {
      const made = await server.post(`${V2}${query}`, v2({ only: 'x' }))
      t.match(made, { code: 201, json: { apiVersion: 'example.com/v2' } })
      t.strictSame(made.json['spec'], { size: 7 }, 'it is answered as it is stored')
      t.strictSame(
        made.json['metadata'].managedFields[0].fieldsV1, { 'f:spec': {} },
        'nobody owns what is not stored, nor defaults of the stored version'
      )
    }
    t.same((await server.get(`${WIDGETS}/a`)).json['spec'], { size: 7 })
    t.same(causesOf(await server.post(V2, v2({ only: 'x', size: 1 }, 'b'))).length, 1)
    t.equal((await server.post(V2, v2({ only: 'x', shape: 'flat' }, 'b'))).code, 422)
    t.equal(
      (await server.call('PATCH', `${V2}/ab?fieldManager=me`, v2({ only: 'x' }, 'ab'), { 'content-type': APPLY })).code,
      201
    )
    const { json } = await server.get(`${V2}/a`)
    t.equal(
      (await server.patch(`${V2}/a`, { metadata: { labels: { a: 'b' } } })).code, 422,
      'a patch begins with what is stored'
    )
    t.equal((await server.put(`${V2}/a`, { ...json, spec: { only: 'z' } })).code, 200)
    const { generation } = (await server.get(`${V2}/a`)).json['metadata']
    const labelled = await server.patch(`${WIDGETS.replace('/v1/', '/v3/')}/a`, { metadata: { labels: { a: 'b' } } })
    t.equal(labelled.json['metadata'].generation, generation, 'defaults that a version does not know are no change')
  }
)

t.test(
  'definitions are refused for rules that do not compile, cost too much, or compare what cannot be found again',
  async t => {
    const server = await build(t, GATE)
    const at = 'spec.validation.openAPIV3Schema.properties[spec]'
    const refused = async (spec: Json, ...causes: RegExp[]): Promise<void> => {
      const answer = await server.post(DEFINITIONS, of(object({ spec })))
      t.equal(answer.code, 422, JSON.stringify(spec))
      const found = causesOf(answer)
      t.equal(found.length, causes.length, found.join('\n'))
      for (const [index, cause] of causes.entries()) t.match(found[index], cause)
    }
    const TOTAL = [
      /contributed to estimated rule cost total/, /estimated rule cost total for entire OpenAPIv3 schema exceeds budget/
    ]
    const field = (path: string): string => `${at}${path}`.replace(/[[\].]/g, '\\$&')
    const first = field('.x-orch-validations[0].rule')
    await refused({ ...integer, ...rules('self >') }, new RegExp(
      `^FieldValueInvalid ${first} Invalid value: "self >": compilation failed: ERROR: <input>:1:7: Syntax error`
    ))
    await refused(
      { ...integer, ...rules('self > 0', 'self.a') },
      /x-orch-validations\[1\]\.rule .*compilation failed: ERROR: <input>:1:5: type 'int' does not support field selection/
    )
    await refused({ ...integer, ...rules('self') }, /cel expression must evaluate to a bool/)
    await refused({ ...string, ...rules(['self != ""', ' ']) }, /message must be non-empty if specified/)
    await refused({ ...string, ...rules(' ') }, /^FieldValueRequired .*rule is not specified/)
    await refused({ ...string, ...rules(['self != ""', 'a\nb']) }, /message must not contain line breaks/)
    await refused(
      { ...string, ...rules('self\n!= ""') },
      /^FieldValueRequired .*message must be specified if rule contains line breaks/
    )
    await refused(
      { type: 'array', items: { ...integer, ...rules('self == oldSelf') } },
      new RegExp(
        `^FieldValueInvalid ${field('.items.x-orch-validations[0].rule')} Invalid value: "self == oldSelf": ` +
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${field('.items')}`
      )
    )
    await refused(
      { type: 'array', items: { ...string, ...rules('self.contains("a")') } },
      /^FieldValueForbidden .*estimated rule cost exceeds budget by factor of .*x \(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared\)/,
      ...TOTAL
    )
    await refused(
      { type: 'array', items: integer, ...rules('self.all(x, self.all(y, x == y))') }, /more than 100x/, ...TOTAL
    )
    await refused(
      { type: 'array', ...rules('self.size() > 1'), items: { 'x-orch-preserve-unknown-fields': true } },
      /rule declared on schema that does not support validation rules type: 'array'/
    )
    const each = {
      type: 'array',
      maxItems: 1000,
      items: {
        ...string,
        maxLength: 1000,
        ...rules('self.contains("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")')
      }
    }
    await refused(
      object(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, each]))),
      ...Array.from({ length: 4 }, () => /contributed to estimated rule cost total/),
      /x-orch-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1\.\d+x/
    )
  }
)

t.test('a rule that was stored stays with the gate off, and is not evaluated', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const before = await build(t, { ...GATE, storage })
  await install(before, of(SCHEMA))
  await before.app.close()
  const server = await build(t, { storage })
  const { json } = await server.get(`${DEFINITIONS}/widgets.example.com`)
  t.match(JSON.stringify(json), 'x-orch-validations')
  t.equal((await server.post(WIDGETS, widget({ ports: [1] }))).code, 201)
  t.match(
    (await server.put(`${DEFINITIONS}/widgets.example.com`, {
      ...json, spec: of(object({ spec: object({}, rules('true')) }))['spec'] as Json
    })).body,
    'x-orch-validations'
  )
  t.notMatch(
    (await server.put(`${DEFINITIONS}/widgets.example.com`, {
      ...(await server.get(`${DEFINITIONS}/widgets.example.com`)).json, spec: of(object({}))['spec'] as Json
    })).body,
    'x-orch-validations'
  )
  t.notMatch(
    (await server.put(`${DEFINITIONS}/widgets.example.com`, {
      ...(await server.get(`${DEFINITIONS}/widgets.example.com`)).json, spec: of(SCHEMA)['spec'] as Json
    })).body,
    'x-orch-validations'
  )
})

t.test('expensive rules end, and other requests are answered meanwhile', async t => {
  const server = await build(t, GATE)
  const numbers = { type: 'array', maxItems: 1000, items: integer }
  await install(server, of(object({
    spec: object({
      list: { ...numbers, ...rules('self.all(x, self.all(y, x + y >= 0))') },
      text: { ...string, maxLength: 1000, ...rules('self.matches("^(a+)+$")') }
    })
  })))
  const [slow, other] = await Promise.all([
    server.post(WIDGETS, widget({ list: Array.from({ length: 1000 }, (_, index) => index) })), server.get('/healthz')
  ])
  t.equal(other.code, 200)
  t.match(causesOf(slow), [
    /^FieldValueInvalid spec\.list Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self\.all/
  ])
  t.equal((await server.post(WIDGETS, widget({ list: [1, 2, 3], text: 'a'.repeat(1000) }))).code, 201)
  t.equal((await server.post(WIDGETS, widget({ text: `${'a'.repeat(999)}!` }, 'b'))).code, 422)
})

t.test('release 1.36 counts how long rules take, each time that they are compiled or evaluated', async t => {
  const count = async (server: Client, what: string): Promise<string | undefined> => {
    const { body } = await server.get('/metrics')
    return new RegExp(`^apiserver_cel_${what}_duration_seconds_count (\\d+)$`, 'm').exec(body)?.[1]
  }
  const server = await build(t, { emulatedVersion: '1.36' })
  await install(server, of(SCHEMA))
  t.same([await count(server, 'compilation'), await count(server, 'evaluation')], ['0', '0'])
  for (const name of ['a', 'ab']) t.equal((await server.post(WIDGETS, widget({ least: 1 }, name))).code, 201)
  t.same([await count(server, 'compilation'), await count(server, 'evaluation')], ['1', '2'])
  t.match((await server.get('/metrics')).body, '# HELP apiserver_cel_evaluation_duration_seconds [BETA] ')
  t.equal(await count(await build(t, GATE), 'evaluation'), undefined)
})
