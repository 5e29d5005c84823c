/** Messages of causes that clients know, about pods and related objects. */
import t from 'tap'
import { pods } from '../../../../schemas/api/core/pods.js'
import { replicationControllers } from '../../../../schemas/api/core/replicationcontrollers.js'
import { services } from '../../../../schemas/api/core/services.js'
import { validateObject, validateSubresource, validateUpdate } from '../../../../schemas/language/validation.js'
import { describe } from '../../../../schemas/status.js'
import { made, changed, type Change } from '../cases.js'

const c = 'spec.containers[0]'
const pod = {
  metadata: { name: 'web', namespace: 'default' },
  spec: { activeDeadlineSeconds: 9, containers: [{ name: 'main', image: 'nginx' }] }
}
const env = (valueFrom: object): Change => ({ [`${c}.env`]: [{ name: 'A', valueFrom }] })
const user = (runAsUserName: string): Change => ({ 'spec.securityContext.windowsOptions': { runAsUserName } })
const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }
const anti = (term: object): Change => ({
  'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution': [term]
})

const CREATED: ReadonlyArray<readonly [change: Change, field: string, ...told: string[]]> = [
  [
    { 'spec.restartPolicy': 'No' }, 'spec.restartPolicy',
    'Unsupported value: "No": supported values: "Always", "OnFailure", "Never"'
  ],
  [
    { 'spec.dnsPolicy': 'No' }, 'spec.dnsPolicy',
    'Unsupported value: "No": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"'
  ],
  [
    { 'spec.preemptionPolicy': 'No' }, 'spec.preemptionPolicy',
    'Unsupported value: "No": supported values: "PreemptLowerPriority", "Never"'
  ],
  [{ 'spec.preemptionPolicy': '' }, 'spec.preemptionPolicy', 'Required value'],
  [
    { 'spec.tolerations': [{ key: 'a', operator: 'Is' }] }, 'spec.tolerations[0].operator',
    'Unsupported value: "Is": supported values: "Equal", "Exists"'
  ],
  [
    { 'spec.tolerations': [{ key: 'a', effect: 'No' }] }, 'spec.tolerations[0].effect',
    'Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'
  ],
  [{ 'spec.os': {} }, 'spec.os.name', 'Required value: cannot be empty'],
  [
    { 'spec.hostPID': true, 'spec.shareProcessNamespace': true }, 'spec.securityContext.shareProcessNamespace',
    'Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled'
  ],
  [
    { 'spec.securityContext.seccompProfile': {} }, 'spec.securityContext.seccompProfile.type',
    'Required value: type is required when seccompProfile is set'
  ],
  [
    { 'spec.topologySpreadConstraints': [{ ...spread, topologyKey: '' }] },
    'spec.topologySpreadConstraints[0].topologyKey', 'Required value: can not be empty'
  ],
  [
    anti({ topologyKey: '' }),
    'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey',
    'Required value: can not be empty',
    'Invalid value: "": name part must be non-empty',
    "Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
  ],
  [
    env({ fieldRef: { fieldPath: 'spec.containers' } }), `${c}.env[0].valueFrom.fieldRef.fieldPath`,
    'Invalid value: "spec.containers": error converting fieldPath: field label not supported: spec.containers'
  ],
  [
    env({ fieldRef: { fieldPath: "metadata.name['a']" } }),
    `${c}.env[0].valueFrom.fieldRef.fieldPath`,
    'Invalid value: "metadata.name[\'a\']": error converting fieldPath: ' +
    "field label does not support subscript: metadata.name['a']"
  ],
  [
    env({ fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } }), `${c}.env[0].valueFrom.fieldRef.fieldPath`,
    'Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2'
  ],
  [
    env({ resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } }),
    `${c}.env[0].valueFrom.resourceFieldRef.divisor`,
    'Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource'
  ],
  [
    env({ resourceFieldRef: { resource: 'limits.ephemeral-storage', divisor: '2' } }),
    `${c}.env[0].valueFrom.resourceFieldRef.divisor`,
    'Invalid value: "limits.ephemeral-storage": only divisor\'s values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, ' +
    '1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource'
  ],
  [
    { [`${c}.resources`]: { limits: { cpu: '1', 'hugepages-2Mi': '3Mi' } } }, `${c}.resources.limits[hugepages-2Mi]`,
    'Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi'
  ],
  [
    {
      'spec.volumes': [{ name: 'a' }], [`${c}.volumeMounts`]: [{ name: 'a', mountPath: '/a', mountPropagation: 'Up' }]
    },
    `${c}.volumeMounts.mountPropagation`,
    'Unsupported value: "Up": supported values: "Bidirectional", "HostToContainer", "None"'
  ],
  [
    { 'spec.volumes': [{ name: 'a', emptyDir: { sizeLimit: '-1' } }] }, 'spec.volumes[0].emptyDir.sizeLimit',
    'Forbidden: SizeLimit field must be a valid resource quantity'
  ],
  [
    { 'spec.volumes': [{ name: 'a', quobyte: { registry: '', volume: 'v' } }] }, 'spec.volumes[0].quobyte.registry',
    'Required value: must be a host:port pair or multiple pairs separated by commas'
  ],
  [
    {
      'spec.volumes': [
        {
          name: 'a',
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ['ReadWriteOncePod'], resources: { requests: { storage: '1' } } }
            }
          }
        }
      ]
    },
    'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes',
    'Unsupported value: "ReadWriteOncePod": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"'
  ],
  [
    { [`${c}.livenessProbe`]: { exec: { command: ['a'] }, httpGet: { port: 1, scheme: 'FTP' } } },
    `${c}.livenessProbe.httpGet`, 'Forbidden: may not specify more than 1 handler type'
  ],
  [
    user('a\\'), 'spec.securityContext.windowsOptions.runAsUserName',
    'Invalid value: "a\\\\": runAsUserName\'s User cannot be empty'
  ],
  [
    user('?\\a'), 'spec.securityContext.windowsOptions.runAsUserName',
    'Invalid value: "?\\\\a": runAsUserName\'s Domain doesn\'t match the NetBios nor the DNS format'
  ],
  [
    user('a?'), 'spec.securityContext.windowsOptions.runAsUserName',
    'Invalid value: "a?": runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]'
  ]
]

