import t, { type Test } from 'tap'
import names from '../../facts/names.json' with { type: 'json' }
import bootstrap from '../../facts/rbac-bootstrap.json' with { type: 'json' }
import resources from '../../facts/resources.json' with { type: 'json' }
import later from '../../facts/1.36/resources.json' with { type: 'json' }
import { PAIRS } from '../../../schemas/compat/names.js'
import {
  translateFieldPath, translateFieldSelector, translateLabelSelector, translatePath, translateQuery, usesPublicNames
} from '../../../schemas/compat/requests.js'
import { publicWords } from '../../../schemas/compat/sentences.js'
import {
  ambiguousNames, hasSign, namesOf, namesOfRule, ownUser, translateGroup, translateKey, translateNamespace,
  translateUser, translateVolume, type Translation
} from '../../../schemas/compat/text.js'

const same: Translation = name => name
const named = (group: string, type: string): Translation => namesOf(group, type) ?? same
const services = named('', 'services')
const roles = named('rbac.authorization.orch.io', 'ClusterRole')

/** Both ways. */
const isPair = (t: Test, translate: Translation, one: string, other: string): void => {
  t.equal(translate(one), other)
  t.equal(translate(other), one)
}

t.test('long text is no name, and what would become too long stays', async t => {
  for (const text of [
    `https:${'kubernetes:'.repeat(1000)}`, `system:serviceaccounts:${'kube-system:'.repeat(200)}`,
    `a:${'orch:'.repeat(300)}`
  ]) {
    for (const translate of [services, translateUser, translateKey]) {
      t.equal(translate(text), text)
      t.equal(translate(translate(text)), text)
    }
  }
})

t.test('every name has one partner', async t => {
  const by: Record<string, Translation> = {
    groups: translateGroup,
    keys: translateKey,
    namespaces: translateNamespace,
    users: translateUser,
    signers: named('certificates.orch.io', 'signers')
  }
  for (const [what, pairs] of Object.entries(PAIRS)) {
    const group = [...resources.resources, ...later.resources].find(({ kind }) => kind === what)?.group
    const translate = by[what] ?? named(group ?? '?', what)
    const all = pairs.flat()
    t.ok(all.length > 0)
    t.equal(new Set(all).size, all.length)
    for (const name of all) t.ok(hasSign(name), name)
    for (const [stock, ours] of pairs) isPair(t, translate, stock, ours)
  }
})

t.test('groups, built-in roles and names of the sources are those of the facts', async t => {
  for (const { group, kubernetesName } of resources.groups) {
    if (kubernetesName === undefined) continue
    isPair(t, translateGroup, kubernetesName, group)
    isPair(t, translateGroup, `${kubernetesName}/v1beta1`, `${group}/v1beta1`)
    isPair(t, named('apiregistration.orch.io', 'apiservices'), `v1.${kubernetesName}`, `v1.${group}`)
    isPair(t, named('apiextensions.k8s.io', 'CustomResourceDefinition'), `things.${kubernetesName}`, `things.${group}`)
    isPair(t, named('internal.apiserver.orch.io', 'storageversions'), `${kubernetesName}.roles`, `${group}.roles`)
    isPair(t, translateKey, `count/roles.${kubernetesName}`, `count/roles.${group}`)
  }
  for (const list of [bootstrap.clusterRoles, bootstrap.clusterRoleBindings, bootstrap.roles, bootstrap.roleBindings]) {
    for (const { name, kubernetesName } of list) t.equal(roles(name), kubernetesName ?? name)
  }
  // Labels, annotations and types of Secrets that the sources name.
  const keys = names.renamed.filter(({ kubernetes }) =>
    /^[a-z.-]*(?:k8s|kubernetes)\.io\/[a-zA-Z.-]+$/.test(kubernetes) &&
    !/^(?:kubectl|apiserver\.latency|authorization|k8s\.io|[a-z.-]*image-policy)/.test(kubernetes) &&
    !/kubelet|kube-/.test(kubernetes))
  t.ok(keys.length > 60)
  for (const { kubernetes, orch, orchGuess } of keys) t.equal(translateKey(kubernetes), orchGuess ?? orch, kubernetes)
})

