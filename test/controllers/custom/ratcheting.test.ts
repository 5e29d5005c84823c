import t from 'tap'
import { build, type Client, type Json } from '../../build.js'
import { APPLY, DEFINITIONS, definition, install, version } from './definitions.js'

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const RULES = { featureGates: { CustomResourceValidationExpressions: true } }
const BOTH = { featureGates: { CustomResourceValidationExpressions: true, CRDValidationRatcheting: true } }
const string = { type: 'string' }
const integer = { type: 'integer' }
const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more })
const rules = (...all: Array<string | Json>): Json => ({
  'x-orch-validations': all.map(one => typeof one === 'string' ? { rule: one } : one)
})
const of = (spec: Json, more: Json = {}): Json => definition({
  versions: [version('v1', { schema: { openAPIV3Schema: object({ spec, status: object({ n: integer }) }) }, ...more })]
})
const widget = (spec: Json, name = 'a'): Json => ({
  apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec
})
const causesOf = ({ json }: { json: Json }): string[] =>
  ((json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? [])
    .map(({ reason, field, message }) => `${String(reason)} ${String(field)} ${String(message)}`)
const patch = (server: Client, body: Json, name = 'a') =>
  server.call('PATCH', `${WIDGETS}/${name}`, body, { 'content-type': 'application/merge-patch+json' })
const spec = (server: Client, value: Json) => patch(server, { spec: value })
const refusedAt = async (server: Client, value: Json): Promise<string[]> =>
  causesOf(await spec(server, value)).map(cause => cause.split(' ', 2).join(' '))

/** Replaces the schema of the definition, by one that is stricter. */
async function restrict (server: Client, next: Json): Promise<void> {
  const { json } = await server.get(`${DEFINITIONS}/widgets.example.com`)
  const answer = await server.put(`${DEFINITIONS}/widgets.example.com`, { ...json, spec: next['spec'] as Json })
  t.equal(answer.code, 200, answer.body)
}

const KEYED = { type: 'array', 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['name'] }
const LOOSE = object({
  a: string,
  b: string,
  n: integer,
  inner: object({ x: string, y: string }),
  list: { type: 'array', maxItems: 9, items: string },
  set: { type: 'array', maxItems: 9, 'x-orch-list-type': 'set', items: string },
  parts: { ...KEYED, maxItems: 9, items: object({ name: string, v: string }, { required: ['name'] }) },
  map: { type: 'object', additionalProperties: string },
  logic: string
})
const STRICT = object({
  a: { ...string, maxLength: 2 }, b: string, n: { ...integer, maximum: 5 },
  inner: object({ x: string, y: string, z: string }, { required: ['z'] }),
  list: { type: 'array', maxItems: 9, items: { ...string, maxLength: 2 } },
  set: { type: 'array', maxItems: 9, 'x-orch-list-type': 'set', items: { ...string, maxLength: 2 } },
  parts: {
    ...KEYED, maxItems: 9, items: object({ name: string, v: { ...string, pattern: '^ok$' } }, { required: ['name'] })
  },
  map: { type: 'object', additionalProperties: { ...string, enum: ['ok'] } },
  logic: { ...string, allOf: [{ maxLength: 2 }] }
})
const INVALID = {
  a: 'long',
  b: 'b',
  n: 9,
  inner: { x: 'x' },
  list: ['long', 'ok'],
  set: ['long', 'ok'],
  parts: [{ name: 'p', v: 'no' }, { name: 'q', v: 'no' }],
  map: { m: 'no' },
  logic: 'long'
}

t.test('what an update leaves as it was may break the schema', async t => {
  const server = await build(t, BOTH)
  await install(server, of(LOOSE))
  t.equal((await server.post(WIDGETS, widget(INVALID))).code, 201)
  await restrict(server, of(STRICT))
  t.equal((await spec(server, { b: 'c' })).code, 200)
  t.same(await refusedAt(server, { a: 'longer' }), ['FieldValueTooLong spec.a'])
  t.same(await refusedAt(server, { n: 8 }), ['FieldValueInvalid spec.n'])
  t.same(
    await refusedAt(server, { inner: { x: 'y' } }), ['FieldValueRequired spec.inner.z'],
    'required rejects changes within the object'
  )
  t.same(
    await refusedAt(server, { list: ['long', 'nw'] }), ['FieldValueTooLong spec.list[0]'],
    'an atomic list is compared as a whole'
  )
  t.same(await refusedAt(server, { set: ['ok', 'long'] }), ['FieldValueTooLong spec.set[1]'], 'so is a set')
  t.equal(
    (await spec(server, { parts: [{ name: 'q', v: 'no' }, { name: 'p', v: 'no' }, { name: 'r', v: 'ok' }] })).code, 200,
    'items of a map list are found by their keys'
  )
  t.same(await refusedAt(server, { parts: [{ name: 'q', v: 'bad' }, { name: 'p', v: 'no' }] }), [
    'FieldValueInvalid spec.parts[0].v'
  ])
  t.equal((await spec(server, { map: { l: 'ok' } })).code, 200)
  t.same(await refusedAt(server, { map: { m: 'bad' } }), ['FieldValueNotSupported spec.map.m'])
  t.equal((await server.post(WIDGETS, widget(INVALID, 'b'))).code, 422, 'new objects are valid')
  t.equal(
    (await server.call(
      'PATCH', `${WIDGETS}/a?fieldManager=me&force=true`, widget({ b: 'd' }), { 'content-type': APPLY }
    )).code,
    200
  )
})

t.test(
  'so may what a write to a subresource leaves, in a version that is not stored and has other defaults', async t => {
    const server = await build(t, BOTH)
    const status = object({ n: integer })
    const served = object({
      status,
      spec: object(
        { kept: string, only: string, shape: { ...string, default: 'round' } },
        rules('!has(self.kept) || has(self.only)')
      )
    })
    await install(server, definition({
      versions: [
        version('v1', {
          schema: { openAPIV3Schema: object({ status, spec: object({ kept: string }) }) }, subresources: { status: {} }
        }),
        version('v2', { storage: false, schema: { openAPIV3Schema: served }, subresources: { status: {} } })
      ]
    }))
    await server.post(WIDGETS, widget({ kept: 'x' }))
    const url = `${WIDGETS.replace('v1', 'v2')}/a`
    t.match(await server.patch(`${url}/status`, { status: { n: 1 } }), {
      code: 200, json: { spec: { kept: 'x' }, status: { n: 1 }, metadata: { generation: 1 } }
    })
    t.equal((await server.patch(url, { spec: { kept: 'y' } })).code, 422)
  }
)

t.test('without the gate every update is valid as a whole', async t => {
  const server = await build(t, RULES)
  await install(server, of(LOOSE))
  await server.post(WIDGETS, widget({ a: 'long' }))
  await restrict(server, of(STRICT))
  t.same(await refusedAt(server, { b: 'c' }), ['FieldValueTooLong spec.a'])
})

t.test('an unchanged value may break rules, with a warning', async t => {
  const server = await build(t, BOTH)
  await install(server, of(LOOSE))
  t.equal((await server.post(WIDGETS, widget({ ...INVALID, list: ['no', 'ok'] }))).code, 201)
  await restrict(server, of(object({
    a: { ...string, maxLength: 20, ...rules('self.size() < 3') }, b: string,
    n: { ...integer, ...rules('self >= oldSelf', 'self < 20 / (self - 9)') }, inner: object({ x: string, y: string }),
    list: { type: 'array', maxItems: 9, items: { ...string, maxLength: 20, ...rules('self != "no"') } },
    set: { type: 'array', maxItems: 9, 'x-orch-list-type': 'set', items: string },
    parts: {
      ...KEYED,
      maxItems: 9,
      items: object({ name: string, v: string }, { required: ['name'], ...rules('self.v == "ok"') })
    },
    map: { type: 'object', additionalProperties: string }, logic: string
  })))
  const changed = await spec(server, { b: 'c', n: null })
  t.equal(changed.code, 200, changed.body)
  const warnings = String(changed.headers['warning'])
  t.match(warnings, /spec\.a: Invalid value: \\"string\\": failed rule: self\.size\(\) < 3/)
  t.match(warnings, /spec\.list\[0\]: Invalid value/)
  t.match(warnings, /spec\.parts\[1\]: Invalid value/)
  t.same(await refusedAt(server, { a: 'longer' }), ['FieldValueInvalid spec.a'])
  t.same(await refusedAt(server, { list: ['no', 'other'] }), ['FieldValueInvalid spec.list[0]'])
  t.same(await refusedAt(server, { n: 9 }), ['FieldValueInvalid spec.n'], 'errors of evaluation are not forgiven')
})

t.test('rules that compare with the old value are never forgiven', async t => {
  const server = await build(t, BOTH)
  await install(server, of(object({ n: integer, m: integer })))
  await server.post(WIDGETS, widget({ n: 1, m: 1 }))
  await restrict(server, of(object({ n: { ...integer, ...rules('self > oldSelf') }, m: integer })))
  t.same(await refusedAt(server, { m: 2 }), ['FieldValueInvalid spec.n'])
})

t.test('the status is checked where it is written', async t => {
  const server = await build(t, BOTH)
  const status = { subresources: { status: {} } }
  await install(server, of(LOOSE, status))
  await server.post(WIDGETS, widget({ a: 'long', inner: { x: 'x' } }))
  await restrict(
    server,
    of(
      object({ a: { ...string, maxLength: 2 }, inner: object({ x: string }, rules('has(self.x) && self.x != "x"')) }),
      status
    )
  )
  const { json } = await server.get(`${WIDGETS}/a`)
  const answer = await server.put(`${WIDGETS}/a/status`, { ...json, status: { n: 1 } })
  t.equal(answer.code, 200, answer.body)
  t.match(String(answer.headers['warning']), /spec\.inner/, 'rules run on the whole object')
  t.match(await server.put(`${WIDGETS}/a/status`, { ...answer.json, status: { n: 'x' } }), {
    code: 422, json: { details: { causes: [{ field: 'status.n' }] } }
  })
})

t.test('a change of the scale is one of the object', async t => {
  const server = await build(t, RULES)
  await install(
    server,
    of(
      object({ n: integer, b: string }, rules('self.n < 5')),
      { subresources: { scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } } }
    )
  )
  t.equal((await server.post(WIDGETS, widget({ n: 1 }))).code, 201)
  const scale = (replicas: number) => server.call(
    'PATCH', `${WIDGETS}/a/scale`, { spec: { replicas } }, { 'content-type': 'application/merge-patch+json' }
  )
  t.equal((await scale(4)).code, 200)
  const answer = await scale(5)
  t.equal(answer.code, 422)
  t.match(causesOf(answer), [/spec .*failed rule: self\.n < 5/])
})

