import protobuf from 'protobufjs/minimal.js'
import t from 'tap'
import { swaggerJson, whole } from '../../../schemas/openapi/v2.js'
import { swaggerProtobuf } from '../../../schemas/openapi/v2-protobuf.js'
import { representations as resources } from '../../../schemas/resources.js'

const { Reader } = protobuf
interface Operation {
  parameters?: Array<{ name: string, in: string, type?: string, required?: boolean, schema?: object }>
  operationId: string
  responses: Record<string, { schema?: { $ref: string } }>
  consumes: string[]
}
interface PathItem {
  get?: Operation
  put?: Operation
  post?: Operation
  patch?: Operation
  delete?: Operation
  parameters?: Operation['parameters']
}

const INFO = { version: 'v1.24.0' }
const document = JSON.parse(whole(swaggerJson(resources, INFO)).toString()) as {
  paths: Record<string, PathItem>
  definitions: Record<string, object>
}
const { paths } = document
const P = '/apis/rbac.authorization.orch.io/v1/clusterrolebindings'
/** Parameters common to all operations of a path are listed beside them. */
const queriesOf = (item: PathItem | undefined) => (operation: Operation | undefined) =>
  [...operation?.parameters ?? [], ...item?.parameters ?? []].filter(parameter => parameter.in === 'query')
    .map(({ name, type }) => `${name} ${type}`)
    .sort()

t.test('ClusterRoleBinding has the operations, parameters and answers of the interface', async t => {
  const { get: list, post, delete: deleteCollection } = paths[P] ?? {}
  const { get, put, patch, delete: deleteOne, parameters } = paths[`${P}/{name}`] ?? {}
  const queries = queriesOf(paths[`${P}/{name}`])
  const ofCollection = queriesOf(paths[P])
  t.same(queries(get), ['pretty string'])
  t.same(ofCollection(list), [
    'allowWatchBookmarks boolean', 'continue string', 'fieldSelector string', 'labelSelector string', 'limit integer',
    'pretty string', 'resourceVersion string', 'resourceVersionMatch string', 'timeoutSeconds integer', 'watch boolean'
  ])
  const write = ['dryRun string', 'fieldManager string', 'fieldValidation string', 'pretty string']
  t.same(ofCollection(post), write)
  t.same(queries(put), write)
  t.same(queries(patch), [...write, 'force boolean'].sort())
  t.same(queries(deleteOne), [
    'dryRun string', 'gracePeriodSeconds integer', 'orphanDependents boolean', 'pretty string',
    'propagationPolicy string'
  ])
  t.same(ofCollection(deleteCollection), [
    'continue string', 'dryRun string', 'fieldSelector string', 'gracePeriodSeconds integer', 'labelSelector string',
    'limit integer', 'orphanDependents boolean', 'pretty string', 'propagationPolicy string', 'resourceVersion string',
    'resourceVersionMatch string', 'timeoutSeconds integer'
  ])
  t.match(parameters, [{ name: 'name', in: 'path', required: true, type: 'string' }])
  const body = (operation: Operation | undefined) =>
    operation?.parameters?.find(parameter => parameter.in === 'body')?.required
  t.same([post, put, patch, deleteOne, deleteCollection, get, list].map(body), [
    true, true, true, undefined, undefined, undefined, undefined
  ])
  const codes = (operation: Operation | undefined) => Object.keys(operation?.responses ?? {})
  t.same([get, list, post, put, patch, deleteOne, deleteCollection].map(codes), [
    ['200', '401'], ['200', '401'], ['200', '201', '202', '401'], ['200', '201', '401'], ['200', '201', '401'],
    ['200', '202', '401'], ['200', '401']
  ])
  t.match(get, {
    'x-orch-action': 'get',
    'x-kubernetes-action': 'get',
    'x-orch-group-version-kind': { group: 'rbac.authorization.orch.io', version: 'v1', kind: 'ClusterRoleBinding' }
  })
})