t.test('whole names only', async t => {
  const all = [
    services, roles, translateGroup, translateKey, translateNamespace, translateUser, translateVolume,
    namesOfRule(['*'], ['*'])
  ]
  for (const text of [
    '', 'default', 'app.kubernetes.io/name', 'volumes.storage.k8s.io', 'volumes.storage.k8s.io/v1',
    'roles.rbac.authorization.k8s.io', 'kubernetes-dashboard', 'kube-system2',
    'registry.k8s.io/pause', 'kubernetes.io', 'x.kubernetes.io/hostname', 'rbac.authorization.k8s.io/other',
    'system:node:kube-system', 'system:node:kubernetes',
    'kubectl.kubernetes.io/last-applied-configuration', 'system:masters', 'node-role/kubernetes.io', 'constructor',
    '__proto__'
  ]) for (const translate of all) t.equal(translate(text), text, text)
  isPair(t, translateKey, 'node-role.kubernetes.io/control-plane', 'node-role.orch.io/control-plane')
  isPair(
    t, translateKey, 'container.apparmor.security.beta.kubernetes.io/web',
    'container.apparmor.security.beta.orch.io/web'
  )
  isPair(t, translateKey, 'tickets.image-policy.k8s.io/number', 'tickets.image-policy.orch.io/number')
  isPair(t, translateKey, 'tenants.node-restriction.kubernetes.io/name', 'tenants.node-restriction.orch.io/name')
  isPair(
    t, translateKey, 'gold.storageclass.storage.k8s.io/requests.storage',
    'gold.storageclass.storage.orch.io/requests.storage'
  )
  isPair(t, translateKey, 'gpu.deviceclass.resource.k8s.io/devices', 'gpu.deviceclass.resource.orch.io/devices')
  isPair(
    t, translateKey, 'requests.deviceclass.resource.kubernetes.io/gpu', 'requests.deviceclass.resource.orch.io/gpu'
  )
  isPair(t, translateVolume, 'kube-api-access-x7k2p', 'orch-api-access-x7k2p')
  for (const [one, other] of [
    ['https:kubernetes:443', 'https:orch:443'], ['kubernetes:443', 'orch:443'], ['https:kubernetes:', 'https:orch:']
  ] as const) {
    isPair(t, services, one, other)
  }
  for (const text of ['kubernetes:a:b:c', 'https:a:kubernetes', ':', '::']) t.equal(services(text), text)
})

t.test('users of service accounts follow their namespaces', async t => {
  isPair(t, translateUser, 'system:serviceaccount:kube-system:kube-dns', 'system:serviceaccount:orch-system:kube-dns')
  isPair(t, translateUser, 'system:serviceaccounts:kube-system', 'system:serviceaccounts:orch-system')
  for (const name of [
    'system:serviceaccount:default:kube-dns', 'system:serviceaccount:kube-system2:kubernetes',
    'system:serviceaccount:kube-system', 'system:serviceaccounts:kube', 'kubernetes', 'orch', 'kube-system'
  ]) {
    t.equal(translateUser(name), name)
  }
})

t.test('only kinds of which the server makes objects have names with partners', async t => {
  const pairs = Object.entries(PAIRS)
    .filter(([what]) => !['groups', 'keys', 'users'].includes(what))
    .flatMap(([, all]) => all.flat())
  const kinds = [
    'Namespace', 'Service', 'Endpoints', 'EndpointSlice', 'ConfigMap', 'ClusterRole', 'ClusterRoleBinding', 'Role',
    'RoleBinding', 'FlowSchema', 'APIService', 'CustomResourceDefinition', 'StorageVersion'
  ]
  for (const { group, kind, resource: plural } of resources.resources) {
    t.equal(namesOf(group, kind), namesOf(group, plural))
    t.equal(
      pairs.some(name => named(group, kind)(name) !== name),
      kinds.includes(kind) && !['APIService', 'CustomResourceDefinition', 'StorageVersion'].includes(kind), kind
    )
    t.equal(namesOf(group, kind) !== undefined, kinds.includes(kind), kind)
  }
  t.equal(namesOf('example.com', 'services'), undefined)
})