t.test('messages, reasons and paths are those of the rule', async t => {
  const server = await build(t, RULES)
  await install(server, of(object({
    n: { ...integer, ...rules({ rule: 'self > 0', message: 'plain', messageExpression: '"n is %d".format([self])' }) },
    m: { ...integer, ...rules({ rule: 'self > 0', message: 'plain', messageExpression: 'self < 0 ? "" : "\\n"' }) },
    r: { ...integer, ...rules({ rule: 'self > 0', message: 'no', reason: 'FieldValueForbidden' }) },
    q: { ...integer, ...rules({ rule: 'self > 0', message: 'no', reason: 'FieldValueRequired' }) },
    d: { ...integer, ...rules({ rule: 'self > 0', message: 'no', reason: 'FieldValueDuplicate' }) },
    inner: object(
      { x: object({ y: integer }), map: { type: 'object', additionalProperties: integer } },
      rules(
        { rule: 'self.x.y > 0', message: 'no', fieldPath: '.x.y' },
        { rule: 'self.x.y > 0', message: 'no', fieldPath: ".map['a.b']" }
      )
    ),
    f: {
      ...string, maxLength: 9, ...rules({ rule: 'false', message: 'plain', messageExpression: 'self.substring(20)' })
    }
  })))
  t.same(causesOf(await server.post(
    WIDGETS, widget({ n: 0, m: 0, r: 0, q: 0, d: 0, f: 'x', inner: { x: { y: 0 } } })
  )).sort(), [
    'FieldValueInvalid spec.n Invalid value: "integer": n is 0',
    'FieldValueInvalid spec.m Invalid value: "integer": plain', 'FieldValueForbidden spec.r Forbidden: no',
    'FieldValueRequired spec.q Required value: no', 'FieldValueDuplicate spec.d Duplicate value: "integer"',
    'FieldValueInvalid spec.inner.x.y Invalid value: "object": no',
    'FieldValueInvalid spec.inner.map[a.b] Invalid value: "object": no',
    'FieldValueInvalid spec.f Invalid value: "string": plain'
  ].sort())
})

