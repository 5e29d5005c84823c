import t from 'tap'
import { publicMessage } from '../../../schemas/compat/definitions.js'
import { translateJsonPatch } from '../../../schemas/compat/json-patch.js'
import { keptBy, publicObject, publicStatus, rootOf, translateValues } from '../../../schemas/compat/objects.js'
import { fromStructural } from '../../../schemas/custom/declaration.js'
import { JSONSchemaProps } from '../../../schemas/api/apiextensions/schemas.js'
import { decode } from '../../../schemas/language/decode.js'
import { planOf } from '../../../schemas/language/plan.js'
import { findResource } from '../find-resource.js'
import type { Message } from '../../../schemas/language/declare.js'
import type { Json } from '../../build.js'

/** That of a webhook. */
const translatePatch = (message: Message, patch: unknown): unknown =>
  translateJsonPatch(rootOf(message), patch, keptBy(message))

function messageOf (group: string, version: string, plural: string): Message {
  const found = findResource(group, version, plural)
  if (found === undefined) throw new Error(`no ${plural}`)
  return found.message
}
const PODS = messageOf('', 'v1', 'pods')
const ROLES = messageOf('rbac.authorization.orch.io', 'v1', 'clusterroles')
const BINDINGS = messageOf('rbac.authorization.orch.io', 'v1', 'rolebindings')
const DEFINITIONS = messageOf('apiextensions.orch.io', 'v1', 'customresourcedefinitions')
const copy = (value: Json): Json => JSON.parse(JSON.stringify(value)) as Json

const POD: Json = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'kubernetes',
    namespace: 'kube-system',
    labels: { 'app.kubernetes.io/name': 'kube-system', 'kubernetes.io/os': 'kube-system' },
    annotations: {
      note: 'kube-system',
      'scheduler.alpha.kubernetes.io/node-selector': 'kubernetes.io/os=linux',
      'scheduler.alpha.kubernetes.io/tolerations':
        '[{"key": "node.kubernetes.io/not-ready","value":"node.kubernetes.io/not-ready"}]'
    },
    finalizers: ['kubernetes.io/pvc-protection', 'example.com/x'],
    ownerReferences: [{ apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', name: 'kubernetes', uid: 'u' }],
    managedFields: [{
      manager: 'kubectl',
      operation: 'Apply',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:metadata': {
          'f:labels': { 'f:kubernetes.io/os': {}, 'f:app.kubernetes.io/name': {} },
          'f:finalizers': { 'v:"kubernetes.io/pvc-protection"': {} }
        },
        'f:spec': {
          'f:nodeSelector': { 'f:kubernetes.io/arch': {} },
          'f:topologySpreadConstraints': {
            'k:{"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule"}': {
              '.': {}, 'f:topologyKey': {}
            }
          },
          'f:volumes': { 'k:{"name":"data"}': { '.': {}, 'f:name': {} } }
        }
      }
    }]
  },
  spec: {
    nodeSelector: { 'kubernetes.io/arch': 'kubernetes.io/arch' },
    nodeName: 'kubernetes',
    serviceAccountName: 'kube-dns',
    tolerations: [{ key: 'node.kubernetes.io/not-ready', value: 'kube-system' }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['kube-system'] }] }
          ]
        }
      },
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            topologyKey: 'topology.kubernetes.io/zone',
            namespaceSelector: {
              matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['kube-system', 'x'] }]
            }
          }
        ]
      }
    },
    volumes: [
      {
        name: 'kube-api-access-x',
        projected: {
          sources: [
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'kubernetes.io/os', path: 'kube-system' }] } }
          ]
        }
      }
    ],
    containers: [
      {
        name: 'kube-proxy',
        image: 'registry.k8s.io/pause',
        command: ['kube-system'],
        args: ['kubernetes.io/os'],
        env: [
          { name: 'kubernetes', value: 'kube-system' },
          { name: 'N', valueFrom: { fieldRef: { fieldPath: "metadata.labels['kubernetes.io/os']" } } }
        ],
        volumeMounts: [{ name: 'kube-api-access-x', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }]
      }
    ]
  }
}