t.test('the names of a rule are those of its resources, if they agree', async t => {
  for (const [groups, resources, name, partner] of [
    [[''], ['services', 'endpoints', 'services/proxy'], 'kubernetes', 'orch'],
    [['', 'discovery.k8s.io'], ['services', 'endpointslices'], 'kubernetes', undefined],
    [['discovery.k8s.io'], ['endpointslices'], 'kubernetes', 'orch'],
    [['discovery.orch.io'], ['endpointslices'], 'kubernetes', 'orch'],
    [[''], ['nodes', 'pods'], 'kubernetes', 'kubernetes'], [[''], ['services', 'nodes'], 'kubernetes', undefined],
    [['serving.example.com'], ['services'], 'kubernetes', 'kubernetes'],
    [['', 'serving.example.com'], ['services'], 'kubernetes', undefined],
    [['*'], ['services'], 'kubernetes', undefined], [[''], ['*'], 'kubernetes', undefined],
    [[''], ['services', 'nodes'], 'other', 'other'],
    [['rbac.authorization.k8s.io'], ['roles', 'clusterroles'], 'system:kube-scheduler', 'system:orch-scheduler'],
    [['rbac.authorization.k8s.io'], ['*'], 'system:kube-dns', 'system:orch-dns'],
    [['*'], ['*'], 'system:kube-dns', undefined],
    [['certificates.k8s.io'], ['signers'], 'kubernetes.io/kubelet-serving', 'orch.io/node-agent-serving'],
    [[''], ['users', 'groups'], 'system:serviceaccount:kube-system:a', 'system:serviceaccount:orch-system:a'],
    [[''], ['serviceaccounts'], 'kube-dns', 'kube-dns'], [[], [], 'kubernetes', 'kubernetes']
  ] as const) {
    const title = `${groups.join()} ${resources.join()} ${name}`
    t.equal(namesOfRule(groups, resources)(name), partner ?? name, title)
    t.strictSame(ambiguousNames(groups, resources, ['a', name]), partner === undefined ? [name] : [], title)
    if (partner !== undefined) t.equal(namesOfRule(groups, resources)(partner), name, title)
  }
})

t.test('selectors, paths and fields of the downward API', async t => {
  for (const [sent, own] of [
    ['kubernetes.io/os=linux,!node-role.kubernetes.io/x', 'orch.io/os=linux,!node-role.orch.io/x'],
    [
      'kubernetes.io/metadata.name in (kube-system, a),b notin (kube-system)',
      'orch.io/metadata.name in (orch-system, a),b notin (kube-system)'
    ],
    ['kubernetes.io/metadata.name!=kube-public', 'orch.io/metadata.name!=orch-public'],
    ['apiserver.kubernetes.io/identity=kube-apiserver', 'apiserver.orch.io/identity=orch-apiserver'],
    ['a=b,c', 'a=b,c'], ['a in (kubernetes.io/os,b', 'a in (kubernetes.io/os,b'], [',,=', ',,='],
    [' ! kubernetes.io/os', ' ! orch.io/os']
  ] as const) {
    t.equal(translateLabelSelector(sent), own)
    t.equal(translateLabelSelector(own), sent)
  }
  for (const [sent, own] of [
    [
      'metadata.namespace=kube-system,metadata.name!=kubernetes',
      'metadata.namespace=orch-system,metadata.name!=kubernetes'
    ],
    [
      'spec.nodeName=kubernetes,spec.serviceAccountName=kube-dns',
      'spec.nodeName=kubernetes,spec.serviceAccountName=kube-dns'
    ],
    ['type==kubernetes.io/tls', 'type==orch.io/tls'],
    [
      'spec.signerName=kubernetes.io/kube-apiserver-client-kubelet',
      'spec.signerName=orch.io/orch-apiserver-client-node-agent'
    ],
    [
      'involvedObject.name=kubernetes,involvedObject.namespace=kube-system,source=kube-proxy',
      'involvedObject.name=kubernetes,involvedObject.namespace=orch-system,source=kube-proxy'
    ],
    ['metadata.name=kube-system\\,b', 'metadata.name=kube-system\\,b'], ['=', '=']
  ] as const) {
    t.equal(translateFieldSelector(sent), own)
    t.equal(translateFieldSelector(own), sent)
  }
  t.equal(
    translateFieldSelector('metadata.name==kubernetes,metadata.namespace=default', services),
    'metadata.name==orch,metadata.namespace=default'
  )
  t.equal(
    translateQuery('watch=1&labelSelector=kubernetes.io%2Fos%3Dlinux&fieldManager=kube-system', '/api/v1/nodes'),
    'watch=1&labelSelector=orch.io%2Fos%3Dlinux&fieldManager=kube-system'
  )
  t.equal(translateQuery('label%53elector=kubernetes.io%2Fos', '/api/v1/nodes'), 'labelSelector=orch.io%2Fos')
  for (const [path, name] of [
    ['/api/v1/namespaces/default/services', 'orch'],
    ['/api/v1/namespaces/a/service%73', 'orch'],
    ['/apis/discovery.k8s.io/v1/endpointslices', 'orch'],
    ['/api/v1/watch/services', 'orch'],
    ['/api/v1/nodes', 'kubernetes'],
    ['/apis/example.com/v1/services', 'kubernetes'],
    ['/%', 'kubernetes']
  ] as const) {
    t.equal(
      translateQuery('fieldSelector=metadata.name%3Dkubernetes', path), `fieldSelector=metadata.name%3D${name}`, path
    )
  }
  t.equal(translateFieldPath("metadata.labels['kubernetes.io/os']"), "metadata.labels['orch.io/os']")
  t.equal(
    translatePath(
      '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/system::leader-locking-kube-scheduler'
    ),
    '/apis/rbac.authorization.orch.io/v1/namespaces/orch-system/roles/system::leader-locking-orch-scheduler'
  )
  t.equal(translatePath('/openapi/v3/apis/apps/v1'), '/openapi/v3/apis/apps/v1')
  t.equal(translatePath('/logs/kube-system'), '/logs/kube-system')
  for (const [sent, own] of [
    ['/apis/example.com/v1/kubernetes', '/apis/example.com/v1/kubernetes'],
    [
      '/apis/example.com/v1/watch/namespaces/kube-system/kubernetes/kubernetes/kubernetes',
      '/apis/example.com/v1/watch/namespaces/orch-system/kubernetes/kubernetes/kubernetes'
    ],
    [
      '/api/v1/namespaces/default/services/https:kubernetes:443/proxy',
      '/api/v1/namespaces/default/services/https:orch:443/proxy'
    ],
    ['/api/v1/namespaces/kube-system/pods/kubernetes', '/api/v1/namespaces/orch-system/pods/kubernetes'],
    ['/api/v1/namespaces/kube-system', '/api/v1/namespaces/orch-system'],
    ['/api/v1/namespaces/kube-system/', '/api/v1/namespaces/orch-system/'],
    ['/api/v1/nodes/kubernetes/', '/api/v1/nodes/kubernetes/'],
    [
      '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/kubernetes',
      '/apis/coordination.orch.io/v1/namespaces/orch-node-lease/leases/kubernetes'
    ],
    ['/openapi/v3/apis/node.k8s.io/v1', '/openapi/v3/apis/node.orch.io/v1'],
    ['/apis/node.k8s.io', '/apis/node.orch.io'], ['/apis', '/apis'], ['/api', '/api'],
    ['/apis/node.k8s.io/*', '/apis/node.orch.io/*']
  ] as const) t.equal(translatePath(sent), own, 'types and subresources have the names that definitions give them')
})

