import t from 'tap'
import type { HookCaller } from '../../../admission/webhooks/target.js'
import { OWN_ADMISSION_NAMES } from '../../../admission/names.js'
import { outside } from '../../../plugins/shared/outside.js'

const USER = {
  username: 'system:serviceaccount:kube-system:robot', uid: '1', groups: ['system:serviceaccounts:kube-system'],
  extra: { 'authentication.kubernetes.io/pod-name': ['a'] }
}

t.test('without public names others are told what is here, and nothing is made for that', async t => {
  const own = outside(false)
  const { otherGroup, authenticated, accessReview, auditEvent, admission } = own
  t.same([otherGroup, authenticated, accessReview, auditEvent], Array(4).fill(undefined))
  t.equal(admission, OWN_ADMISSION_NAMES)
  t.equal(own.user(USER), USER)
  const caller = {} as HookCaller // not called
  t.equal(own.reviews(caller), caller)
  t.equal(own.host({ name: 'orch', namespace: 'orch-system' }), 'orch.orch-system.svc')
  t.same(own.ofComponents('orch-scheduler'), ['orch-scheduler'])
  t.equal(own.path('/apis/metrics.orch.io/v1'), '/apis/metrics.orch.io/v1')
})

t.test('with public names they have those, and what they say is made ours', async t => {
  const others = outside(true)
  t.equal(others.otherGroup?.('metrics.orch.io'), 'metrics.k8s.io')
  t.equal(others.path('/apis/metrics.orch.io/v1'), '/apis/metrics.k8s.io/v1')
  t.equal(others.host({ name: 'orch', namespace: 'orch-system' }), 'kubernetes.kube-system.svc')
  t.same(others.ofComponents('orch-scheduler'), ['orch-scheduler', 'kube-scheduler'])
  const own = others.authenticated?.(USER, false)
  t.same(own, {
    username: 'system:serviceaccount:orch-system:robot', uid: '1', groups: ['system:serviceaccounts:orch-system'],
    extra: { 'authentication.orch.io/pod-name': ['a'] }
  })
  t.equal(others.authenticated?.(USER, false), own, 'once for each user object')
  t.same(others.authenticated?.({ ...USER }, true).extra, USER.extra, 'an authenticator may have our keys')
  t.same(others.user(own ?? USER), USER)
  t.same(
    others.accessReview?.({ resourceAttributes: { group: 'rbac.authorization.orch.io', namespace: 'orch-system' } }),
    { resourceAttributes: { group: 'rbac.authorization.k8s.io', namespace: 'kube-system' } }
  )
})

t.test('a webhook is called by its name, with a review under its names, and its answer is read under ours', async t => {
  const asked: string[] = []
  const { reviews } = outside(true)
  const { call } = reviews({
    retain: () => {},
    call: async ({ body, target: { url, displayUrl } }) => {
      asked.push(url.href, displayUrl, body)
      const patch = '[{"op":"add","path":"/metadata/labels/kubernetes.io~1os","value":"a"}]'
      return Buffer.from(`{"response":{"patch":"${Buffer.from(patch).toString('base64')}"}}`)
    }
  })
  const service = { name: 'hooks', namespace: 'orch-system' }
  const answer = await call({
    body: JSON.stringify({
      apiVersion: 'admission.orch.io/v1',
      request: {
        namespace: 'orch-system',
        object: { apiVersion: 'rbac.authorization.orch.io/v1', kind: 'Role', metadata: { labels: {} } }
      }
    }),
    target: {
      url: new URL('https://hooks.orch-system.svc/x'), displayUrl: 'https://hooks.orch-system.svc:443/x', service
    }
  } as Parameters<HookCaller['call']>[0]) // what else there is is passed on
  t.same(asked.slice(0, 2), ['https://hooks.kube-system.svc/x', 'https://hooks.kube-system.svc:443/x'])
  t.match(asked[2], '"apiVersion":"admission.k8s.io/v1"')
  t.match(asked[2], '"namespace":"kube-system"')
  const { response } = JSON.parse(Buffer.from(answer).toString()) as { response: { patch: string } }
  t.match(Buffer.from(response.patch, 'base64').toString(), 'orch.io~1os')
})