t.test('names are translated where the declaration has names, and nothing else', async t => {
  const own = translateValues(PODS, copy(POD))
  const { metadata, spec } = own
  t.match(metadata, {
    name: 'kubernetes',
    namespace: 'orch-system',
    finalizers: ['orch.io/pvc-protection', 'example.com/x'],
    ownerReferences: [{ apiVersion: 'storage.orch.io/v1', name: 'kubernetes' }]
  })
  t.strictSame(metadata.labels, { 'app.kubernetes.io/name': 'kube-system', 'orch.io/os': 'kube-system' })
  t.strictSame(metadata.annotations, {
    note: 'kube-system',
    'scheduler.alpha.orch.io/node-selector': 'orch.io/os=linux',
    'scheduler.alpha.orch.io/tolerations': '[{"key": "node.orch.io/not-ready","value":"node.kubernetes.io/not-ready"}]'
  })
  t.strictSame(metadata.managedFields[0].fieldsV1, {
    'f:metadata': {
      'f:labels': { 'f:app.kubernetes.io/name': {}, 'f:orch.io/os': {} },
      'f:finalizers': { 'v:"orch.io/pvc-protection"': {} }
    },
    'f:spec': {
      'f:nodeSelector': { 'f:orch.io/arch': {} },
      'f:topologySpreadConstraints': {
        'k:{"topologyKey":"topology.orch.io/zone","whenUnsatisfiable":"DoNotSchedule"}': {
          '.': {}, 'f:topologyKey': {}
        }
      },
      'f:volumes': { 'k:{"name":"data"}': { '.': {}, 'f:name': {} } }
    }
  })
  t.match(spec, {
    nodeSelector: { 'orch.io/arch': 'kubernetes.io/arch' },
    nodeName: 'kubernetes',
    serviceAccountName: 'kube-dns',
    tolerations: [{ key: 'node.orch.io/not-ready', value: 'kube-system' }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'orch.io/hostname', values: ['kube-system'] }] }]
        }
      },
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            topologyKey: 'topology.orch.io/zone',
            namespaceSelector: { matchExpressions: [{ key: 'orch.io/metadata.name', values: ['orch-system', 'x'] }] }
          }
        ]
      }
    },
    volumes: [
      {
        name: 'orch-api-access-x',
        projected: {
          sources: [
            { configMap: { name: 'orch-root-ca.crt', items: [{ key: 'kubernetes.io/os', path: 'kube-system' }] } }
          ]
        }
      }
    ]
  })
  t.strictSame(spec.containers, [
    {
      ...POD['spec'].containers[0],
      env: [
        { name: 'kubernetes', value: 'kube-system' },
        { name: 'N', valueFrom: { fieldRef: { fieldPath: "metadata.labels['orch.io/os']" } } }
      ],
      volumeMounts: [{ name: 'orch-api-access-x', mountPath: '/var/run/secrets/orch.io/serviceaccount' }]
    }
  ])
  t.strictSame(translateValues(PODS, own), POD, 'and back')
  t.strictSame(translateValues(PODS, translateValues(PODS, copy(POD))), POD)
})

t.test('both names of one key are two keys', async t => {
  const pod = { metadata: { labels: { 'kubernetes.io/os': 'a', 'orch.io/os': 'b' } } }
  t.strictSame(translateValues(PODS, copy(pod)), {
    metadata: { labels: { 'kubernetes.io/os': 'b', 'orch.io/os': 'a' } }
  })
  t.strictSame(translateValues(PODS, translateValues(PODS, copy(pod))), pod)
})