t.test('sentences of the server say public names, and repeat what clients wrote', async t => {
  for (const [own, shown] of [
    ['roles.rbac.authorization.orch.io "x" is forbidden: User "system:serviceaccount:orch-system:a" cannot get ' +
      'resource "roles" in API group "rbac.authorization.orch.io" in the namespace "orch-system"',
    'roles.rbac.authorization.k8s.io "x" is forbidden: User "system:serviceaccount:kube-system:a" cannot get ' +
      'resource "roles" in API group "rbac.authorization.k8s.io" in the namespace "kube-system"'],
    [
      'user "orch-system" (groups=["orch-public","a b","system:serviceaccounts:orch-system"]) is attempting',
      'user "orch-system" (groups=["orch-public","a b","system:serviceaccounts:kube-system"]) is attempting'
    ],
    [
      'one of the groups "orch-public", "system:serviceaccounts:orch-system"',
      'one of the groups "orch-public", "system:serviceaccounts:kube-system"'
    ],
    [
      'by RoleBinding "system:orch-dns/orch-system" of ClusterRole "system:orch-dns" to ServiceAccount ' +
      '"orch-dns/orch-system"',
      'by RoleBinding "system:kube-dns/kube-system" of ClusterRole "system:kube-dns" to ServiceAccount ' +
      '"orch-dns/kube-system"'
    ],
    ['services "orch" not found', 'services "kubernetes" not found'],
    [
      'nodes "orch" is forbidden: User "orch" cannot get resource "nodes"',
      'nodes "orch" is forbidden: User "orch" cannot get resource "nodes"'
    ],
    [
      'node "orch-system" is not allowed to modify node "orch"',
      'node "orch-system" is not allowed to modify node "orch"'
    ],
    [
      'pods "orch-system" not found in the namespace "orch-system" of User "system:node:a.policy.orch.io"',
      'pods "orch-system" not found in the namespace "kube-system" of User "system:node:a.policy.orch.io"'
    ],
    [
      'Role.rbac.authorization.orch.io "system:orch-dns" is invalid',
      'Role.rbac.authorization.k8s.io "system:kube-dns" is invalid'
    ],
    ['things.volumes.storage.orch.io "orch" not found', 'things.volumes.storage.orch.io "orch" not found'],
    ['things.snapshot.storage.orch.io "orch" not found', 'things.snapshot.storage.k8s.io "orch" not found'],
    [
      'things.metrics.k8s.io "a" not found: customresourcedefinitions.apiextensions.orch.io "things.metrics.k8s.io"',
      'things.metrics.orch.io "a" not found: customresourcedefinitions.apiextensions.k8s.io "things.metrics.orch.io"'
    ],
    [
      'conflict: .metadata.labels.a.orch.io/os and .metadata.annotations.x.node-restriction.orch.io/a',
      'conflict: .metadata.labels.a.orch.io/os and .metadata.annotations.x.node-restriction.kubernetes.io/a'
    ],
    [
      'no kind at /apis/rbac.authorization.orch.io/v1/namespaces/orch-system/roles: namespaces "orch-public" exists',
      'no kind at /apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles: namespaces "kube-public" exists'
    ],
    ['metadata.labels[orch.io/os]: Invalid value', 'metadata.labels[kubernetes.io/os]: Invalid value'],
    ['data[kubernetes.io/os]: Invalid value: orch', 'data[kubernetes.io/os]: Invalid value: orch'],
    [
      'conflict: .metadata.labels.orch.io/os, use x-orch-map-type.',
      'conflict: .metadata.labels.kubernetes.io/os, use x-kubernetes-map-type.'
    ],
    [
      'unknown field "spec.versions[0].schema.openAPIV3Schema.x-orch-odd"',
      'unknown field "spec.versions[0].schema.openAPIV3Schema.x-kubernetes-odd"'
    ],
    ['it is system:node-agent-api-admin: no orch.io/os.', 'it is system:kubelet-api-admin: no kubernetes.io/os.']
  ] as const) t.equal(publicWords(own), shown)
})

