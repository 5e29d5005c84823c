/** The order in which an update is told all that is wrong with it: field by field as clients know it, and what may not change behind it. */
import t from 'tap'
import { build } from '../../build.js'
import type { Json } from '../../build.js'
import { ALL } from '../../conformance/collections.js'
import { given } from './cases.js'

const labels = { 'a b': 'c' }
const webhook = { sideEffects: 'Some', failurePolicy: 'X', matchPolicy: 'X', timeoutSeconds: 50, objectSelector: { matchLabels: labels }, clientConfig: {}, admissionReviewVersions: ['x', 'x'] }
const rule = { operations: ['X'], apiGroups: [''], apiVersions: [], resources: ['pods'], scope: 'X' }
const WEBHOOK = ['name', 'rules[0].operations[0]', 'rules[0].apiVersions', 'rules[0].scope', 'failurePolicy', 'matchPolicy', 'sideEffects', 'timeoutSeconds', 'objectSelector.matchLabels']
const REACHED = ['clientConfig', 'admissionReviewVersions[1]', 'admissionReviewVersions']
const of = (at: string, ...fields: string[]): string[] => fields.map(field => `${at}${field}`)
const twice = (...fields: string[]): string[] => [...fields, ...fields]
const binding = { roleRef: { apiGroup: 'x', kind: 'X', name: '' }, subjects: [{ kind: 'User', name: '', apiGroup: 'x' }, { kind: 'X', name: 'a' }] }
const BINDING = ['roleRef.apiGroup', 'roleRef.kind', 'roleRef.name', 'subjects[0].name', 'subjects[0].apiGroup', 'subjects[1].kind']
const autoscaler = { spec: { maxReplicas: 0, scaleTargetRef: { kind: '', name: 'a/b' } } }