t.test('roles, bindings and definitions', async t => {
  t.match(translateValues(ROLES, copy({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { name: 'system:kube-dns' },
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } }]
    },
    rules: [
      {
        apiGroups: ['rbac.authorization.k8s.io', 'node.k8s.io'],
        resources: ['roles'],
        resourceNames: ['system:kube-scheduler', 'a'],
        verbs: ['get']
      },
      { apiGroups: [''], resources: ['nodes'], resourceNames: ['kubernetes'] },
      {
        apiGroups: ['authentication.k8s.io'],
        resources: ['userextras/authentication.kubernetes.io/pod-name', 'userextras/scopes'],
        resourceNames: ['orch']
      },
      { nonResourceURLs: ['/apis/node.k8s.io/*', '/healthz'] }
    ]
  })), {
    apiVersion: 'rbac.authorization.orch.io/v1',
    metadata: { name: 'system:orch-dns' },
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { 'rbac.authorization.orch.io/aggregate-to-view': 'true' } }]
    },
    rules: [
      { apiGroups: ['rbac.authorization.orch.io', 'node.orch.io'], resourceNames: ['system:orch-scheduler', 'a'] },
      { resourceNames: ['kubernetes'] },
      {
        apiGroups: ['authentication.orch.io'],
        resources: ['userextras/authentication.orch.io/pod-name', 'userextras/scopes'],
        resourceNames: ['orch']
      },
      { nonResourceURLs: ['/apis/node.orch.io/*', '/healthz'] }
    ]
  })
  t.match(translateValues(BINDINGS, copy({
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
    subjects: [
      { kind: 'ServiceAccount', name: 'kube-dns', namespace: 'kube-system' },
      { kind: 'User', name: 'kubernetes' },
      { kind: 'User', name: 'system:kube-proxy' },
      { kind: 'Group', name: 'system:serviceaccounts:kube-system', apiGroup: 'rbac.authorization.k8s.io' }
    ]
  })), {
    roleRef: { apiGroup: 'rbac.authorization.orch.io', name: 'system:node-agent-api-admin' },
    subjects: [
      { name: 'kube-dns', namespace: 'orch-system' },
      { name: 'kubernetes' },
      { name: 'system:orch-proxy' },
      { name: 'system:serviceaccounts:orch-system', apiGroup: 'rbac.authorization.orch.io' }
    ]
  })
})

const SCHEMA = JSONSchemaProps as Message<Json>
const ownSchema = (shown: Json): Json => decode(publicMessage(SCHEMA), copy(shown)).object
const publicSchema = (own: Json): Json => publicObject(SCHEMA, copy(own))
const DATA = { 'x-kubernetes-int-or-string': 'kube-system' }
const extensions = (prefix: string): Json => ({
  type: 'object',
  properties: {
    'x-kubernetes-list-type': { [`${prefix}int-or-string`]: true, default: DATA, enum: [DATA], example: [DATA] },
    a: {
      items: {
        [`${prefix}preserve-unknown-fields`]: true,
        additionalProperties: { items: { items: { properties: { b: { not: { [`${prefix}int-or-string`]: true } } } } } }
      },
      [`${prefix}list-type`]: 'map'
    },
    c: {
      additionalProperties: {
        [`${prefix}int-or-string`]: true,
        allOf: [{ items: { anyOf: [{ [`${prefix}validations`]: [{ rule: 'self' }] }] } }]
      },
      [`${prefix}map-type`]: 'atomic'
    },
    d: {
      items: [{ [`${prefix}int-or-string`]: true }, { type: 'string' }],
      additionalItems: { [`${prefix}int-or-string`]: true },
      dependencies: { e: { [`${prefix}int-or-string`]: true }, f: ['x-kubernetes-map-type'] }
    },
    g: { additionalProperties: true, additionalItems: false }
  }
})

t.test('extensions in schemas are translated at every depth, and data never', async t => {
  const own = ownSchema(extensions('x-kubernetes-'))
  t.same(own, extensions('x-orch-'))
  t.same(publicSchema(own), extensions('x-kubernetes-'))
  t.strictSame(
    decode(publicMessage(SCHEMA), extensions('x-orch-')).unknown.length, 10, 'names of the other project are none'
  )
  const at = '/spec/versions/0/schema/openAPIV3Schema/properties'
  t.strictSame(translatePatch(DEFINITIONS, [
    { op: 'add', path: `${at}/x-kubernetes-list-type/items/x-kubernetes-int-or-string`, value: true },
    { op: 'add', path: `${at}/a/items`, value: { 'x-kubernetes-int-or-string': true } },
    { op: 'add', path: `${at}/d/items/0`, value: { 'x-kubernetes-int-or-string': true } },
    { op: 'add', path: `${at}/d/items/0/additionalProperties/x-kubernetes-map-type`, value: 'x-kubernetes-map-type' },
    { op: 'add', path: `${at}/d/items/default/x-kubernetes-map-type`, value: { 'x-kubernetes-map-type': true } }
  ]), [
    { op: 'add', path: `${at}/x-kubernetes-list-type/items/x-orch-int-or-string`, value: true },
    { op: 'add', path: `${at}/a/items`, value: { 'x-orch-int-or-string': true } },
    { op: 'add', path: `${at}/d/items/0`, value: { 'x-orch-int-or-string': true } },
    { op: 'add', path: `${at}/d/items/0/additionalProperties/x-orch-map-type`, value: 'x-kubernetes-map-type' },
    { op: 'add', path: `${at}/d/items/default/x-kubernetes-map-type`, value: { 'x-kubernetes-map-type': true } }
  ])
  const owned = (prefix: string): Json => {
    const items = { [`f:${prefix}map-type`]: {}, 'f:additionalProperties': { [`f:${prefix}int-or-string`]: {} } }
    const schema = { 'f:openAPIV3Schema': { 'f:properties': { 'f:x-kubernetes-a': { 'f:items': items } } } }
    const fieldsV1 = { 'f:spec': { 'f:versions': { 'k:{"name":"v1"}': { 'f:schema': schema } } } }
    return { metadata: { managedFields: [{ fieldsV1 }] } }
  }
  t.strictSame(translateValues(DEFINITIONS, owned('x-kubernetes-')), owned('x-orch-'))
})

