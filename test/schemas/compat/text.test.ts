import t, { type Test } from 'tap'
import names from '../../facts/names.json' with { type: 'json' }
import bootstrap from '../../facts/rbac-bootstrap.json' with { type: 'json' }
import resources from '../../facts/resources.json' with { type: 'json' }
import { PAIRS } from '../../../schemas/compat/names.js'
import { hasSign, ownUser, translate, translateFieldPath, translateFieldSelector, translateLabelSelector, translatePath, translateQuery, publicWords, usesPublicNames } from '../../../schemas/compat/text.js'

/** Both ways. */
const isPair = (t: Test, one: string, other: string): void => {
  t.equal(translate(one), other)
  t.equal(translate(other), one)
}

t.test('long text is no name, and what would become too long stays', async t => {
  for (const text of [`https:${'kubernetes:'.repeat(1000)}`, `system:serviceaccounts:${'kube-system:'.repeat(200)}`, `a:${'orch:'.repeat(300)}`]) {
    t.equal(translate(text), text)
    t.equal(translate(translate(text)), text)
  }
})

t.test('every name has one partner', async t => {
  const all = PAIRS.flat()
  t.equal(new Set(all).size, all.length)
  for (const name of all) t.ok(hasSign(name), name)
  for (const [stock, ours] of PAIRS) isPair(t, stock, ours)
})

t.test('groups, built-in roles and names of the sources are those of the facts', async t => {
  for (const { group, kubernetesName } of resources.groups) {
    if (kubernetesName === undefined) continue
    isPair(t, kubernetesName, group)
    isPair(t, `${kubernetesName}/v1beta1`, `${group}/v1beta1`)
    isPair(t, `v1.${kubernetesName}`, `v1.${group}`)
    isPair(t, `count/roles.${kubernetesName}`, `count/roles.${group}`)
  }
  for (const list of [bootstrap.clusterRoles, bootstrap.clusterRoleBindings, bootstrap.roles, bootstrap.roleBindings]) for (const { name, kubernetesName } of list) t.equal(translate(name), kubernetesName ?? name)
  // Labels, annotations and types of Secrets that the sources name.
  const keys = names.renamed.filter(({ kubernetes }) => /^[a-z.-]*(?:k8s|kubernetes)\.io\/[a-zA-Z.-]+$/.test(kubernetes) && !/^(?:kubectl|apiserver\.latency|authorization|k8s\.io|[a-z.-]*image-policy)/.test(kubernetes) && !/kubelet|kube-/.test(kubernetes))
  t.ok(keys.length > 60)
  for (const { kubernetes, orch, orchGuess } of keys) t.equal(translate(kubernetes), orchGuess ?? orch, kubernetes)
})

t.test('whole names only', async t => {
  for (const text of ['', 'default', 'app.kubernetes.io/name', 'snapshot.storage.k8s.io', 'snapshot.storage.k8s.io/v1', 'roles.rbac.authorization.k8s.io', 'kubernetes-dashboard', 'kube-system2', 'registry.k8s.io/pause', 'kubernetes.io', 'x.kubernetes.io/hostname', 'rbac.authorization.k8s.io/other', 'system:node:kube-system',
    'kubectl.kubernetes.io/last-applied-configuration', 'system:masters', 'node-role/kubernetes.io', 'constructor', '__proto__']) t.equal(translate(text), text, text)
  isPair(t, 'node-role.kubernetes.io/control-plane', 'node-role.orch.io/control-plane')
  isPair(t, 'container.apparmor.security.beta.kubernetes.io/web', 'container.apparmor.security.beta.orch.io/web')
  isPair(t, 'tickets.image-policy.k8s.io/number', 'tickets.image-policy.orch.io/number')
  isPair(t, 'tenants.node-restriction.kubernetes.io/name', 'tenants.node-restriction.orch.io/name')
  isPair(t, 'kube-api-access-x7k2p', 'orch-api-access-x7k2p')
  isPair(t, 'gold.storageclass.storage.k8s.io/requests.storage', 'gold.storageclass.storage.orch.io/requests.storage')
  isPair(t, 'https:kubernetes:443', 'https:orch:443')
  isPair(t, 'system:serviceaccount:kube-system:kube-dns', 'system:serviceaccount:orch-system:orch-dns')
  isPair(t, 'system:serviceaccounts:kube-system', 'system:serviceaccounts:orch-system')
  isPair(t, 'system:serviceaccount:kube-api-access-a:v1.node.k8s.io', 'system:serviceaccount:orch-api-access-a:v1.node.orch.io')
  t.equal(translate('system:serviceaccount:default:kube-system2'), 'system:serviceaccount:default:kube-system2')
})

