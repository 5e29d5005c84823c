/** Defaults in schemas must be valid by the schema; and checking a schema never takes long. */
import t from 'tap'
import { describe } from '../../../../schemas/status.js'
import { created, creates, served, updates } from '../rules.js'

const definitions = served('apiextensions.orch.io/v1', 'customresourcedefinitions')
const spec = (openAPIV3Schema: object) => ({
  group: 'example.com',
  scope: 'Cluster',
  names: { plural: 'things', kind: 'Thing' },
  versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
})
const VALID = { metadata: { name: 'things.example.com' }, spec: spec({ type: 'object' }) }
const AT = 'spec.validation.openAPIV3Schema.properties[a]'
const DEFAULT = `${AT}.default`
const a = (schema: object) => ({ spec: spec({ type: 'object', properties: { a: schema } }) })
const text = { type: 'string' }
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

creates(t, definitions, VALID, [
  [
    'of every type',
    a(object(
      {
        b: { ...text, default: 'a' },
        c: { type: 'integer', default: 1 },
        d: { type: 'number', default: 1 },
        e: { type: 'array', items: text, default: ['a'] },
        f: { type: 'boolean', default: false }
      },
      { default: { b: 'b' } }
    ))
  ],
  ['of another one', a({ ...text, default: 1 }), `TypeInvalid ${DEFAULT}`],
  ['null', a({ type: 'integer', nullable: true, default: null })],
  [
    'an integer or a text', a({ 'x-orch-int-or-string': true, anyOf: [{ type: 'integer' }, text], default: true }),
    `Invalid ${DEFAULT}`, `TypeInvalid ${DEFAULT}`
  ],
  ['which nobody asks for', a({ 'x-orch-int-or-string': true, default: true })],
  ['another one than the format is of', a({ type: 'string', format: 'date', default: true }), `TypeInvalid ${DEFAULT}`],
  [
    'null that is allowed, and not among those named',
    a(object({ b: { ...text, nullable: true, enum: ['a'] } }, { default: { b: null } })), `NotSupported ${DEFAULT}.b`
  ],
  ['something unknown', a(object({ b: text }, { default: { b: 'a', c: 1 } })), `Invalid ${DEFAULT}`],
  [
    'deep inside',
    a({
      type: 'array',
      items: object({ b: { type: 'object', additionalProperties: object({ c: text }) } }),
      default: [{ b: { x: { d: 1 } } }]
    }),
    `Invalid ${DEFAULT}`
  ],
  [
    'where everything is kept',
    a(object({ b: text }, { 'x-orch-preserve-unknown-fields': true, default: { c: { d: 1 } } }))
  ],
  ['a member missing', a(object({ b: text }, { required: ['b'], default: {} })), `Required ${DEFAULT}.b`],
  ['not one of those', a({ ...text, enum: ['a', 'b'], default: 'c' }), `NotSupported ${DEFAULT}`],
  [
    'too long, too short',
    a(object({ b: { ...text, maxLength: 1 }, c: { ...text, minLength: 3 } }, { default: { b: '€€', c: '€€' } })),
    `TooLong ${DEFAULT}.b`, `Invalid ${DEFAULT}.c`
  ],
  ['unlike the expression', a({ ...text, pattern: '^a+$', default: 'b' }), `Invalid ${DEFAULT}`],
  [
    'unlike the format',
    a(object(
      { b: { ...text, format: 'date-time' }, c: { ...text, format: 'ipv4' }, d: { ...text, format: 'free' } },
      { default: { b: 'now', c: '::1', d: 'x' } }
    )),
    `TypeInvalid ${DEFAULT}.b`,
    `TypeInvalid ${DEFAULT}.c`
  ],
  [
    'numbers out of range', a({ type: 'number', minimum: 2, exclusiveMinimum: true, multipleOf: 3, default: 2 }),
    `Invalid ${DEFAULT}`
  ],
  ['too many', a({ type: 'array', items: text, maxItems: 1, default: ['a', 'b'] }), `TooMany ${DEFAULT}`],
  ['too few', a({ type: 'object', additionalProperties: text, minProperties: 1, default: {} }), `Invalid ${DEFAULT}`],
  [
    'nothing allowed',
    a({ type: 'object', additionalProperties: false, 'x-orch-preserve-unknown-fields': true, default: { b: 1 } }),
    `Invalid ${DEFAULT}`
  ],
  [
    'none of those', a({ ...text, anyOf: [{ enum: ['a'] }, { enum: ['b'] }], default: 'c' }), `Invalid ${DEFAULT}`,
    `NotSupported ${DEFAULT}`
  ],
  [
    'two of which one is wanted', a({ ...text, oneOf: [{ maxLength: 3 }, { maxLength: 4 }], default: 'c' }),
    `Invalid ${DEFAULT}`
  ],
  ['not all of those', a({ ...text, allOf: [{ maxLength: 3 }, { minLength: 4 }], default: 'c' }), `Invalid ${DEFAULT}`],
  ['what may not be', a({ ...text, not: { enum: ['c'] }, default: 'c' }), `Invalid ${DEFAULT}`],
  ['in items too', a({ type: 'array', items: { ...text, default: 1 } }), `TypeInvalid ${AT}.items.default`],
  [
    'members of objects have names of their own',
    a(object(JSON.parse('{"__proto__": {"type": "string"}}') as object, {
      default: JSON.parse('{"__proto__": 1}') as object
    })),
    `TypeInvalid ${DEFAULT}.__proto__`
  ]
])

const embedded = (schema: object) =>
  a({ type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true, ...schema })
