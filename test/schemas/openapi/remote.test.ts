/** OpenAPI documents of extension servers: which parts are merged, and under which names. */
import t from 'tap'
import * as remote from '../../../schemas/openapi/remote.js'
import { swaggerJson, whole } from '../../../schemas/openapi/v2.js'
import { swaggerProtobuf } from '../../../schemas/openapi/v2-protobuf.js'
import { finish, type Steps } from '../../../schemas/steps.js'
import { representations } from '../../../schemas/resources.js'

const ref = (name: string) => ({ $ref: `#/definitions/${name}` })
const specOf = (...given: Parameters<typeof remote.specOf>): remote.RemoteSpec => finish(remote.specOf(...given))
const renamed = (...given: Parameters<typeof remote.renamed>): remote.RemoteSpec => finish(remote.renamed(...given))
function * given (spec: remote.RemoteSpec): Steps<remote.RemoteSpec> { return spec }
const steps = (specs: readonly remote.RemoteSpec[]): Array<Steps<remote.RemoteSpec>> => specs.map(given)
const ROOT = '/apis/a.example.com/v1'

t.test('paths below the group version are merged, with the definitions they need and their parameters inlined', t => {
  const document = {
    swagger: '2.0',
    paths: {
      [`${ROOT}/`]: { get: {} },
      [`${ROOT}/things`]: {
        get: { responses: { 200: { schema: ref('Thing') } } }, parameters: [{ $ref: '#/parameters/pretty' }]
      },
      '/apis/a.example.com/v10/things': {},
      '/version/': {},
      [`${ROOT}/text`]: 'text'
    },
    definitions: {
      Thing: { properties: { part: ref('Part~1s') } }, 'Part/s': { properties: { thing: ref('Thing') } }, Other: {}
    },
    parameters: { pretty: { in: 'query', name: 'pretty', type: 'string' } }
  }
  const { paths, definitions } = specOf(document, ROOT)
  t.same(Object.keys(paths), [`${ROOT}/`, `${ROOT}/things`])
  t.same(paths[`${ROOT}/things`]?.['parameters'], [document.parameters.pretty])
  t.same(definitions, { Thing: document.definitions.Thing, 'Part/s': document.definitions['Part/s'] })
  t.end()
})

t.test('a document that cannot be merged is an error', t => {
  let deep: unknown = 1
  for (let level = 0; level < 5000; level++) deep = [deep]
  for (const document of [null, [], {}, { paths: [] }, {
    paths: { [`${ROOT}/x`]: ref('None') }
  }, { paths: { [`${ROOT}/x`]: ref('__proto__') } }, { paths: { [`${ROOT}/x`]: { deep } } },
  { paths: { [`${ROOT}/x`]: { $ref: '#/parameters/p' } } },
  { paths: { [`${ROOT}/x`]: { $ref: '#/parameters/p' } }, parameters: { p: { $ref: '#/parameters/p' } } }]) {
    t.throws(() => specOf(document, ROOT), { message: /^it (?:is no Swagger document|has no|is nested)/ })
  }
  t.end()
})

t.test('a document that would multiply, or take long in one step, is an error', t => {
  const parameter = (name: string) => ({ $ref: `#/parameters/${name}` })
  const doubling = Object.fromEntries(Array.from(
    { length: 60 }, (_, level) => [`p${level}`, [parameter(`p${level + 1}`), parameter(`p${level + 1}`)]]
  ))
  const many = Array.from({ length: 1000 }, () => parameter('long'))
  const found: ReadonlyArray<readonly [object, RegExp]> = [
    [
      { paths: { [`${ROOT}/x`]: parameter('p0') }, parameters: { ...doubling, p60: {} } },
      /it has no parameter p0, as that refers to another one/
    ],
    [
      { paths: { [`${ROOT}/x`]: { parameters: many } }, parameters: { long: { description: 'a'.repeat(10_000) } } },
      /its parameters are too large/
    ],
    [
      { paths: { [`${ROOT}/x`]: { get: Array.from({ length: 20_001 }, () => 1) } } },
      /one of its paths or definitions is too large/
    ],
    [
      { paths: Object.fromEntries(Array.from({ length: 5001 }, (_, at) => [`${ROOT}/${at}`, {}])) },
      /it has more than 5000 paths/
    ],
    [
      {
        paths: { [`${ROOT}/x`]: ref('d0') },
        definitions: Object.fromEntries(Array.from({ length: 5001 }, (_, at) => [`d${at}`, ref(`d${(at + 1) % 5001}`)]))
      },
      /it has more than 5000 definitions/
    ],
    [
      { paths: { [`${ROOT}/x`]: ref('A') }, definitions: { A: { enum: Array.from({ length: 20_001 }, () => 1) } } },
      /one of its paths or definitions is too large/
    ]
  ]
  for (const [document, message] of found) t.throws(() => specOf(document, ROOT), { message }, String(message))
  t.end()
})