t.test('selectors, paths and fields of the downward API', async t => {
  for (const [sent, own] of [
    ['kubernetes.io/os=linux,!node-role.kubernetes.io/x', 'orch.io/os=linux,!node-role.orch.io/x'],
    ['kubernetes.io/metadata.name in (kube-system, a),b notin (kube-system)', 'orch.io/metadata.name in (orch-system, a),b notin (kube-system)'],
    ['kubernetes.io/metadata.name!=kube-public', 'orch.io/metadata.name!=orch-public'],
    ['a=b,c', 'a=b,c'], ['a in (kubernetes.io/os,b', 'a in (kubernetes.io/os,b'], [',,=', ',,='], [' ! kubernetes.io/os', ' ! orch.io/os']
  ] as const) {
    t.equal(translateLabelSelector(sent), own)
    t.equal(translateLabelSelector(own), sent)
  }
  for (const [sent, own] of [
    ['metadata.namespace=kube-system,metadata.name!=kubernetes', 'metadata.namespace=orch-system,metadata.name!=orch'],
    ['type==kubernetes.io/tls', 'type==orch.io/tls'],
    ['spec.signerName=kubernetes.io/kube-apiserver-client-kubelet', 'spec.signerName=orch.io/orch-apiserver-client-node-agent'],
    ['involvedObject.name=kubernetes,source=kube-proxy,reason!=kubernetes', 'involvedObject.name=orch,source=kube-proxy,reason!=kubernetes'],
    ['metadata.name=kube-system\\,b', 'metadata.name=kube-system\\,b'], ['=', '=']
  ] as const) {
    t.equal(translateFieldSelector(sent), own)
    t.equal(translateFieldSelector(own), sent)
  }
  t.equal(translateQuery('watch=1&labelSelector=kubernetes.io%2Fos%3Dlinux&fieldManager=kube-system'), 'watch=1&labelSelector=orch.io%2Fos%3Dlinux&fieldManager=kube-system')
  t.equal(translateQuery('label%53elector=kubernetes.io%2Fos'), 'labelSelector=orch.io%2Fos')
  t.equal(translateFieldPath("metadata.labels['kubernetes.io/os']"), "metadata.labels['orch.io/os']")
  t.equal(translatePath('/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/system::leader-locking-kube-scheduler'), '/apis/rbac.authorization.orch.io/v1/namespaces/orch-system/roles/system::leader-locking-orch-scheduler')
  t.equal(translatePath('/openapi/v3/apis/apps/v1'), '/openapi/v3/apis/apps/v1')
  t.equal(translatePath('/logs/kube-system'), '/logs/kube-system')
  for (const [sent, own] of [
    ['/apis/example.com/v1/kubernetes', '/apis/example.com/v1/kubernetes'],
    ['/apis/example.com/v1/watch/namespaces/kube-system/kubernetes/kubernetes/kubernetes', '/apis/example.com/v1/watch/namespaces/orch-system/kubernetes/orch/kubernetes'],
    ['/api/v1/namespaces/kube-system', '/api/v1/namespaces/orch-system'], ['/api/v1/namespaces/kube-system/', '/api/v1/namespaces/orch-system/'], ['/api/v1/nodes/kubernetes/', '/api/v1/nodes/orch/'],
    ['/openapi/v3/apis/node.k8s.io/v1', '/openapi/v3/apis/node.orch.io/v1'], ['/apis/node.k8s.io', '/apis/node.orch.io'], ['/apis', '/apis'], ['/api', '/api'], ['/apis/node.k8s.io/*', '/apis/node.orch.io/*']
  ] as const) t.equal(translatePath(sent), own, 'types and subresources have the names that definitions give them')
})