creates(t, definitions, VALID, [
  ['a whole object', embedded({ default: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: {} } })],
  [
    'without a kind', embedded({ default: { apiVersion: 'a/b/c' } }), `Invalid ${DEFAULT}.apiVersion`,
    `Required ${DEFAULT}.kind`
  ],
  [
    'with wrong metadata', embedded({ default: { apiVersion: 'v1', kind: 'A_', metadata: { labels: { a: ' ' } } } }),
    `Invalid ${DEFAULT}.kind`, `Invalid ${DEFAULT}.metadata.labels`
  ],
  [
    'with unreadable ones', embedded({ default: { apiVersion: 'v1', metadata: { labels: 1 } } }),
    `Invalid ${DEFAULT}.metadata`
  ],
  [
    'a kind',
    embedded({
      properties: { kind: { ...text, default: 'Pod' }, metadata: object({ name: { ...text, default: 'a' } }) }
    })
  ],
  ['a wrong one', embedded({
    properties: {
      kind: { ...text, default: '%' },
      metadata: object({ labels: { type: 'object', additionalProperties: text, default: { a: ' ' } } })
    }
  }),
    `Invalid ${AT}.properties[kind].default`, `Invalid ${AT}.properties[metadata].properties[labels].default`]
])

const unpruned = object({ b: text }, { default: { c: 1 } })
updates(t, definitions, VALID, [
  ['what is unknown comes in', {}, a(unpruned), `Invalid ${DEFAULT}`],
  ['or was there before', a(unpruned), a({ ...unpruned, description: 'c' })]
])

t.test('in these words', async t => {
  const told = (schema: object) => created(definitions, { ...VALID, ...a(schema) }).errors.map(error =>
    `${error.field.slice(AT.length)}: ${describe(error)}`)
  t.same(told({ ...text, default: 1 }), [
    '.default: Invalid value: "integer":  in body must be of type string: "integer"'
  ])
  t.same(told(object({ b: { type: 'object' } }, { default: { b: null } })), [
    '.default.b: Invalid value: "null": b in body must be of type object: "null"'
  ])
  t.same(
    told(object({ b: { type: 'array', items: { type: 'integer', maximum: 3 } } }, { default: { b: [4] } })),
    ['.default.b[0]: Invalid value: 4: b[0] in body should be less than or equal to 3']
  )
  t.same(told({
    type: 'object', additionalProperties: object({ b: text }, { required: ['c'] }), default: { x: { b: 1 } }
  }), [
    '.default.x.b: Invalid value: "integer": .x.b in body must be of type string: "integer"',
    '.default.x.c: Required value'
  ])
  t.same(told({ ...text, format: 'date', default: 1 }), [
    '.default: Invalid value: "int64":  in body must be of type date: "int64"'
  ])
  t.same(told({ ...text, anyOf: [{ maxLength: 1 }, { pattern: '^a' }], default: 'bc' }), [
    '.default: Invalid value: "": "" must validate at least one schema (anyOf)',
    '.default: Too long: may not be longer than 1'
  ])
  t.same(told({ ...text, pattern: '^a$', default: 'b' }), [
    ".default: Invalid value: \"b\":  in body should match '^a$'"
  ])
  t.same(told({ ...text, pattern: '[a' }), [
    '.pattern: Invalid value: "[a": must be a valid regular expression, but isn\'t: error parsing regexp: ' +
    'missing closing ]: `[a`'
  ])
  t.same(told({ ...text, pattern: '\\' }), [
    ".pattern: Invalid value: \"\\\\\": must be a valid regular expression, but isn't: error parsing regexp: " +
    'trailing backslash at end of expression: ``'
  ])
})

t.test('no schema takes long', async t => {
  created(definitions, { ...VALID, ...a({ ...text, pattern: 'a' }) }) // loads what is loaded on first use
  const many = (count: number, one: (index: number) => object) =>
    object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, one(index)])))
  const nested = (depth: number): object => depth === 0 ? text : object({ n: nested(depth - 1) }, { default: {} })
  for (const [title, schema] of [
    ['repetitions', { ...text, pattern: '(a{1000})'.repeat(100) }],
    ['classes', { ...text, pattern: '(?i)\\pL'.repeat(3000) }],
    ['what is never closed', many(300, index => ({ ...text, pattern: `${'['.repeat(900)}${index}` }))],
    ['many expressions', many(2000, index => ({ ...text, pattern: `^[a-z]{${index % 900}}(b${index})?$` }))],
    [
      'long lists against many schemas',
      {
        type: 'array',
        items: { type: 'integer' },
        anyOf: Array.from({ length: 300 }, () => ({ minItems: 9e6 })),
        default: Array.from({ length: 20_000 }, () => 1)
      }
    ],
    [
      'long texts',
      { ...text, anyOf: Array.from({ length: 1000 }, () => ({ maxLength: 1 })), default: 'a'.repeat(100_000) }
    ],
    [
      'logic in logic',
      {
        ...text,
        anyOf: Array.from(
          { length: 40 }, () => ({ anyOf: Array.from({ length: 40 }, () => ({ anyOf: [{ enum: ['a'] }] })) })
        ),
        default: 'b'
      }
    ],
    ['depth', nested(400)]
  ] as const) {
    const body = { ...VALID, ...a(schema) }
    let least = Infinity
    for (let time = 0; time < 3; time++) {
      const begun = process.cpuUsage()
      created(definitions, body)
      least = Math.min(least, process.cpuUsage(begun).user / 1000)
    }
    t.ok(least < 250, `${title}: ${least} ms with decoding, defaults and copies`)
  }
})
