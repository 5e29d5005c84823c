/**
 * The most expensive requests of a user who may only write ConfigMaps, pods or bindings, or nothing at all; each is
 * within the bounds of a body and of a stored object.
 */

export interface Shape {
  readonly name: string
  /** Requests that are sent once, before all rounds. */
  readonly before?: readonly Call[]
  /** The measured request. */
  readonly call: Call
  /** The expected code, if not a success. */
  readonly code?: number
}

export interface Call {
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly accept?: string
  readonly body?: string
  /** Sent as this user. */
  readonly as?: string
}

export const MAPS = '/api/v1/namespaces/default/configmaps'
const PODS = '/api/v1/namespaces/default/pods'
const BINDINGS = '/apis/rbac.authorization.orch.io/v1/clusterrolebindings'
export const MERGE = 'application/merge-patch+json'
export const JSON_PATCH = 'application/json-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'
const APPLY = 'application/apply-patch+yaml'
export const YAML = 'application/yaml'
export const TABLE = 'application/json;as=Table;g=meta.orch.io;v=v1'
const PROTOBUF = 'application/vnd.orch.protobuf'
/** More than a body may have. */
const TOO_MANY = 49_000
/** About the maximum. */
const KEYS = 15_900

export const keyed = <T>(count: number, value: (at: number) => T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value(at)]))
export const many = <T>(count: number, item: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => item(at))
const configMap = (name: string, count = KEYS): object => ({
  apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: keyed(count, () => '')
})
export const create = (path: string, object: object): Call => ({ method: 'POST', path, body: JSON.stringify(object) })
export const patch = (path: string, type: string, value: unknown): Call => ({
  method: 'PATCH', path, type, body: JSON.stringify(value)
})

/** The object with the most keys that one create can make; it has one owner. */
export const large = (name: string): Call => create(MAPS, configMap(name))
const apply = (name: string, manager: string, more = '', value = ''): Call => patch(
  `${MAPS}/${name}?fieldManager=${manager}${more}`, APPLY, { ...configMap(name), data: keyed(KEYS, () => value) }
)
export const dry = (call: Call): Call => ({
  ...call, path: `${call.path}${call.path.includes('?') ? '&' : '?'}dryRun=All`
})
const pod = (name: string, containers: number, tolerations: number): object => ({
  metadata: { name },
  spec: {
    containers: many(containers, at => ({ name: `c${at}`, image: 'i' })),
    tolerations: many(tolerations, at => ({ key: `t${at}`, operator: 'Exists' }))
  }
})
const definition = (schemas: number): object => ({
  metadata: { name: 'wides.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'wides', kind: 'Wide' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: keyed(schemas, () => ({ type: 'string' })) } }
      }
    ]
  }
})
/** A type whose items have that many defaults each. */
const growing: Call = create('/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
  metadata: { name: 'grows.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'grows', kind: 'Grow' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              list: {
                type: 'array',
                items: { type: 'object', properties: keyed(400, () => ({ type: 'integer', default: 1 })) }
              }
            }
          }
        }
      }
    ]
  }
})
const grown = (items: number): Call => dry(create('/apis/example.com/v1/namespaces/default/grows', {
  apiVersion: 'example.com/v1', kind: 'Grow', metadata: { name: 'new' }, list: many(items, () => ({}))
}))
const review = (spec: object): Call => create('/apis/authorization.orch.io/v1/selfsubjectaccessreviews', { spec })

