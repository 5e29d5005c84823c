import t from 'tap'
import { toJson } from '../../../schemas/codec/json/encode.js'
import { decodeProtobuf } from '../../../schemas/codec/protobuf/decode.js'
import { encodeProtobuf } from '../../../schemas/codec/protobuf/encode.js'
import { decode } from '../../../schemas/language/decode.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import { validateObject, validateMessage, validateUpdate } from '../../../schemas/language/validation.js'
import type { FieldError } from '../../../schemas/status.js'
import {
  recursive, map, one, inline, bool, list, apiPackage, string, type Static, type Message
} from '../../../schemas/language/declare.js'
import { } from '../../../schemas/api/core/package.js'
import { metadata } from '../../../schemas/meta/object.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import { resource } from '../../../schemas/resource.js'

const { message, kind } = apiPackage('example.com', 'v1', 'com.example.v1')
const short = (errors: FieldError[]) => errors.map(({ type, field }) => `${type.replace('FieldValue', '')} ${field}`)

// Like a volume, which inlines the one source that it has.
const Empty = message('Empty', 'Nothing yet.', { medium: string(1, 'What holds it.', { default: 'disk' }) })
const Source = message('Source', 'Where the data is.', {
  empty: one(1, 'An empty directory.', Empty, { pointer: true }),
  path: string(2, 'A path of the machine.', { immutable: true }),
  mode: string(3, 'How it is mounted.', { default: 'rw' })
}, {
  defaults: source => { if (source.empty === undefined && source.path === undefined) source.empty = {} },
  validate: (source, at, report) => {
    if (source.path !== undefined && source.empty !== undefined) {
      report({ type: 'FieldValueForbidden', field: `${at}.path`, detail: 'only one source' })
    }
  },
  validateCreate: (source, at, report) => {
    if (source.path === '/new') report({ type: 'FieldValueInvalid', field: `${at}.path`, detail: 'not on create' })
  },
  validateUpdate: (source, old, at, report) => {
    if (source.mode !== old.mode) report({ type: 'FieldValueForbidden', field: `${at}.mode`, detail: 'stays' })
  }
})
const order: string[] = []
const Outer = message('Outer', 'Inlines what inlines.', {
  source: inline(1, 'The source.', Source), extra: string(2, 'More.')
}, {
  defaults: outer => {
    order.push('outer')
    outer.extra ??= outer.empty === undefined ? 'path' : 'empty'
  },
  validate: (_, at, report) => report({ type: 'FieldValueInvalid', field: `${at}.outer`, detail: 'always' })
})
const Volume = message('Volume', 'A volume.', {
  name: string(1, 'Its name.', { required: true }), outer: inline(2, 'The source.', Outer)
}, {
  defaults: () => { order.push('volume') }
})
const Thing = kind('Thing', 'Has volumes.', {
  metadata, volume: one(2, 'One.', Volume), volumes: list(3, 'More.', Volume)
})
const things = resource(Thing, { plural: 'things', namespaced: false }).stored
const thing = (volume: object) => decode(Thing, { metadata: { name: 'n' }, volume, volumes: [volume] }).object

t.test('an inlined message keeps its defaults, the inner before the outer', async t => {
  const object = thing({ name: 'v' })
  applyDefaults(Thing, object)
  t.same(object.volume, { name: 'v', empty: {}, mode: 'rw', extra: 'empty' })
  t.same(object.volumes, [object.volume])
  t.same(order, ['outer', 'volume', 'outer', 'volume'])
  applyDefaults(Thing, object)
  t.equal(object.volume.empty?.medium, 'disk', 'members of a computed default are defaulted in the next pass')
})

