import t from 'tap'
import { build, type Json } from '../../build.js'

const main = { name: 'main', image: 'nginx' }
const PODS = '/api/v1/namespaces/default/pods'
const pod = (spec: Json): Json => ({ metadata: { name: 'p' }, spec: { containers: [main], ...spec } })
const container = (more: Json): Json => pod({ containers: [{ ...main, ...more }] })

t.test('supported values are listed in the order of upstream, mostly alphabetical', async t => {
  const server = await build(t)
  for (const [url, body, field, ...values] of [
    [
      PODS, container({ ports: [{ containerPort: 80, protocol: 'x' }] }), 'spec.containers[0].ports[0].protocol',
      'SCTP', 'TCP', 'UDP'
    ],
    [
      PODS, container({ imagePullPolicy: 'x' }), 'spec.containers[0].imagePullPolicy', 'Always', 'IfNotPresent', 'Never'
    ],
    [PODS, pod({ restartPolicy: 'x' }), 'spec.restartPolicy', 'Always', 'OnFailure', 'Never'],
    [PODS, pod({ tolerations: [{ key: 'a', operator: 'x' }] }), 'spec.tolerations[0].operator', 'Equal', 'Exists'],
    [
      PODS, pod({ tolerations: [{ key: 'a', operator: 'Exists', effect: 'x' }] }), 'spec.tolerations[0].effect',
      'NoSchedule', 'PreferNoSchedule', 'NoExecute'
    ],
    [
      '/api/v1/namespaces/default/services', { metadata: { name: 's' }, spec: { type: 'x', ports: [{ port: 80 }] } },
      'spec.type', 'ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'
    ],
    [
      '/apis/networking.orch.io/v1/namespaces/default/networkpolicies',
      { metadata: { name: 'n' }, spec: { podSelector: {}, ingress: [{ ports: [{ protocol: 'x' }] }] } },
      'spec.ingress[0].ports[0].protocol', 'TCP', 'UDP', 'SCTP'
    ],
    [
      '/apis/storage.orch.io/v1/storageclasses', { metadata: { name: 's' }, provisioner: 'a.b/c', reclaimPolicy: 'x' },
      'reclaimPolicy', 'Delete', 'Retain'
    ]
  ] as const) {
    const { code, json } = await server.post(`${url}?dryRun=All`, body)
    t.equal(code, 422, field)
    const found = (json['details']?.causes ?? []) as Json[]
    t.same(found.map(({ reason, field }) => `${String(reason)} ${String(field)}`), [`FieldValueNotSupported ${field}`])
    t.match(found[0]?.['message'], `supported values: ${values.map(value => `"${value}"`).join(', ')}`)
  }
})