export const SHAPES: readonly Shape[] = [
  { code: 400, name: 'create of 49,000 keys', call: dry(create(MAPS, configMap('new', TOO_MANY))) },
  { name: 'create of 15,900 keys, dry run', call: dry(create(MAPS, configMap('new'))) },
  {
    name: 'create of 15,900 keys, stored',
    call: create(MAPS, { ...configMap(''), metadata: { generateName: 'stored-' } })
  },
  {
    name: 'create of 15,900 keys as YAML',
    call: {
      ...dry(create(MAPS, {})),
      type: YAML,
      body: `metadata: {name: new}\ndata:\n${many(KEYS, at => `  k${at}: ''\n`).join('')}`
    }
  },
  {
    name: 'create of 15,900 labels',
    call: dry(create(MAPS, { metadata: { name: 'new', labels: keyed(KEYS, () => '') } }))
  },
  {
    code: 422,
    name: 'create of 15,900 keys with bad names',
    call: dry(create(MAPS, { metadata: { name: 'new' }, data: Object.fromEntries(many(KEYS, at => [`k ${at}`, ''])) }))
  },
  {
    name: 'create with 15,900 unknown fields',
    call: dry(create(MAPS, { metadata: { name: 'new' }, ...keyed(KEYS, () => '') }))
  },
  {
    name: 'create with 15,900 duplicate keys',
    call: {
      ...dry(create(MAPS, {})), body: `{"metadata":{"name":"new"},"data":{${many(KEYS, () => '"k":""').join()}}}`
    }
  },
  { code: 400, name: 'access review with 49,000 unknown fields', call: review(keyed(TOO_MANY, () => '')) },
  { code: 422, name: 'access review with 15,900 unknown fields', call: review(keyed(KEYS, () => '')) },
  { name: 'create of a pod with 2,000 containers, 1,000 tolerations', call: dry(create(PODS, pod('new', 2000, 1000))) },
  { code: 413, name: 'create of a pod with 10,000 containers', call: dry(create(PODS, pod('new', 10_000, 0))) },
  {
    name: 'create of a binding with 12,000 subjects',
    call: dry(create(BINDINGS, {
      metadata: { name: 'new' },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
      subjects: many(12_000, at => ({ kind: 'User', name: `u${at}` }))
    }))
  },
  {
    name: 'create of a slice of 1,000 endpoints, 16 values each',
    call: dry(create('/apis/discovery.orch.io/v1/namespaces/default/endpointslices', {
      metadata: { name: 'new' },
      addressType: 'IPv4',
      endpoints: many(1000, at => ({
        addresses: [`10.0.${at >> 8}.${at & 255}`],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: `node-${at}`,
        zone: 'a',
        targetRef: { kind: 'Pod', name: `pod-${at}`, namespace: 'default', uid: `uid-${at}` }
      }))
    }))
  },
  {
    name: 'create of a definition of 15,900 schemas',
    before: [growing],
    call: dry(create('/apis/apiextensions.orch.io/v1/customresourcedefinitions', definition(KEYS)))
  },
  {
    name: 'merge patch of one key of 15,900',
    before: [large('merged')],
    call: patch(`${MAPS}/merged`, MERGE, { data: { k7: 'changed' } })
  },
  {
    name: 'merge patch of 15,900 nulls',
    before: [large('nulls')],
    call: dry(patch(`${MAPS}/nulls`, MERGE, { data: keyed(KEYS, () => null) }))
  },
  { code: 413, name: 'create of 3,000 items that get 400 defaults each', call: grown(3000) },
  { name: 'create of 120 items that get 400 defaults each', call: grown(120) },
  {
    name: 'JSON patch of 9,900 tests',
    before: [large('tested')],
    call: patch(
      `${MAPS}/tested`, JSON_PATCH, many(9900, () => ({ op: 'test', path: '/metadata/name', value: 'tested' }))
    )
  },
  {
    code: 422,
    name: 'JSON patch of 9,900 tests of all data',
    before: [large('compared')],
    call: patch(`${MAPS}/compared`, JSON_PATCH, [
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'copy', from: '/data', path: '/metadata/annotations/a' },
      ...many(9900, () => ({ op: 'test', path: '/data', value: null }))
    ])
  },
  {
    code: 422,
    name: 'JSON patch of 31 doubling copies',
    before: [create(MAPS, { metadata: { name: 'copied' }, data: { a: '' } })],
    call: patch(`${MAPS}/copied`, JSON_PATCH, [
      { op: 'add', path: '/x', value: {} }, ...many(30, at => ({ op: 'copy', from: '/x', path: `/x/k${at}` }))
    ])
  },
  {
    code: 413,
    name: 'strategic merge of 10,000 containers',
    before: [create(PODS, pod('merged', 1, 0))],
    call: dry(patch(`${PODS}/merged`, STRATEGIC, {
      spec: { containers: many(10_000, at => ({ name: `c${at}`, image: 'i' })) }
    }))
  },
  {
    name: 'JSON patch that copies a container of 310 variables 50 times',
    before: [
      create(PODS, {
        metadata: { name: 'env' },
        spec: { containers: [{ name: 'c', image: 'i', env: many(310, at => ({ name: `N${at}`, value: 'x' })) }] }
      })
    ],
    call: dry(patch(
      `${PODS}/env`, JSON_PATCH, many(50, at => ({ op: 'copy', from: '/spec/containers/0', path: `/metadata/x${at}` }))
    ))
  },
  {
    name: 'create of a pod of 1,000 containers in 15 KB',
    call: dry(create(PODS, { metadata: { name: 'new' }, spec: { containers: many(1000, () => ({ name: 'c' })) } })),
    code: 422
  },
  {
    name: 'PUT of 15,900 keys',
    before: [large('put')],
    call: { ...create(MAPS, configMap('put')), method: 'PUT', path: `${MAPS}/put` }
  },
  { name: 'apply of 15,900 keys, new', call: dry(apply('applied-new', 'one')) },
  { name: 'apply of 15,900 keys by a new manager', before: [large('applied')], call: dry(apply('applied', 'other')) },
  {
    code: 409,
    name: 'apply of 15,900 keys that conflict',
    before: [apply('conflicts', 'one')],
    call: apply('conflicts', 'other', '', 'x')
  },
  {
    name: 'apply of 15,900 keys with force',
    before: [apply('forced', 'one')],
    call: dry(apply('forced', 'other', '&force=true', 'x'))
  },
  {
    name: 'apply that takes 15,900 keys away',
    before: [apply('less', 'one')],
    call: dry(patch(`${MAPS}/less?fieldManager=one`, APPLY, configMap('less', 1)))
  },
  {
    name: 'label patch after 14 appliers of 3,000 keys',
    before: [
      create(MAPS, configMap('shared', 3000)),
      ...many(14, at => patch(`${MAPS}/shared?fieldManager=m${at}`, APPLY, configMap('shared', 3000)))
    ],
    call: patch(`${MAPS}/shared`, MERGE, { metadata: { labels: { a: 'b' } } })
  },
  {
    name: 'GET of 15,900 keys as YAML',
    before: [large('read')],
    call: { method: 'GET', path: `${MAPS}/read`, accept: YAML }
  },
  { name: 'GET of 15,900 keys, pretty', call: { method: 'GET', path: `${MAPS}/read?pretty=true` } },
  {
    name: 'GET of 15,900 keys as Table',
    call: { method: 'GET', path: `${MAPS}/read?includeObject=Object`, accept: TABLE }
  },
  { name: 'GET of 15,900 keys as protobuf', call: { method: 'GET', path: `${MAPS}/read`, accept: PROTOBUF } },
  { name: 'LIST of them as YAML', call: { method: 'GET', path: MAPS, accept: YAML } },
  { name: 'LIST of them, pretty', call: { method: 'GET', path: `${MAPS}?pretty=true` } },
  { name: 'LIST of them as Table', call: { method: 'GET', path: `${MAPS}?includeObject=Object`, accept: TABLE } },
  { name: 'LIST of them as protobuf', call: { method: 'GET', path: MAPS, accept: PROTOBUF } },
  { name: 'deletecollection of them, dry run', call: { method: 'DELETE', path: `${MAPS}?dryRun=All` } }
]