t.test('extensions in every field of a schema that holds schemas', async t => {
  const { fields } = planOf(SCHEMA)
  const all = {
    'preserve-unknown-fields': true,
    'embedded-resource': true,
    'int-or-string': true,
    'list-map-keys': ['a'],
    'list-type': 'map',
    'map-type': 'atomic',
    validations: [{ rule: 'self' }]
  }
  t.strictSame(
    fields.filter(({ name }) => name.startsWith('x-')).map(({ name }) => name),
    Object.keys(all).map(name => `x-orch-${name}`)
  )
  const leaf = (prefix: string): Json =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [prefix + name, value]))
  const holding = fields.filter(({ message }) => message?.name.includes('JSONSchema') === true)
  t.equal(holding.length, 11)
  for (const { name, shape, message } of holding) {
    for (const isList of message?.name.endsWith('OrArray') === true ? [true, false] : [false]) {
      const schema = (prefix: string): Json => {
        const value = isList ? [leaf(prefix)] : leaf(prefix)
        return { [name]: shape === 'map' ? { a: value } : shape === 'list' ? [value] : value }
      }
      t.same(ownSchema(schema('x-kubernetes-')), schema('x-orch-'), name)
      t.same(publicSchema(schema('x-orch-')), schema('x-kubernetes-'), name)
    }
  }
})

t.test('values of other types than declared stay for the server to refuse', async t => {
  for (const value of [
    null,
    1,
    'kube-system',
    [],
    { metadata: null },
    { metadata: 'kube-system' },
    {
      metadata: {
        labels: [], finalizers: 'kubernetes.io/x', ownerReferences: {}, managedFields: [1, { fieldsV1: 'x' }]
      }
    },
    { spec: { tolerations: { key: 'x' }, volumes: [null, 1] } }
  ]) {
    t.strictSame(translateValues(PODS, JSON.parse(JSON.stringify(value)) as unknown), value)
  }
  t.strictSame(
    translateValues(
      PODS, JSON.parse('{"metadata":{"labels":{"__proto__":"kubernetes.io/os","kubernetes.io/os":"x"}}}') as Json
    ),
    JSON.parse('{"metadata":{"labels":{"__proto__":"kubernetes.io/os","orch.io/os":"x"}}}')
  )
})

