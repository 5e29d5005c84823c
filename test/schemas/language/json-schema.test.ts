import { createRequire } from 'node:module'
import t from 'tap'
import Fastify from '../../fastify.js'
import { TypeGuard, Type, OptionalKind, Kind, type Static as TypeBoxStatic } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import { stringify } from '../../../schemas/codec/json/exact.js'
import { decode } from '../../../schemas/language/decode.js'
import {
  int32, int64, recursive, map, one, inline, double, bytes, apiPackage, list, string, Facts, type Message
} from '../../../schemas/language/declare.js'
import * as bindings from '../../../schemas/api/rbac/bindings.js'
import * as clusterRoleBinding from '../../../schemas/api/rbac/clusterrolebindings.js'
import * as clusterRole from '../../../schemas/api/rbac/clusterroles.js'
import * as rules from '../../../schemas/api/rbac/rules.js'
import * as meta from '../../../schemas/meta/v1.js'
import * as runtime from '../../../schemas/meta/runtime.js'
import { representations as resources } from '../../../schemas/resources.js'
import { configMaps } from '../../stored.js'
import { random } from '../../random.js'
import { value } from '../../properties/objects.js'

// Fastify's Ajv in strict mode, in which unknown keywords and formats are errors.
interface Validate { (value: unknown): boolean, errors?: Array<{ keyword: string, instancePath: string }> | null }
interface Ajv { compile: (schema: object) => Validate }
const inFastify =
  createRequire(createRequire(createRequire(import.meta.url).resolve('fastify')).resolve('@fastify/ajv-compiler'))
const AjvClass = inFastify('ajv') as new (options: object) => Ajv
const addFormats = inFastify('ajv-formats') as (ajv: Ajv) => void
function strict (options: object = {}): Ajv {
  const ajv = new AjvClass({ strict: true, strictTypes: true, strictRequired: false, allErrors: true, ...options })
  addFormats(ajv)
  return ajv
}

const { message, kind } = apiPackage('example.com', 'v1', 'com.example.v1')
const Inner = message('Inner', 'Stands in the object itself.', {
  colour: string(1, 'A colour.', { values: ['red', 'blue'], closed: true, default: 'red' })
})
const Port = message('Port', 'A port.', {
  port: int32(1, 'Its number.', { required: true, minimum: 1, maximum: 65535 }),
  name: string(2, 'Its name.', { maxLength: 5, pattern: /^[a-z]+$/ })
})
const Spec = message('Spec', 'What is wanted.', {
  ports: list(1, 'Ports.', Port),
  count: int64(2, 'How many.'),
  ratio: double(3, 'A ratio.'),
  secret: bytes(4, 'Bytes.'),
  names: map(5, 'By name.', 'string'),
  inner: inline(6, 'Inlined.', Inner)
})
const Thing = kind('Thing', 'A thing.', {
  metadata: one(1, 'Standard object metadata.', meta.ObjectMeta), spec: one(2, 'What is wanted.', Spec)
})

const Schema = recursive(self => message('Schema', 'A schema.', {
  type: string(1, 'Its type.'),
  not: one(2, 'What must not be.', self, { pointer: true }),
  allOf: list(3, 'What must be.', self),
  properties: map(4, 'By name.', self)
}))
const Holder = message('Holder', 'Has a schema.', {
  schema: one(1, 'The one.', Schema, { pointer: true }), others: list(2, 'More.', Schema)
})
const Definition = message('Definition', 'Has holders.', {
  first: one(1, 'The first.', Holder), second: one(2, 'The second.', Holder), $ref: string(3, 'A name like a keyword.')
})
interface Left { right?: Right | undefined, name?: string | undefined }
interface Right { left?: Left | undefined }
const Left: Message<Left> = message('Left', 'Holds a Right.', {
  right: one(1, 'The other.', () => Right, { pointer: true }), name: string(2, 'A name.')
})
const Right: Message<Right> = message('Right', 'Holds a Left.', {
  left: one(1, 'The other.', () => Left, { pointer: true })
})