const CASES: ReadonlyArray<readonly [place: string, before: Json, change: Json, ...fields: string[]]> = [
  ...['v1', 'v2', 'v2beta2', 'v2beta1'].map(version => [`autoscaling/${version} horizontalpodautoscalers`, { spec: { metrics: null } }, autoscaler, ...of('spec.', 'maxReplicas', 'maxReplicas', 'scaleTargetRef.kind', 'scaleTargetRef.name')] as const),
  ['networking.orch.io/v1 ingresses', {}, {
    spec: {
      ingressClassName: 'A_', defaultBackend: { service: { name: 'A_', port: {} }, resource: null }, tls: [{ hosts: ['A b'], secretName: 'A_' }],
      rules: [{ host: '10.0.0.1', http: { paths: [{ pathType: 'X', backend: { resource: { kind: '', name: '' } } }, { path: 'x', pathType: 'Exact', backend: {} }] } }]
    }
  }, ...of('spec.', 'defaultBackend.service.name', 'defaultBackend', ...of('rules[0].', 'host', ...of('http.paths', '[0].pathType', '[0].backend.resource.kind', '[0].backend.resource.name', '[1].path', '[1].backend')), 'tls[0].hosts[0]', 'tls[0].secretName', 'ingressClassName')],
  ['networking.orch.io/v1 ingressclasses', {}, { spec: { controller: 'x', parameters: { apiGroup: 'A_', kind: '', name: '', scope: 'X' } } }, ...of('spec.', 'controller', 'controller', ...of('parameters.', 'apiGroup', 'kind', 'name', 'scope'))],
  ['networking.orch.io/v1 networkpolicies', {}, { spec: { podSelector: { matchLabels: labels }, ingress: [{ ports: [{ port: 0 }], from: [{}] }], egress: [{ to: [{}], ports: [{ port: 0 }] }], policyTypes: ['X'] } },
    ...twice(...of('spec.', 'podSelector.matchLabels', 'ingress[0].ports[0].port', 'ingress[0].from[0]', 'egress[0].ports[0].port', 'egress[0].to[0]', 'policyTypes[0]'))],
  ['scheduling.orch.io/v1 priorityclasses', {}, { value: 7, preemptionPolicy: 'X' }, 'value', 'preemptionPolicy'],
  ['node.orch.io/v1 runtimeclasses', {}, { handler: 'B_', overhead: { podFixed: { pods: '-1' } }, scheduling: { nodeSelector: labels } }, 'handler', 'overhead.limits[pods]', 'overhead.limits[pods]', 'scheduling.nodeSelector', 'handler'],
  ['flowcontrol.apiserver.orch.io/v1beta2 flowschemas', {}, {
    spec: { matchingPrecedence: -1, distinguisherMethod: { type: 'X' }, priorityLevelConfiguration: { name: '' }, rules: [{ subjects: [{ kind: 'X' }, { kind: 'User', user: { name: '' } }], resourceRules: [], nonResourceRules: [] }] }
  }, ...of('spec.', 'matchingPrecedence', 'distinguisherMethod.type', 'priorityLevelConfiguration.name', ...of('rules[0]', '.subjects[0].kind', '.subjects[1].user.name', ''))],
  ['admissionregistration.orch.io/v1 validatingwebhookconfigurations', {}, { webhooks: [{ name: 'x', ...webhook, rules: [rule] }] }, ...of('webhooks[0].', ...WEBHOOK, ...REACHED)],
  ['admissionregistration.orch.io/v1 mutatingwebhookconfigurations', {}, { webhooks: [{ name: 'x', ...webhook, rules: [rule], reinvocationPolicy: 'X' }] }, ...of('webhooks[0].', ...WEBHOOK, 'reinvocationPolicy', ...REACHED)],
  ['discovery.orch.io/v1 endpointslices', {}, { addressType: 'IPv6', endpoints: [{ addresses: ['fd00::1'], nodeName: '!' }], ports: [{ name: 'A_', protocol: 'X', appProtocol: '!' }] }, 'endpoints[0].nodeName', ...of('ports[0].', 'name', 'protocol', 'appProtocol'), 'addressType'],
  ['v1 endpoints', {}, { subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ name: 'A_', port: 0, protocol: 'X' }] }, {}] }, 'subsets[0].addresses[0].ip', ...of('subsets[0].ports[0].', 'name', 'port', 'protocol'), 'subsets[1]'],
  ['storage.orch.io/v1 csinodes', { spec: { drivers: [{ name: 'a', nodeID: 'n' }] } }, { spec: { drivers: [{ name: 'a', nodeID: '', allocatable: { count: -1 } }, { name: 'a', nodeID: 'b' }] } },
    ...twice(...of('spec.drivers', '[0].nodeID', '[0].allocatable.count', '[1].name')), 'CSINodeDriver', 'CSINodeDriver'],
  ['storage.orch.io/v1 csidrivers', {}, { spec: { attachRequired: true, podInfoOnMount: true, fsGroupPolicy: 'X', volumeLifecycleModes: ['X'], tokenRequests: [{ audience: 'a' }, { audience: 'a' }] } },
    ...of('spec.', 'attachedRequired', 'fsGroupPolicy', 'podInfoOnMount', 'volumeLifecycleModes', 'tokenRequests[1].audience', 'fsGroupPolicy', 'tokenRequests[1].audience', 'volumeLifecycleModes')],
  ['storage.orch.io/v1 storageclasses', {}, { provisioner: 'B_!', parameters: { '': 'x' }, reclaimPolicy: 'X', volumeBindingMode: 'X' }, 'provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode', 'parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'],
  ['storage.orch.io/v1 csistoragecapacities', {}, { storageClassName: 'A_', nodeTopology: { matchLabels: labels } }, 'nodeTopology.matchLabels', 'storageClassName', 'nodeTopology', 'storageClassName'],
  ['storage.orch.io/v1 volumeattachments', {}, { spec: { attacher: '', nodeName: 'N_', source: { persistentVolumeName: '' } } }, ...twice(...of('spec.', 'attacher', 'source.persistentVolumeName', 'nodeName')), 'spec'],
  ['rbac.authorization.orch.io/v1 clusterrolebindings', {}, { ...binding, subjects: [...binding.subjects, { kind: 'ServiceAccount', name: 'A_' }] }, ...twice(...BINDING, 'subjects[2].name', 'subjects[2].namespace'), 'roleRef'],
  ['rbac.authorization.orch.io/v1 rolebindings', {}, binding, ...twice(...BINDING), 'roleRef']
]

t.test('causes of an update come in the order of the convention', async t => {
  const server = await build(t, ALL)
  for (const [place, before, change, ...fields] of CASES) {
    const { url } = await given(server, place, before)
    const { json } = await server.patch(url, change)
    t.same((json['details']?.causes as Json[] | undefined)?.map(({ field }) => field), fields, place)
  }
})

t.test('kinds of roles that a binding may name are told as it knows them', async t => {
  const server = await build(t)
  for (const [place, kinds] of [['clusterrolebindings', '"ClusterRole"'], ['rolebindings', '"Role", "ClusterRole"']] as const) {
    const { url } = await given(server, `rbac.authorization.orch.io/v1 ${place}`, {})
    const { json } = await server.patch(url, { roleRef: { kind: 'X' } })
    t.equal(json['details'].causes[0].message, `Unsupported value: "X": supported values: ${kinds}`)
  }
})

t.test('so do those of a new request for a certificate', async t => {
  const server = await build(t)
  const { json } = await server.post('/apis/certificates.orch.io/v1/certificatesigningrequests', { metadata: { name: 'a' }, spec: { signerName: 'x', usages: ['x', 'x'], request: 'eA==', expirationSeconds: 5 } })
  t.same((json['details'].causes as Json[]).map(({ field }) => field), ['request', 'usages[0]', 'usages[1]', 'usages[1]', 'signerName', 'expirationSeconds'].map(field => `spec.${field}`))
})