t.test('an inlined message keeps its rules, of every kind', async t => {
  const both = thing({ name: 'v', path: '/a', empty: {} })
  t.same(short(validateObject(things, both)), [
    'Forbidden volume.path', 'Invalid volume.outer', 'Forbidden volumes[0].path', 'Invalid volumes[0].outer'
  ])
  const created = thing({ name: 'v', path: '/new' })
  t.same(
    short(validateObject(things, created)).filter(finding => !finding.endsWith('outer')),
    ['Invalid volume.path', 'Invalid volumes[0].path'], 'rules of nested messages for new objects alone'
  )
  t.same(short(validateUpdate(things, created, created)).filter(finding => !finding.endsWith('outer')), [])
  const old = thing({ name: 'v', path: '/a', mode: 'rw' })
  t.same(
    short(validateUpdate(things, thing({ name: 'v', path: '/b', mode: 'ro' }), old))
      .filter(finding => !finding.endsWith('outer')),
    ['Invalid volume.path', 'Forbidden volume.mode']
  )
})

// Two types that refer to each other: the second has the rules, and no code resolves it first.
interface Left { name?: string | undefined, right?: Right | undefined }
interface Right { left?: Left | undefined, colour?: string | undefined }
const Left: Message<Left> = message('Left', 'Holds a Right.', {
  name: string(1, 'Its name.'), right: one(2, 'The other.', () => Right, { pointer: true })
})
const Right: Message<Right> = message('Right', 'Holds a Left.', {
  left: one(1, 'The other.', () => Left, { pointer: true }),
  colour: string(2, 'A colour.', { default: 'red', closed: true, values: ['red', 'green'] })
})

t.test('mutually recursive types keep their defaults and rules, whichever is used first', async t => {
  const Pair = message('Pair', 'Both.', {
    right: one(1, 'One.', Right, { pointer: true }), left: one(2, 'The other.', Left, { pointer: true })
  })
  const { object } = decode(Pair, {
    right: { left: { right: { left: { right: {} } } } }, left: { right: { colour: 'blue' } }
  })
  applyDefaults(Pair, object)
  t.equal(object.right?.left?.right?.left?.right?.colour, 'red')
  t.equal(object.right?.left?.right?.colour, 'red')
  t.same(short(validateMessage(Pair, object)), ['NotSupported left.right.colour'])
  const left = decode(Left, { right: { left: { right: { colour: 'x' } } } }).object
  t.same(short(validateMessage(Left, left)), ['NotSupported right.left.right.colour'])
  applyDefaults(Left, left)
  t.equal(left.right?.colour, 'red')
})

type Schema = Static<typeof Schema>
const Schema = recursive(self => message('Schema', 'A schema, which holds schemas.', {
  type: string(1, 'Its type.', { required: true, mayBeEmpty: true, default: 'object' }),
  not: one(2, 'What must not be.', self, { pointer: true }),
  allOf: list(3, 'What must be.', self),
  properties: map(4, 'By name.', self),
  nullable: bool(5, 'Takes null.')
}, {
  validate: (schema, at, report) => {
    if (schema.type === 'bad') {
      report({ type: 'FieldValueInvalid', field: `${at}.type`, value: schema.type, detail: 'is bad' })
    }
  }
}))
const Definition = kind('Definition', 'Holds a schema.', { metadata, schema: one(2, 'The schema.', Schema) })

t.test('a type within itself is stated once, and has a static type, codecs, defaults and rules', async t => {
  const leaf: Schema = { type: 'string' }
  const schema: Schema = {
    type: '',
    not: { type: 'bad', allOf: [{ type: '', properties: { a: leaf } }] },
    properties: { b: { type: 'bad', nullable: true } }
  }
  // @ts-expect-error a name that is not declared, however deep
  t.equal(schema.not?.allOf?.[0]?.properties?.['a']?.nothing, undefined)
  const deep: string | undefined = schema.not?.allOf?.[0]?.properties?.['a']?.type
  t.equal(deep, 'string')
  const { object, unknown } = decode(Definition, { metadata: { name: 'n' }, schema: { ...schema, extra: 1 } })
  t.same(unknown, ['schema.extra'])
  applyDefaults(Definition, object)
  t.equal(object.schema.not?.allOf?.[0]?.type, 'object')
  t.same(
    short(validateObject(
      resource(Definition, { plural: 'definitions', namespaced: false }).stored, object as ApiObject
    )),
    ['Invalid schema.not.type', 'Invalid schema.properties[b].type']
  )
  const back = decodeProtobuf(Definition, encodeProtobuf(Definition, object)).object
  t.equal(toJson(Definition, back), toJson(Definition, object))
})
