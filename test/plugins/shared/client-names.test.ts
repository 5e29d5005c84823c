import t from 'tap'
import type { FastifyRequest } from 'fastify'
import { acceptOf, arrivals, headerPrefixOf, OWN, ownUsers } from '../../../plugins/shared/client-names.js'

const QUERY = 'labelSelector=kubernetes.io%2Fos'
const PATH = '/apis/rbac.authorization.k8s.io/v1/roles'

t.test('a client has public names where the server has them, unless its path or media type is ours', async t => {
  const { naming, search, ownPath } = arrivals(true)(PATH, QUERY, {})
  t.equal(search, 'labelSelector=orch.io%2Fos')
  t.equal(ownPath?.(PATH), '/apis/rbac.authorization.orch.io/v1/roles')
  t.equal(headerPrefixOf({ naming }), 'x-kubernetes')
  for (const arrived of [
    arrivals(true)('/apis/rbac.authorization.orch.io/v1/roles', QUERY, {}),
    arrivals(true)(PATH, QUERY, { accept: 'application/vnd.orch.protobuf' }),
    arrivals(false)(PATH, QUERY, {})
  ]) t.same(arrived, { naming: OWN, search: QUERY, ownPath: undefined })
  t.equal(headerPrefixOf({ naming: OWN }), 'x-orch')
})

t.test('media types and users of a client are ours', async t => {
  const { naming } = arrivals(true)(PATH, '', {})
  const asking = (orch: { naming: typeof naming } | undefined): FastifyRequest =>
    ({ orch, headers: { accept: 'application/vnd.kubernetes.protobuf' } }) as FastifyRequest // what is read of it
  t.equal(acceptOf(asking({ naming })), 'application/vnd.orch.protobuf')
  t.equal(acceptOf(asking({ naming: OWN })), 'application/vnd.kubernetes.protobuf')
  t.equal(acceptOf(asking(undefined)), 'application/vnd.kubernetes.protobuf', 'before request info')
  t.same(ownUsers({
    users: ['system:serviceaccount:kube-system:a'], uids: ['1'], groups: ['system:serviceaccounts:kube-system'],
    extra: new Map([['authentication.kubernetes.io/pod-name', ['a']]])
  }, { naming }), {
    users: ['system:serviceaccount:orch-system:a'], uids: ['1'], groups: ['system:serviceaccounts:orch-system'],
    extra: new Map([['authentication.orch.io/pod-name', ['a']]])
  })
})