t.test('clients that use our groups and media types get our names', async t => {
  for (const [path, accept, is] of [
    ['/api/v1/pods', undefined, true], ['/apis/rbac.authorization.k8s.io/v1/roles', 'application/json', true],
    ['/apis/apps/v1', 'application/vnd.kubernetes.protobuf', true], ['/apis/example.com/v1', '*/*', true],
    ['/apis/rbac.authorization.orch.io/v1/roles', undefined, false],
    ['/apis/rbac.authorization.orch.io', undefined, false], ['/openapi/v3/apis/node.orch.io/v1', undefined, false],
    ['/api/v1/pods', 'application/vnd.orch.protobuf, */*', false]
  ] as const) t.equal(usesPublicNames(path, { accept }), is, `${path} ${String(accept)}`)
  t.equal(usesPublicNames('/api/v1/pods', { 'content-type': 'application/vnd.orch.protobuf' }), false)
})

t.test('users that others authenticate', async t => {
  t.equal(ownUser('system:kube-scheduler'), 'system:orch-scheduler')
  for (const name of ['system:orch-scheduler', 'system:masters', 'ann']) t.equal(ownUser(name), name)
  for (const name of ['kubernetes', 'orch', 'kube-proxy', 'system:node:kubernetes']) t.equal(ownUser(name), name)
  isPair(t, ownUser, 'system:serviceaccount:kube-system:robot', 'system:serviceaccount:orch-system:robot')
})

t.test('of a rule with many names few are looked up', t => {
  const names = ['kube', 'orch.', 'kube:', 'kubernetes.io/'].flatMap(sign =>
    Array.from({ length: 20_000 }, (_, at) => `${sign}${at}`))
  let looked = 0
  const counted = new Proxy(['*'], {
    get: (list, member) => {
      looked++
      return Reflect.get(list, member) as unknown
    }
  })
  t.strictSame(names.map(namesOfRule(counted, ['*'])), names)
  t.strictSame(ambiguousNames(counted, ['*'], names), [])
  t.equal(looked, 0, 'the resources of the rule are not looked at')
  t.end()
})

t.test('long text of clients takes time in proportion to its length', async t => {
  const LONG = 2_000_000
  for (const text of [
    ' '.repeat(LONG), 'a'.repeat(LONG), 'a.'.repeat(LONG / 2), '!'.repeat(LONG), '('.repeat(LONG), ','.repeat(LONG),
    "['".repeat(LONG / 2), 'orch.'.repeat(LONG / 5), `x/${'.storageclass.storage.'.repeat(LONG / 22)}`,
    ':'.repeat(LONG), 'system:serviceaccounts:'.repeat(LONG / 23), 'groups "'.repeat(LONG / 8),
    'groups=["\\'.repeat(LONG / 10)
  ]) {
    for (const [name, change] of Object.entries({
      services,
      translateGroup,
      translateKey,
      translateUser,
      translateLabelSelector,
      translateFieldSelector,
      translateFieldPath,
      translatePath,
      publicWords
    })) {
      const changed = change(text)
      t.ok(changed.length >= text.length / 2, name) // what takes quadratic time would take hours
    }
  }
})
