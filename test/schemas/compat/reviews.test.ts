import t from 'tap'
import { ownClaims, translateClaims } from '../../../schemas/compat/claims.js'
import { publicReview } from '../../../schemas/compat/reviews.js'
import type { Json } from '../../build.js'

const sent = (review: Json): { readonly body: Json, readonly answer: (body: unknown) => Json } => {
  const { body, answer } = publicReview(JSON.stringify(review))
  return {
    body: JSON.parse(body) as Json,
    answer: body => JSON.parse(Buffer.from(answer(Buffer.from(JSON.stringify(body)))).toString()) as Json
  }
}
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')
const widget = (domain: string): Json => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: {
    name: 'a',
    labels: { [`${domain}/os`]: 'x' },
    managedFields: [{ fieldsV1: { 'f:metadata': { 'f:labels': { [`f:${domain}/os`]: {} } } } }]
  },
  spec: { nodeSelector: { 'kubernetes.io/os': 'orch-system' } }
})

t.test('an admission review has public names throughout', async t => {
  const { body, answer } = sent({
    kind: 'AdmissionReview',
    apiVersion: 'admission.orch.io/v1',
    request: {
      uid: 'u', kind: { group: '', version: 'v1', kind: 'Pod' }, requestResource: { group: 'storage.orch.io' },
      resource: { group: '', version: 'v1', resource: 'services' }, name: 'orch', namespace: 'orch-system',
      userInfo: {
        username: 'system:serviceaccount:orch-system:a',
        groups: ['system:serviceaccounts:orch-system'],
        extra: { 'authentication.orch.io/pod-name': ['orch-system'] }
      },
      object: {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { labels: { 'orch.io/os': 'x' } },
        spec: { tolerations: [{ key: 'node.orch.io/not-ready' }], containers: [{ name: 'a', args: ['orch-system'] }] }
      },
      oldObject: null,
      options: { kind: 'CreateOptions', apiVersion: 'meta.orch.io/v1' }
    }
  })
  t.match(body, {
    apiVersion: 'admission.k8s.io/v1',
    request: {
      requestResource: { group: 'storage.k8s.io' }, name: 'kubernetes', namespace: 'kube-system',
      userInfo: {
        username: 'system:serviceaccount:kube-system:a',
        groups: ['system:serviceaccounts:kube-system'],
        extra: { 'authentication.kubernetes.io/pod-name': ['orch-system'] }
      },
      object: {
        metadata: { labels: { 'kubernetes.io/os': 'x' } },
        spec: { tolerations: [{ key: 'node.kubernetes.io/not-ready' }], containers: [{ args: ['orch-system'] }] }
      },
      oldObject: null,
      options: { apiVersion: 'meta.k8s.io/v1' }
    }
  })
  const answered = answer({
    apiVersion: 'admission.k8s.io/v1',
    response: {
      uid: 'u', patch: base64([{ op: 'add', path: '/spec/nodeSelector/kubernetes.io~1os', value: 'kube-system' }])
    }
  })
  t.match(answered, {
    apiVersion: 'admission.orch.io/v1',
    response: { uid: 'u', patch: base64([{ op: 'add', path: '/spec/nodeSelector/orch.io~1os', value: 'kube-system' }]) }
  })
  for (const odd of [
    null, 7, { response: 1 }, { response: { patch: 'no base64 of JSON' } }, { response: { patch: 5 } }
  ]) {
    t.strictSame(answer(odd), odd)
  }
  const { answer: raw } = publicReview('{"kind":"AdmissionReview","apiVersion":"admission.orch.io/v1","request":{}}')
  t.equal(Buffer.from(raw(Buffer.from('no JSON'))).toString(), 'no JSON')
})

t.test('the patch of an answer names objects by what stands beside the names', async t => {
  const rules = [
    { apiGroups: [''], resources: ['namespaces'], resourceNames: ['a'] },
    { apiGroups: [''], resources: ['nodes'], resourceNames: ['a'] }
  ]
  const { answer } = sent({
    kind: 'AdmissionReview',
    apiVersion: 'admission.orch.io/v1',
    request: { object: { kind: 'Role', apiVersion: 'rbac.authorization.orch.io/v1', metadata: {}, rules } }
  })
  const patch = (...names: string[]): Json[] => [
    { op: 'add', path: '/rules/0/resourceNames/-', value: names[0] },
    { op: 'replace', path: '/rules/0/resourceNames', value: [names[0]] },
    { op: 'add', path: '/rules/1/resourceNames/-', value: 'kube-system' }
  ]
  t.strictSame(answer({ response: { patch: base64(patch('kube-system')) } }), {
    response: { patch: base64(patch('orch-system')) }
  })
})

t.test('of subresources the options, of custom types the metadata', async t => {
  const review = (object: Json): Json => (sent({
    kind: 'AdmissionReview', apiVersion: 'admission.orch.io/v1', request: { object }
  }).body)['request'].object as Json
  t.match(
    review({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { namespace: 'orch-system' },
      status: { selector: 'orch.io/os=x' }
    }),
    { metadata: { namespace: 'kube-system' }, status: { selector: 'kubernetes.io/os=x' } }
  )
  t.strictSame(review(widget('orch.io')), widget('kubernetes.io'))
})

t.test('a conversion review', async t => {
  const { body, answer } = sent({
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.orch.io/v1',
    request: { uid: 'u', desiredAPIVersion: 'example.com/v2', objects: [widget('orch.io')] }
  })
  t.match(body, {
    apiVersion: 'apiextensions.k8s.io/v1',
    request: { desiredAPIVersion: 'example.com/v2', objects: [widget('kubernetes.io')] }
  })
  t.match(
    answer({ apiVersion: 'apiextensions.k8s.io/v1', response: { convertedObjects: [widget('kubernetes.io'), 7] } }),
    { apiVersion: 'apiextensions.orch.io/v1', response: { convertedObjects: [widget('orch.io'), 7] } }
  )
})

t.test('claims of both kinds of tokens', async t => {
  const requested = {
    iss: 'https://orch.example',
    sub: 'system:serviceaccount:orch-system:orch-dns',
    'orch.io': {
      namespace: 'orch-system',
      serviceaccount: { name: 'orch-dns', uid: 'u' },
      pod: { name: 'orch', uid: 'orch' },
      warnafter: 5
    },
    exp: 1
  }
  const stock = translateClaims(requested)
  t.strictSame(stock, {
    iss: 'https://orch.example',
    sub: 'system:serviceaccount:kube-system:orch-dns',
    'kubernetes.io': {
      namespace: 'kube-system',
      serviceaccount: { name: 'orch-dns', uid: 'u' },
      pod: { name: 'orch', uid: 'orch' },
      warnafter: 5
    },
    exp: 1
  })
  t.strictSame(ownClaims(stock), requested)
  t.strictSame(ownClaims(requested), requested)
  const kept = {
    iss: 'orch/serviceaccount',
    sub: 'system:serviceaccount:orch-system:a',
    'orch.io/serviceaccount/namespace': 'orch-system',
    'orch.io/serviceaccount/service-account.uid': 'u'
  }
  t.strictSame(translateClaims(kept), {
    iss: 'kubernetes/serviceaccount',
    sub: 'system:serviceaccount:kube-system:a',
    'kubernetes.io/serviceaccount/namespace': 'kube-system',
    'kubernetes.io/serviceaccount/service-account.uid': 'u'
  })
  t.strictSame(ownClaims(translateClaims(kept)), kept)
})
