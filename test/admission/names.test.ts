import t from 'tap'
import { admissionNames, OWN_ADMISSION_NAMES } from '../../admission/names.js'
import { Role } from '../../schemas/api/rbac/roles.js'
import { PUBLIC_NAMES } from '../../schemas/compat/naming.js'
import { OWN_NAMES } from '../../schemas/naming.js'

t.test('a server without public names shows what is stored', async t => {
  const names = admissionNames(OWN_NAMES)
  t.equal(names, OWN_ADMISSION_NAMES)
  t.equal(names.group('apps/v1'), 'apps/v1')
  t.strictSame(names.object('{"metadata":{"name":"a"}}'), { metadata: { name: 'a' } })
  t.match(names.decode(Role, { metadata: { name: 'a' } }).object, { metadata: { name: 'a' } })
})

t.test('expressions read and write public names, and what they ask is about ours', async t => {
  const names = admissionNames(PUBLIC_NAMES)
  const sent = {
    apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role',
    metadata: { name: 'a', namespace: 'kube-system', labels: { 'kubernetes.io/os': 'linux' } }
  }
  const { object } = names.decode(Role, structuredClone(sent))
  t.match(object, {
    apiVersion: 'rbac.authorization.orch.io/v1',
    metadata: { namespace: 'orch-system', labels: { 'orch.io/os': 'linux' } }
  })
  t.match(names.object(JSON.stringify(object)), sent)
  t.match(names.asked({
    group: 'rbac.authorization.k8s.io', resource: 'roles', namespace: 'kube-system',
    labelSelector: 'kubernetes.io/os=linux', serviceAccount: { namespace: 'kube-system', name: 'a' }
  }), {
    group: 'rbac.authorization.orch.io', resource: 'roles', subresource: '', namespace: 'orch-system', name: '',
    labelSelector: 'orch.io/os=linux', fieldSelector: '', serviceAccount: { namespace: 'orch-system', name: 'a' }
  })
  t.match(names.asked({ path: '/apis/rbac.authorization.k8s.io' }), { path: '/apis/rbac.authorization.orch.io' })
  t.same(names.images({ annotations: { 'kubernetes.io/os': 'a', mine: 'b' }, namespace: 'kube-system' }), {
    annotations: { 'orch.io/os': 'a', mine: 'b' }, namespace: 'orch-system'
  })
})