t.test('every resource has the paths its scope gives it', async t => {
  for (const { group, version, plural, namespaced, verbs, subresources } of resources) {
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`
    const methods = (path: string) => Object.keys(paths[path] ?? {}).filter(name => name !== 'parameters').sort()
    const wanted = (table: Record<string, string>, own = verbs) =>
      Object.entries(table).filter(([verb]) => own.includes(verb as 'get')).map(([, method]) => method).sort()
    t.same(methods(collection), wanted({ list: 'get', create: 'post', deletecollection: 'delete' }), collection)
    t.same(
      methods(`${collection}/{name}`), wanted({ get: 'get', update: 'put', patch: 'patch', delete: 'delete' }),
      `${collection}/{name}`
    )
    if (namespaced) {
      t.same(methods(`${root}/${plural}`), wanted({ list: 'get' }), 'all namespaces are listed, and nothing else')
    }
    for (const { name, verbs, kind } of subresources) {
      const proxied = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'].sort()
      const path = `${collection}/{name}/${name}`
      t.same(
        methods(path),
        name === 'proxy'
          ? proxied
          : wanted({ get: 'get', update: 'put', patch: 'patch', create: 'post', delete: 'delete' }, verbs),
        `${path} ${kind}`
      )
      if (name === 'proxy') t.same(methods(`${path}/{path}`), proxied)
    }
  }
})

t.test('every reference leads to a definition, and no definition is empty', async t => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)]
    .map(match => match[1] ?? '')
  t.ok(references.length > 100)
  for (const name of new Set(references)) t.ok(Object.hasOwn(document.definitions, name), name)
  for (const [name, definition] of Object.entries(document.definitions)) {
    t.match(definition, { description: /\S/ }, name)
  }
  const ofPods = document.definitions['io.orch.api.core.v1.Pod'] as { properties: Record<string, object> }
  t.match(
    ofPods.properties,
    {
      apiVersion: { description: /^APIVersion defines / }, kind: { description: /^Kind is / },
      metadata: { description: /^Standard object's metadata/ }
    },
    'as tools expect'
  )
  const { properties } = document.definitions['io.orch.apimachinery.pkg.apis.meta.v1.ObjectMeta'] as {
    properties: Record<string, object>
  }
  t.match(properties['creationTimestamp'], { description: /^CreationTimestamp is a timestamp/ })
})

t.test('definitions say kind, required members, formats and how lists merge', async t => {
  const { definitions } = document
  const binding = definitions['io.orch.api.rbac.v1.ClusterRoleBinding']
  const gvk = [{ group: 'rbac.authorization.orch.io', kind: 'ClusterRoleBinding', version: 'v1' }]
  t.match(binding, {
    type: 'object', required: ['roleRef'], 'x-orch-group-version-kind': gvk, 'x-kubernetes-group-version-kind': gvk
  })
  t.match(definitions['io.orch.api.rbac.v1.ClusterRoleBindingList'], {
    required: ['items'], 'x-kubernetes-group-version-kind': [{ kind: 'ClusterRoleBindingList' }]
  })
  t.match(definitions['io.orch.api.core.v1.SeccompProfile'], {
    'x-kubernetes-unions': [
      { discriminator: 'type', 'fields-to-discriminateBy': { localhostProfile: 'LocalhostProfile' } }
    ],
    properties: { type: { enum: ['Unconfined', 'RuntimeDefault', 'Localhost'] } }
  })
  t.same(
    (definitions['io.orch.api.core.v1.ServicePort'] as { properties: { protocol: object } }).properties.protocol,
    {
      description: 'Transport protocol: TCP, UDP or SCTP; by default TCP.',
      type: 'string',
      default: 'TCP',
      enum: ['TCP', 'UDP', 'SCTP']
    }
  )
  t.match(definitions['io.orch.api.rbac.v1.RoleRef'], {
    required: ['apiGroup', 'kind', 'name'], 'x-orch-map-type': 'atomic'
  })
  t.match(definitions['io.orch.api.core.v1.Secret'], {
    properties: {
      data: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } }, type: { default: 'Opaque' }
    }
  })
  t.match(definitions['io.orch.apimachinery.pkg.apis.meta.v1.ObjectMeta'], {
    properties: {
      ownerReferences: { 'x-kubernetes-patch-merge-key': 'uid', 'x-orch-patch-strategy': 'merge' },
      generation: { type: 'integer', format: 'int64' }
    }
  })
  t.match(definitions['io.orch.apimachinery.pkg.apis.meta.v1.Time'], { type: 'string', format: 'date-time' })
})

/** The fields of a message: by number, raw. */
function fields (bytes: Uint8Array): Map<number, Array<Uint8Array | number>> {
  const reader = Reader.create(bytes)
  const found = new Map<number, Array<Uint8Array | number>>()
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    const value = (tag & 7) === 2 ? reader.bytes() : (tag & 7) === 1 ? reader.double() : Number(reader.int64())
    found.set(tag >>> 3, [...found.get(tag >>> 3) ?? [], value])
  }
  return found
}
const sub = (bytes: Uint8Array, ...path: number[]): Uint8Array =>
  path.reduce((inner, number) => fields(inner).get(number)?.[0] as Uint8Array, bytes)
const text = (bytes: Uint8Array | number | undefined) => Buffer.from(bytes as Uint8Array).toString()
const named = (entries: Array<Uint8Array | number> | undefined) =>
  new Map(entries?.map(entry => [text(sub(entry as Uint8Array, 1)), sub(entry as Uint8Array, 2)]))

t.test('the protobuf form says the same', async t => {
  const bytes = whole(swaggerProtobuf(resources, INFO))
  const top = fields(bytes)
  t.equal(text(top.get(1)?.[0]), '2.0')
  t.equal(text(sub(bytes, 2, 1)), 'orch')
  t.same([...named(fields(sub(bytes, 8)).get(2)).keys()], Object.keys(document.paths))
  const definitions = named(fields(sub(bytes, 9)).get(1))
  t.same([...definitions.keys()], Object.keys(document.definitions))

  const binding = definitions.get('io.orch.api.rbac.v1.ClusterRoleBinding') ?? new Uint8Array()
  t.same(fields(binding).get(19)?.map(text), ['roleRef'])
  t.same(text(sub(binding, 22, 1)), 'object')
  const properties = named(fields(sub(binding, 25)).get(1))
  t.same([...properties.keys()], ['apiVersion', 'kind', 'metadata', 'roleRef', 'subjects'])
  t.equal(text(sub(properties.get('roleRef') ?? bytes, 1)), '#/definitions/io.orch.api.rbac.v1.RoleRef')
  t.equal(text(sub(properties.get('subjects') ?? bytes, 23, 1, 1)), '#/definitions/io.orch.api.rbac.v1.Subject')
  const extensions = named(fields(binding).get(31))
  t.same([...extensions.keys()], ['x-kubernetes-group-version-kind', 'x-orch-group-version-kind'])
  t.same(JSON.parse(text(sub(extensions.get('x-orch-group-version-kind') ?? bytes, 2))), [
    { group: 'rbac.authorization.orch.io', kind: 'ClusterRoleBinding', version: 'v1' }
  ])

  const item = named(fields(sub(bytes, 8)).get(2)).get(`${P}/{name}`) ?? bytes
  const patch = sub(item, 8)
  t.equal(text(sub(patch, 5)), 'patchRbacAuthorizationV1ClusterRoleBinding')
  const parameters = fields(patch).get(8)?.map(parameter => sub(parameter as Uint8Array, 1)) ?? []
  t.equal(text(sub(parameters[0] ?? bytes, 1, 2)), 'body')
  t.same(parameters.slice(1).map(parameter => text(sub(parameter, 2, 3, 4))), [
    'dryRun', 'fieldManager', 'fieldValidation', 'force'
  ])
  t.equal(text(sub(item, 9, 1, 2, 4, 4)), 'name')
  t.same([...named(fields(sub(patch, 9)).get(1)).keys()], ['200', '201', '401'])
  t.equal(
    text(sub(named(fields(sub(patch, 9)).get(1)).get('200') ?? bytes, 1, 2, 1, 1)),
    '#/definitions/io.orch.api.rbac.v1.ClusterRoleBinding'
  )
})