t.test('JSON patches of webhooks have names in paths, and in the values at them', async t => {
  const operations = [
    { op: 'add', path: '/metadata/labels/kubernetes.io~1os', value: 'kube-system' },
    { op: 'replace', path: '/metadata/labels/kubernetes.io~1metadata.name', value: 'kube-system' },
    { op: 'add', path: '/metadata/labels', value: { 'kubernetes.io/os': 'x' } },
    { op: 'test', path: '/metadata/finalizers/0', value: 'kubernetes.io/pvc-protection' },
    { op: 'add', path: '/spec/tolerations/-', value: { key: 'node.kubernetes.io/not-ready' } },
    { op: 'move', from: '/spec/nodeSelector/kubernetes.io~1os', path: '/spec/nodeSelector/beta.kubernetes.io~1os' },
    { op: 'replace', path: '/spec/containers/0/args/0', value: 'kube-system' },
    { op: 'replace', path: '/apiVersion', value: 'rbac.authorization.k8s.io/v1' },
    { op: 'replace', path: '', value: { metadata: { namespace: 'kube-system' } } },
    { op: 'remove', path: '/metadata/annotations/a~0b~1c' }, { path: 5, from: 6 }, 7
  ]
  const own = translatePatch(PODS, JSON.parse(JSON.stringify(operations)) as unknown)
  t.strictSame(own, [
    { op: 'add', path: '/metadata/labels/orch.io~1os', value: 'kube-system' },
    { op: 'replace', path: '/metadata/labels/orch.io~1metadata.name', value: 'orch-system' },
    { op: 'add', path: '/metadata/labels', value: { 'orch.io/os': 'x' } },
    { op: 'test', path: '/metadata/finalizers/0', value: 'orch.io/pvc-protection' },
    { op: 'add', path: '/spec/tolerations/-', value: { key: 'node.orch.io/not-ready' } },
    { op: 'move', from: '/spec/nodeSelector/orch.io~1os', path: '/spec/nodeSelector/beta.orch.io~1os' },
    { op: 'replace', path: '/spec/containers/0/args/0', value: 'kube-system' },
    { op: 'replace', path: '/apiVersion', value: 'rbac.authorization.orch.io/v1' },
    { op: 'replace', path: '', value: { metadata: { namespace: 'orch-system' } } },
    ...operations.slice(-3)
  ])
  t.strictSame(translatePatch(PODS, own), operations)
  t.equal(translatePatch(PODS, 'x'), 'x')
})

t.test('the configuration that kubectl keeps is the object it is, if it comes back as it was', async t => {
  const KEPT = 'kubectl.kubernetes.io/last-applied-configuration'
  const kept = (text: string): string =>
    translateValues(ROLES, { metadata: { annotations: { [KEPT]: text } } }).metadata.annotations[KEPT] as string
  const text =
    '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"annotations":{},"name":"a"},' +
    '"rules":[{"apiGroups":["node.k8s.io"],"n":12345678901234567890}]}\n'
  const own = kept(text)
  t.equal(own, text.replaceAll('k8s.io', 'orch.io'))
  t.equal(kept(own), text)
  for (const odd of [
    '{"apiVersion": "rbac.authorization.k8s.io/v1"}', '{"apiVersion":"rbac.authorization.k8s.io/v1"', '"kube-system"',
    '{"metadata":{"name":"kube-system","name":"kube-system"}}', ''
  ]) {
    t.equal(kept(odd), odd)
  }
  const patch = translatePatch(ROLES, [
    { op: 'add', path: '/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration', value: text }
  ])
  t.match(patch, [{ value: own }])
})

t.test('a Status', async t => {
  t.strictSame(publicStatus({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'roles.rbac.authorization.orch.io "system:orch-dns" not found',
    reason: 'NotFound',
    details: {
      name: 'system:orch-dns',
      group: 'rbac.authorization.orch.io',
      kind: 'roles',
      causes: [{ reason: 'FieldValueInvalid', message: 'a', field: 'metadata.labels[orch.io/os]' }]
    },
    code: 404
  } as never), {
    kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure',
    message: 'roles.rbac.authorization.k8s.io "system:kube-dns" not found', reason: 'NotFound',
    details: {
      name: 'system:kube-dns',
      group: 'rbac.authorization.k8s.io',
      kind: 'roles',
      causes: [{ reason: 'FieldValueInvalid', message: 'a', field: 'metadata.labels[kubernetes.io/os]' }]
    },
    code: 404
  })
})

t.test('of a custom object only the metadata has names', async t => {
  const text = { type: 'string' }
  const texts = { type: 'object', additionalProperties: text }
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          namespace: text, apiVersion: text, labels: texts, nodeSelector: texts, signerName: text,
          template: { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true }
        }
      }
    }
  }
  const message = fromStructural({ group: 'example.com', version: 'v1', kind: 'Thing' }, schema)
  const os = { 'kubernetes.io/os': 'linux' }
  const spec = {
    namespace: 'kube-system', apiVersion: 'storage.k8s.io/v1', labels: os, nodeSelector: os,
    signerName: 'kubernetes.io/kubelet-serving', template: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: os } }
  }
  const own = translateValues(message, copy({ metadata: { namespace: 'kube-system', labels: os }, spec }))
  t.strictSame(own, { metadata: { namespace: 'orch-system', labels: { 'orch.io/os': 'linux' } }, spec })
  t.strictSame(translateValues(message, copy(own)), { metadata: { namespace: 'kube-system', labels: os }, spec })
})
