/** Causes come in the order clients know: that of the convention, and not that in which fields are declared. */
import t from 'tap'
import { configMaps } from '../../../../schemas/api/core/configmaps.js'
import { limitRanges } from '../../../../schemas/api/core/limitranges.js'
import { persistentVolumeClaims } from '../../../../schemas/api/core/persistentvolumeclaims.js'
import { persistentVolumes } from '../../../../schemas/api/core/persistentvolumes.js'
import { podTemplates } from '../../../../schemas/api/core/podtemplates.js'
import { pods } from '../../../../schemas/api/core/pods.js'
import { resourceQuotas } from '../../../../schemas/api/core/resourcequotas.js'
import { services } from '../../../../schemas/api/core/services.js'
import { tells as fields } from '../cases.js'

const pod = { metadata: { name: 'web', namespace: 'default' }, spec: { containers: [{ name: 'main', image: 'nginx' }, { name: 'side', image: 'nginx' }] } }
const service = { metadata: { name: 'web', namespace: 'default' }, spec: { ports: [{ name: 'a', port: 80 }, { name: 'b', port: 81 }] } }
const [c, d] = ['spec.containers[0]', 'spec.containers[1]']

t.test('of new pods', async t => {
  fields(t, pods, pod, { 'spec.restartPolicy': 'Sometimes', 'spec.volumes': [{ name: 'A' }], [`${c}.image`]: '' }, ['spec.volumes[0].name', `${c}.image`, 'spec.restartPolicy'])
  fields(t, pods, pod, { 'spec.initContainers': [{ name: 'setup' }], [`${c}.image`]: '' }, [`${c}.image`, 'spec.initContainers[0].image'])
  fields(t, pods, pod, { [`${c}.imagePullPolicy`]: 'Never again', [`${c}.name`]: 'A', [`${c}.resources`]: { limits: { cpu: '-1' } }, [`${d}.ports`]: [{}], [`${d}.name`]: 'B' },
    [`${c}.name`, `${c}.imagePullPolicy`, `${c}.resources.limits[cpu]`, `${c}.resources.requests[cpu]`, `${d}.name`, `${d}.ports[0].containerPort`])
  fields(t, pods, pod, { [`${c}.startupProbe`]: {}, [`${c}.readinessProbe`]: {}, [`${c}.livenessProbe`]: {}, [`${c}.lifecycle`]: { preStop: {} }, [`${c}.env`]: [{ valueFrom: { secretKeyRef: { name: 'A', key: '' } } }] },
    [`${c}.lifecycle.preStop`, `${c}.livenessProbe`, `${c}.startupProbe`, `${c}.readinessProbe`, `${c}.env[0].name`, `${c}.env[0].valueFrom.secretKeyRef.name`, `${c}.env[0].valueFrom.secretKeyRef.key`])
  fields(t, pods, pod, { 'spec.os': { name: 'plan9' }, 'spec.preemptionPolicy': '', 'spec.hostname': 'A', 'spec.tolerations': [{ key: 'a', operator: 'Is' }], 'spec.nodeSelector': { 'a b': 'c' }, 'spec.dnsPolicy': 'None' },
    ['spec.nodeSelector', 'spec.dnsConfig', 'spec.hostname', 'spec.tolerations[0].operator', 'spec.preemptionPolicy', 'spec.os'])
  fields(t, pods, pod, { 'metadata.annotations{controller.orch.io/pod-deletion-cost}': 'much', [`${c}.image`]: ' ', 'spec.hostname': 'A', 'metadata.labels': { 'a b': '' }, 'spec.ephemeralContainers': [{ name: 'e', image: 'e' }] },
    ['metadata.labels', 'metadata.annotations[controller.orch.io/pod-deletion-cost]', 'spec.hostname', `${c}.image`, 'spec.ephemeralContainers'])
})

t.test('of templates', async t => {
  fields(t, podTemplates, { metadata: pod.metadata, template: { spec: pod.spec } }, { 'template.metadata.labels': { 'a b': '' }, 'template.metadata.annotations': { 'a b': '' }, 'template.spec.containers[1].image': '', 'template.spec.volumes': [{}] },
    ['template.labels', 'template.annotations', 'template.spec.volumes[0].name', 'template.spec.containers[1].image'])
})