const rbac = { ...bindings, ...clusterRoleBinding, ...clusterRole, ...rules }
const declared: Message[] = [
  ...Object.values({ ...rbac, ...meta, ...runtime }).filter((value): value is typeof meta.Status =>
    typeof value === 'object' && value !== null && Facts in value && 'openapiName' in value[Facts]),
  ...resources.map(({ message }) => message)
]

t.test('a declaration is JSON Schema', async t => {
  t.same(JSON.parse(JSON.stringify(Port)), {
    description: 'A port.',
    type: 'object',
    properties: {
      port: { description: 'Its number.', type: 'integer', format: 'int32', minimum: 1, maximum: 65535 },
      name: { description: 'Its name.', type: 'string', maxLength: 5, pattern: '^[a-z]+$' }
    },
    required: ['port']
  })
  const { properties } = JSON.parse(JSON.stringify(Thing)) as {
    properties: Record<string, { properties: object, default?: unknown }>
  }
  t.same(Object.keys(properties), ['apiVersion', 'kind', 'metadata', 'spec'])
  t.match(properties.kind, { const: 'Thing', default: 'Thing' })
  t.same(
    Object.keys(properties.spec?.properties ?? {}), ['ports', 'count', 'ratio', 'secret', 'names', 'colour'],
    'inlined members are properties of the object'
  )
  t.same(properties.spec?.default, {})
  t.match(JSON.parse(JSON.stringify(meta.Time)), { type: 'string', format: 'date-time' })
})

/** Keeps what it has compiled: that takes most of the time. */
const ajv = strict()

t.test('Ajv takes every declared type as it is, in strict mode, all in one', async t => {
  t.ok(declared.length > 40)
  for (const each of [...declared, Thing, Schema, Holder, Definition, Left, Right]) {
    t.doesNotThrow(() => ajv.compile(each), each[Facts].name)
  }
})

t.test('decoded objects satisfy the schema', async t => {
  const dice = random()
  t.comment(`seed ${dice.seed}`)
  for (const each of [...declared.filter(({ [Facts]: { special } }) => special === undefined), Thing]) {
    const validate = ajv.compile(each)
    let held = 0
    for (let run = 0; run < 40; run++) {
      const { object } = decode(each, value(dice, each))
      // Decoded objects may still lack required fields, or contain values that validation refuses.
      const json: unknown = JSON.parse(stringify(object) ?? 'null')
      if (validate(json) ||
        validate.errors?.every(({ keyword }) =>
          ['required', 'enum', 'pattern', 'maxLength', 'minimum', 'maximum'].includes(keyword)) === true) held++
      else if (held === run) {
        t.fail(
          `${each[Facts].name}: ` +
          `${validate.errors?.map(({ keyword, instancePath }) => `${keyword} ${encodeURI(instancePath)}`).join()}`
        )
      }
    }
    t.equal(held, 40, each[Facts].name)
  }
})

t.test('invalid objects are refused, and defaults are filled in', async t => {
  const validate = strict({ useDefaults: true }).compile(Thing)
  const thing: Record<string, unknown> = {}
  t.ok(validate(thing))
  t.same(thing, { apiVersion: 'example.com/v1', kind: 'Thing', metadata: {}, spec: { colour: 'red' } })
  const wrong = (spec: object) => {
    validate({ spec })
    return validate.errors?.map(({ keyword, instancePath }) => `${keyword} ${instancePath}`)
  }
  t.same(wrong({ ports: [{ port: 0 }, {}, { port: 1, name: 'Abcdef' }] }), [
    'minimum /spec/ports/0/port', 'required /spec/ports/1', 'maxLength /spec/ports/2/name', 'pattern /spec/ports/2/name'
  ])
  t.same(wrong({ count: 1.5, ratio: 'x', secret: '***', names: { a: 1 }, colour: 'green' }), [
    'type /spec/count', 'format /spec/count', 'type /spec/ratio', 'format /spec/secret', 'type /spec/names/a',
    'enum /spec/colour'
  ])
  t.notOk(validate({ kind: 'Other' }))
})