t.test('new pods', async t => {
  for (const [change, field, ...told] of CREATED) {
    const found = validateObject(pods.stored, made(pods, changed(pod, change)))
    t.same([found[0]?.field, ...new Set(found.map(describe))], [field, ...told], field)
  }
})

t.test('pods that are several', async t => {
  const controller = {
    metadata: pod.metadata,
    spec: {
      replicas: 2,
      selector: { a: 'b' },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: pod.spec.containers, volumes: [{ name: 'a', gcePersistentDisk: { pdName: 'd' } }] }
      }
    }
  }
  t.same(
    validateObject(replicationControllers.stored, made(replicationControllers, controller)).map(describe),
    ['Invalid value: false: must be true for replicated pods > 1; ' +
      'GCE PD can only be mounted on multiple machines if it is read-only']
  )
})

t.test('services', async t => {
  const service = { metadata: pod.metadata, spec: { ports: [{ port: 1 }], externalIPs: ['::0'] } }
  t.same(validateObject(services.stored, made(services, service)).map(describe), [
    'Invalid value: "::0": may not be unspecified (::0)'
  ])
})

t.test('pods that run', async t => {
  const told = (change: Change) =>
    validateUpdate(pods.stored, made(pods, changed(pod, change)), made(pods, pod)).map(describe)
  t.same(told({ 'spec.activeDeadlineSeconds': undefined }), ['Invalid value: "null": must not be removed'])
  t.same(told({ 'spec.hostname': 'a' }), [
    'Forbidden: pod updates may not change fields other than `spec.containers[*].image`, ' +
    '`spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing ' +
    'tolerations) or `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'
  ])
  const debugged = changed(pod, { 'spec.ephemeralContainers': [{ name: 'debug', image: 'a' }] })
  const ephemeral = pods.stored.subresources.find(({ name }) => name === 'ephemeralcontainers')
  if (ephemeral === undefined) throw new Error('pods have ephemeral containers')
  t.same(
    validateSubresource(pods.stored, { object: made(pods, pod), old: made(pods, debugged) }, ephemeral).map(describe),
    ['Forbidden: existing ephemeral containers "debug" may not be removed']
  )
  const served = changed(pod, {
    'spec.ephemeralContainers': [
      {
        name: 'debug',
        image: 'a',
        lifecycle: { preStop: { exec: { command: ['a'] } } },
        resources: { limits: { cpu: '1' } },
        ports: [{ containerPort: 1 }]
      }
    ]
  })
  t.same(
    validateSubresource(pods.stored, { object: made(pods, served), old: made(pods, pod) }, ephemeral)
      .map(({ field }) => field),
    ['ports', 'resources', 'lifecycle'].map(field => `spec.ephemeralContainers[0].${field}`)
  )
})