t.test('sentences of the server say public names, and repeat what clients wrote', async t => {
  for (const [own, shown] of [
    ['roles.rbac.authorization.orch.io "x" is forbidden: User "system:serviceaccount:orch-system:a" cannot get resource "roles" in API group "rbac.authorization.orch.io" in the namespace "orch-system"',
      'roles.rbac.authorization.k8s.io "x" is forbidden: User "system:serviceaccount:kube-system:a" cannot get resource "roles" in API group "rbac.authorization.k8s.io" in the namespace "kube-system"'],
    ['services "orch" not found', 'services "kubernetes" not found'],
    ['metadata.labels[orch.io/os]: Invalid value', 'metadata.labels[kubernetes.io/os]: Invalid value'],
    ['data[kubernetes.io/os]: Invalid value: orch', 'data[kubernetes.io/os]: Invalid value: orch'],
    ['conflict: .metadata.labels.orch.io/os, use x-orch-map-type.', 'conflict: .metadata.labels.kubernetes.io/os, use x-kubernetes-map-type.'],
    ['unknown field "spec.versions[0].schema.openAPIV3Schema.x-orch-odd"', 'unknown field "spec.versions[0].schema.openAPIV3Schema.x-kubernetes-odd"'],
    ['it is system:node-agent-api-admin: no orch.io/os.', 'it is system:kubelet-api-admin: no kubernetes.io/os.']
  ] as const) t.equal(publicWords(own), shown)
})

t.test('clients that use our groups and media types get our names', async t => {
  for (const [path, accept, is] of [
    ['/api/v1/pods', undefined, true], ['/apis/rbac.authorization.k8s.io/v1/roles', 'application/json', true], ['/apis/apps/v1', 'application/vnd.kubernetes.protobuf', true], ['/apis/example.com/v1', '*/*', true],
    ['/apis/rbac.authorization.orch.io/v1/roles', undefined, false], ['/apis/rbac.authorization.orch.io', undefined, false], ['/openapi/v3/apis/node.orch.io/v1', undefined, false], ['/api/v1/pods', 'application/vnd.orch.protobuf, */*', false]
  ] as const) t.equal(usesPublicNames(path, { accept }), is, `${path} ${String(accept)}`)
  t.equal(usesPublicNames('/api/v1/pods', { 'content-type': 'application/vnd.orch.protobuf' }), false)
})

t.test('users that others authenticate', async t => {
  t.equal(ownUser('system:kube-scheduler'), 'system:orch-scheduler')
  for (const name of ['system:orch-scheduler', 'system:masters', 'ann']) t.equal(ownUser(name), name)
  for (const [name, own] of [['kubernetes', 'orch'], ['orch', 'kubernetes'], ['kube-proxy', 'orch-proxy']] as const) t.equal(ownUser(name), own)
})

t.test('long text of clients takes time in proportion to its length', async t => {
  const LONG = 2_000_000
  for (const text of [' '.repeat(LONG), 'a'.repeat(LONG), 'a.'.repeat(LONG / 2), '!'.repeat(LONG), '('.repeat(LONG), ','.repeat(LONG), "['".repeat(LONG / 2), 'orch.'.repeat(LONG / 5), `x/${'.storageclass.storage.'.repeat(LONG / 22)}`, ':'.repeat(LONG), 'system:serviceaccounts:'.repeat(LONG / 23)]) {
    for (const [name, change] of Object.entries({ translate, translateLabelSelector, translateFieldSelector, translateFieldPath, translatePath, publicWords })) {
      const changed = change(text)
      t.ok(changed.length >= text.length / 2, name) // what takes quadratic time would take hours
    }
  }
})