t.test('a recursive type is validated at any depth', async t => {
  const ajv = strict()
  for (const [type, wrap] of [
    [Schema, (value: unknown) => value], [Definition, (value: unknown) => ({ first: {}, second: { others: [value] } })]
  ] as const) {
    const validate = ajv.compile(type)
    t.ok(validate(wrap({ not: { allOf: [{ properties: { a: { not: { type: 'x' } } } }] } })))
    t.notOk(validate(wrap({ not: { allOf: [{ properties: { a: { not: { type: 1 } } } }] } })), type[Facts].name)
  }
  const validate = ajv.compile(Left)
  t.ok(validate({ right: { left: { right: { left: { name: 'x' } } } } }))
  t.notOk(validate({ right: { left: { right: { left: { name: 1 } } } } }))
})

t.test('Fastify takes it as the schema of a route', async t => {
  const fastify = Fastify()
  t.teardown(() => fastify.close())
  fastify.post('/things', { schema: { body: Thing, response: { 200: Thing } } }, async ({ body }) => body)
  fastify.post('/schemas', { schema: { body: Definition } }, async () => 'ok')
  fastify.post('/others', { schema: { body: Holder } }, async () => 'ok')
  fastify.post('/roles', { schema: { body: rbac.ClusterRole } }, async ({ body }) => body)
  const post = async (url: string, payload: object) => await fastify.inject({ method: 'POST', url, payload })
  t.same((await post('/things', { spec: { ports: [{ port: 80 }] } })).json(), {
    apiVersion: 'example.com/v1', kind: 'Thing', metadata: {}, spec: { ports: [{ port: 80 }], colour: 'red' }
  })
  t.match((await post('/things', { spec: { ports: [{}] } })).json(), {
    statusCode: 400, message: 'body/spec/ports/0 must have required property \'port\''
  })
  t.equal((await post('/schemas', { first: { schema: { allOf: [{}] } } })).statusCode, 200)
  t.equal((await post('/schemas', { first: { schema: { allOf: [[]] } } })).statusCode, 400)
  t.equal((await post('/others', { schema: { not: { not: [] } } })).statusCode, 400)
  t.equal((await post('/roles', { metadata: { name: 'x' }, rules: [{ verbs: ['get'] }] })).statusCode, 200)
})

t.test('the tools of TypeBox know it for their own', async t => {
  t.equal(Kind, Object.getOwnPropertySymbols(Port).find(symbol => symbol.description === 'TypeBox.Kind'))
  t.equal((Port.properties as Record<string, { [OptionalKind]?: string }>).name?.[OptionalKind], 'Optional')
  for (const each of [Port, Thing, rbac.ClusterRoleBinding, configMaps.message]) {
    t.ok(TypeGuard.IsObject(each), each[Facts].name)
  }
  const mine = Type.Object({
    port: Port, size: int32(null, 'Its size.', { minimum: 1 }), tags: list(null, 'Tags.', 'string')
  })
  type Mine = TypeBoxStatic<typeof mine>
  const one: Mine = { port: { port: 80 }, size: 3 }
  // @ts-expect-error the number of a port is a number
  const other: Mine = { port: { port: '80' }, tags: ['x'] }
  t.same([Value.Check(mine, one), Value.Check(mine, other), Value.Check(mine, { port: {} })], [true, false, false])
  const binding: TypeBoxStatic<typeof rbac.ClusterRoleBinding> = {
    kind: 'ClusterRoleBinding',
    apiVersion: 'rbac.authorization.orch.io/v1',
    metadata: { name: 'x' },
    roleRef: { apiGroup: '', kind: 'ClusterRole', name: 'view' }
  }
  t.equal(binding.roleRef.name, 'view')
  t.ok(TypeCompiler.Compile(rbac.RoleRef).Check(binding.roleRef))
  t.notOk(TypeCompiler.Compile(rbac.RoleRef).Check({ kind: 'x' }))
  t.ok(TypeCompiler.Compile(Schema).Check({ not: { allOf: [{ type: 'x' }] } }))
  t.notOk(TypeCompiler.Compile(Schema).Check({ not: { allOf: [{ type: 1 }] } }))
})