t.test(
  'definitions that both have are shared if they are the same, and otherwise renamed, with what refers to them', t => {
    const known = new Map(Object.entries({
      Same: { type: 'object', properties: { a: { type: 'string' } }, 'x-orch-group-version-kind': [{ kind: 'A' }] },
      Differs: { type: 'object' },
      Differs_v2: { type: 'object', title: 'taken' },
      Refers: { properties: { to: ref('Differs') } },
      RefersToSame: { properties: { to: ref('Same') } }
    }))
    const spec = {
      paths: {
        [`${ROOT}/x`]: {
          get: [ref('Same'), ref('Differs'), ref('Refers'), ref('RefersToSame'), ref('New'), { $ref: 5 }]
        }
      },
      definitions: {
        Same: {
          properties: { a: { type: 'string' } }, type: 'object', 'x-kubernetes-group-version-kind': [{ kind: 'B' }]
        },
        Differs: { type: 'string' },
        Refers: { properties: { to: ref('Differs') } },
        RefersToSame: { properties: { to: ref('Same') } },
        New: { items: ref('Refers') }
      }
    }
    const { paths, definitions } = renamed(spec, name => known.get(name))
    t.same(paths, {
      [`${ROOT}/x`]: {
        get: [ref('Same'), ref('Differs_v3'), ref('Refers_v2'), ref('RefersToSame'), ref('New'), { $ref: 5 }]
      }
    })
    t.same(definitions, {
      Differs_v3: { type: 'string' },
      Refers_v2: { properties: { to: ref('Differs_v3') } },
      New: { items: ref('Refers_v2') }
    })
    t.end()
  }
)

t.test('an unexpected document is left out of the formats that cannot express it', t => {
  const resources = representations.slice(0, 2)
  const info = { version: 'v1' }
  const odd = [
    { paths: { [`${ROOT}/a`]: { get: { parameters: { length: 1 }, responses: 7 } } }, definitions: {} },
    {
      paths: { [`${ROOT}/b`]: { get: { description: { a: 1 }, responses: { 200: null } } } },
      definitions: { B: { properties: { a: null, b: [1] }, type: 5, maxLength: 'x', required: 'x' } }
    },
    {
      paths: JSON.parse(`{"${ROOT}/c":{"__proto__":{"get":1},"constructor":{}}}`) as Record<string, never>,
      definitions: {
        __proto__: {},
        C: { additionalProperties: true, type: ['string', 'null'], items: [{ type: 'string' }], allOf: [{}] }
      }
    }
  ]
  const good = {
    paths: {
      [`${ROOT}/good`]: {
        get: {
          operationId: 'good',
          parameters: [{ in: 'header', name: 'h' }, { in: 'query', name: 'q', type: 'string' }],
          responses: {}
        }
      }
    },
    definitions: {}
  }
  const json = JSON.parse(whole(swaggerJson(resources, info, steps([...odd, good]))).toString()) as {
    paths: Record<string, unknown>
  }
  t.same(json.paths[`${ROOT}/good`], good.paths[`${ROOT}/good`])
  t.ok(whole(swaggerProtobuf(resources, info, steps([...odd, good]))).includes(`${ROOT}/good`))
  t.equal(({} as Record<string, unknown>)['get'], undefined)
  t.end()
})