t.test('a rule with an optional old value runs always', async t => {
  const server = await build(t, RULES)
  await install(server, of(object({
    n: {
      ...integer,
      ...rules({
        rule: 'oldSelf.hasValue() ? self >= oldSelf.value() : self == 1',
        optionalOldSelf: true,
        messageExpression: '"was %d".format([oldSelf.value()])'
      })
    },
    e: { ...string, enum: ['a'] }
  })))
  t.match(causesOf(await server.post(WIDGETS, widget({ n: 2, e: 'b' }))), [
    /^FieldValueNotSupported/, /some validation rules were not checked/
  ])
  t.same(causesOf(await server.post(WIDGETS, widget({ n: 2 }))).length, 1)
  t.equal((await server.post(WIDGETS, widget({ n: 1 }))).code, 201)
  t.equal((await spec(server, { n: 3 })).code, 200)
  t.same(await refusedAt(server, { n: 2 }), ['FieldValueInvalid spec.n'])
})

t.test('definitions are refused for parts of rules that cannot be', async t => {
  const server = await build(t, RULES)
  const refused = async (spec: Json, ...causes: RegExp[]): Promise<void> => {
    const found = causesOf(await server.post(DEFINITIONS, of(object({ spec }))))
    t.equal(found.length, causes.length, found.join('\n'))
    for (const [index, cause] of causes.entries()) t.match(found[index], cause)
  }
  await refused(
    { ...integer, ...rules({ rule: 'self > 0', messageExpression: 'self' }) },
    /x-orch-validations\[0\]\.messageExpression .*messageExpression must evaluate to a string/
  )
  await refused(
    { ...integer, ...rules({ rule: 'self > 0', messageExpression: 'x' }) },
    /messageExpression .*compilation failed: ERROR: <input>:1:1: undeclared reference to 'x'/
  )
  await refused(
    { ...integer, ...rules({ rule: 'self > 0', messageExpression: '"n is " + string(self)' }) },
    /FieldValueForbidden .*messageExpression .*estimated messageExpression cost exceeds budget/,
    /contributed to estimated rule cost total/, /total/
  )
  await refused(
    { ...integer, ...rules({ rule: 'self > 0', messageExpression: ' ' }) },
    /FieldValueRequired .*messageExpression must be non-empty if specified/
  )
  await refused(
    { ...integer, ...rules({ rule: 'self > 0', reason: 'Other' }) },
    /FieldValueNotSupported .*\.reason Unsupported value: "Other"/
  )
  await refused(
    { ...integer, ...rules({ rule: 'self.x', optionalOldSelf: true }) }, /rule .*compilation failed/,
    /optionalOldSelf .*may not/
  )
  await refused(
    { ...integer, ...rules({ rule: 'self > 0', optionalOldSelf: true }) },
    /optionalOldSelf .*may not be set if oldSelf is not used in rule/
  )
  await refused(object({ a: integer }, rules({ rule: 'true', fieldPath: '.b' })), /fieldPath must be a valid path$/)
  await refused(object({ a: integer }, rules({ rule: 'true', fieldPath: 'a' })), /fieldPath must be a valid path$/)
  await refused(
    object({ a: { type: 'array', items: integer } }, rules({ rule: 'true', fieldPath: '.a[0]' })),
    /fieldPath must be a valid path$/
  )
  await refused(
    object({ a: { ...integer, ...rules('self == oldSelf') } }, { 'x-orch-map-type': 'atomic' }),
    /oldSelf cannot be used on the uncorrelatable portion of the schema within/
  )
  await refused(
    { ...integer, ...rules({ rule: 'self > 0', messageExpression: 'string(int("x"))' }) },
    /messageExpression .*: messageExpression instantiation failed/
  )
  await refused(
    object({ a: { ...integer, ...rules('x') }, b: { ...integer, ...rules({ rule: 'y', message: ' ' }) } }, rules('z')),
    /message must be non-empty/, /properties\[a\].* undeclared reference to 'x'/
  )
  await refused(
    { ...integer, default: 0, ...rules('self > 0') }, /\.default Invalid value: "integer": failed rule: self > 0/
  )
  await refused(
    { ...integer, default: 0, ...rules({ rule: 'oldSelf.hasValue()', optionalOldSelf: true }) },
    /\.default .*failed rule: oldSelf\.hasValue\(\)/
  )
})