t.test('of volumes and claims', async t => {
  const named = { name: 'v' }
  fields(t, persistentVolumes, { metadata: named, spec: {} }, { 'spec.volumeMode': 'Tape', 'spec.persistentVolumeReclaimPolicy': 'Keep', 'spec.nodeAffinity': {}, 'spec.storageClassName': 'A', 'spec.nfs': { path: '/' } },
    ['spec.accessModes', 'spec.capacity', 'spec.persistentVolumeReclaimPolicy', 'spec.nodeAffinity.required', 'spec.nfs.server', 'spec.storageClassName', 'spec.volumeMode'])
  fields(t, persistentVolumeClaims, { metadata: { ...named, namespace: 'default' }, spec: {} }, { 'spec.volumeMode': 'Tape', 'spec.dataSource': { kind: 'A' }, 'spec.storageClassName': 'A' },
    ['spec.accessModes', 'spec.resources[storage]', 'spec.storageClassName', 'spec.volumeMode', 'spec.dataSource.name', 'spec.dataSource'])
})

t.test('of quotas', async t => {
  const selector = (scopeName: string, operator: string) => ({ scopeName, operator })
  fields(t, resourceQuotas, { metadata: pod.metadata, spec: { hard: { pods: '-1', secrets: '1' } } }, { 'spec.scopeSelector.matchExpressions': [selector('PriorityClass', 'Is'), selector('Other', 'Exists')], 'spec.scopes': ['Other'] },
    ['spec.hard[pods]', 'spec.scopes', 'spec.scopeSelector.matchExpressions', 'spec.scopeSelector.matchExpressions.operator', 'spec.scopeSelector.matchExpressions.scopeName'])
})

t.test('of limits', async t => {
  fields(t, limitRanges, { metadata: pod.metadata, spec: { limits: [{ type: 'Pod' }] } }, { 'spec.limits[0]': { type: 'Pod', default: { cpu: '1' }, max: { gpu: '1' }, maxLimitRequestRatio: { disk: '2' } } },
    ['spec.limits[0].max[gpu]', 'spec.limits[0].default', 'spec.limits[0].maxLimitRequestRatio[disk]'])
})

t.test('of services', async t => {
  fields(t, services, service, { 'spec.type': 'Other', 'spec.sessionAffinity': 'Always', 'spec.ports[0].protocol': 'ICMP', 'spec.selector': { 'a b': '' }, 'spec.externalIPs': ['here'] },
    ['spec.ports[0].protocol', 'spec.selector', 'spec.sessionAffinity', 'spec.externalIPs[0]', 'spec.type'])
  fields(t, services, service, { 'spec.ports[0].nodePort': 30000, 'spec.ports[1]': { name: 'A', port: 80, nodePort: 30000 } }, ['spec.ports[1].name', 'spec.ports[0].nodePort', 'spec.ports[1].nodePort', 'spec.ports[1]'])
})

t.test('of updates: most kinds tell what is wrong before what may not change, some the other way round', async t => {
  const old = { ...pod, metadata: { ...pod.metadata, uid: 'u' } }
  fields(t, pods, old, { 'spec.hostname': 'A', 'spec.nodeName': 'n', 'metadata.uid': 'v', [`${c}.image`]: '' }, ['metadata.uid', `${c}.image`, 'spec.hostname', 'spec'], old)
  const held = { ...service, spec: { ...service.spec, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] } }
  fields(t, services, held, { 'spec.ports[0].name': 'A', 'spec.clusterIP': '10.0.0.2', 'spec.clusterIPs': ['10.0.0.2'] }, ['spec.clusterIPs[0]', 'spec.ports[0].name'], held)
  const final = { metadata: pod.metadata, immutable: true, data: { a: 'b' } }
  fields(t, configMaps, final, { data: { 'a b': 'c' } }, ['data', 'data[a b]'], final)
})
