import t from 'tap'
import { pods } from '../../../../schemas/api/core/pods.js'
import { creates, type Row } from '../cases.js'

const pod = {
  metadata: { name: 'web', namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'nginx' }] }
}
const table = (title: string, rows: readonly Row[]) => t.test(title, async t => { creates(t, pods, pod, rows) })

table('names within the spec are names', [
  [{ 'spec.serviceAccountName': 'S!' }, 'Invalid spec.serviceAccountName'],
  [
    {
      'spec.nodeName': 'node.1',
      'spec.hostname': 'a',
      'spec.subdomain': 'b',
      'spec.priorityClassName': 'orch.io',
      'spec.runtimeClassName': 'c.d'
    }
  ],
  [{ 'spec.nodeName': 'Node' }, 'Invalid spec.nodeName'],
  [{ 'spec.hostname': 'a.b' }, 'Invalid spec.hostname'],
  [{ 'spec.subdomain': 'a.b' }, 'Invalid spec.subdomain'],
  [{ 'spec.priorityClassName': 'A' }, 'Invalid spec.priorityClassName'],
  [{ 'spec.runtimeClassName': '' }, 'Invalid spec.runtimeClassName'],
  [{ 'spec.imagePullSecrets': [{ name: 'any' }, {}] }],
  [{ 'spec.nodeSelector': { 'a b': 'c', d: 'e/f' } }, 'Invalid spec.nodeSelector'],
  [{ 'metadata.name': 'A' }, 'Invalid metadata.name'],
  [{ 'metadata.labels': { a: 'b c' } }, 'Invalid metadata.labels']
])

table('policies and times', [
  [{ 'spec.restartPolicy': 'Sometimes' }, 'NotSupported spec.restartPolicy'],
  [{ 'spec.dnsPolicy': 'Never' }, 'NotSupported spec.dnsPolicy'],
  [{ 'spec.preemptionPolicy': 'Always' }, 'NotSupported spec.preemptionPolicy'],
  [{ 'spec.activeDeadlineSeconds': 1 }],
  [{ 'spec.activeDeadlineSeconds': 0 }, 'Invalid spec.activeDeadlineSeconds'],
  [{ 'spec.activeDeadlineSeconds': 2147483648 }, 'Invalid spec.activeDeadlineSeconds'],
  [{ 'spec.readinessGates': [{ conditionType: 'example.com/ready' }] }],
  [{ 'spec.readinessGates': [{}] }, 'Invalid spec.readinessGates[0].conditionType'],
  [{ 'spec.readinessGates': [{ conditionType: 'a b' }] }, 'Invalid spec.readinessGates[0].conditionType']
])

table('names are resolved', [
  [{ 'spec.dnsPolicy': 'None' }, 'Required spec.dnsConfig'],
  [{ 'spec.dnsPolicy': 'None', 'spec.dnsConfig': {} }, 'Required spec.dnsConfig.nameservers'],
  [
    {
      'spec.dnsPolicy': 'None',
      'spec.dnsConfig': {
        nameservers: ['8.8.8.8', '2001:db8::1'], searches: ['a.b.', 'c'], options: [{ name: 'ndots', value: '2' }]
      }
    }
  ],
  [
    { 'spec.dnsConfig': { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] } },
    'Invalid spec.dnsConfig.nameservers'
  ],
  [
    { 'spec.dnsConfig': { nameservers: ['dns', 'fe80::1%eth0', '1.1.1.256'] } },
    'Invalid spec.dnsConfig.nameservers[0]', 'Invalid spec.dnsConfig.nameservers[1]',
    'Invalid spec.dnsConfig.nameservers[2]'
  ],
  [{ 'spec.dnsConfig': { nameservers: ['010.000.0.1'] } }],
  [{ 'spec.dnsConfig': { searches: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] } }, 'Invalid spec.dnsConfig.searches'],
  [
    { 'spec.dnsConfig': { searches: [`${'x'.repeat(60)}.`.repeat(4) + 'y', 'z'.repeat(20)] } },
    'Invalid spec.dnsConfig.searches'
  ],
  [{ 'spec.dnsConfig': { searches: ['A'] } }, 'Invalid spec.dnsConfig.searches[0]'],
  [{ 'spec.dnsConfig': { options: [{ value: 'a' }] } }, 'Required spec.dnsConfig.options[0]'],
  [{ 'spec.hostAliases': [{ ip: '10.0.0.1', hostnames: ['a.b'] }] }],
  [{ 'spec.hostAliases': [{ ip: 'x' }] }, 'Invalid spec.hostAliases.ip'],
  [{ 'spec.hostAliases': [{ ip: '::1', hostnames: ['a_b'] }] }, 'Invalid spec.hostAliases.hostnames']
])

const toleration = 'spec.tolerations[0]'
table('tolerations', [
  [{ [toleration]: { key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 3 } }],
  [{ [toleration]: { operator: 'Exists' } }],
  [{ [toleration]: {} }, `Invalid ${toleration}.operator`],
  [{ [toleration]: { key: 'a b', operator: 'Exists' } }, `Invalid ${toleration}.key`],
  [{ [toleration]: { key: 'a', operator: 'Exists', value: 'b' } }, `Invalid ${toleration}.operator`],
  [{ [toleration]: { key: 'a', value: 'b c' } }, `Invalid ${toleration}.operator`],
  [{ [toleration]: { key: 'a', operator: 'In' } }, `NotSupported ${toleration}.operator`],
  [{ [toleration]: { key: 'a', effect: 'Sleep' } }, `NotSupported ${toleration}.effect`],
  [{ [toleration]: { key: 'a', effect: 'NoSchedule', tolerationSeconds: 3 } }, `Invalid ${toleration}.effect`]
])

const required = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution'
const term = `${required}.nodeSelectorTerms[0]`
const rule = `${term}.matchExpressions[0]`
const field = `${term}.matchFields[0]`
const preferred = 'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]'
table('nodes are selected', [
  [{ [required]: {} }, `Required ${required}.nodeSelectorTerms`],
  [{ [term]: {} }],
  [{ [rule]: { key: 'a', operator: 'In', values: ['b'] } }],
  [{ [rule]: { key: 'a', operator: 'In' } }, `Required ${rule}.values`],
  [{ [rule]: { key: 'a', operator: 'NotIn' } }, `Required ${rule}.values`],
  [{ [rule]: { key: 'a', operator: 'Exists', values: ['b'] } }, `Forbidden ${rule}.values`],
  [{ [rule]: { key: 'a', operator: 'Gt', values: ['1', '2'] } }, `Required ${rule}.values`],
  [{ [rule]: { key: 'a', operator: 'Lt', values: ['1'] } }],
  [{ [rule]: { key: 'a', operator: 'Is' } }, `Invalid ${rule}.operator`],
  [{ [rule]: {} }, `Invalid ${rule}.operator`, `Invalid ${rule}.key`],
  [{ [rule]: { key: 'a b', operator: 'Exists' } }, `Invalid ${rule}.key`],
  [{ [field]: { key: 'metadata.name', operator: 'In', values: ['node'] } }],
  [{ [field]: { key: 'metadata.name', operator: 'In', values: ['a', 'b'] } }, `Required ${field}.values`],
  [{ [field]: { key: 'metadata.name', operator: 'Exists' } }, `Invalid ${field}.operator`],
  [{ [field]: { key: 'metadata.name', operator: 'In', values: ['A'] } }, `Invalid ${field}.values[0]`],
  [{ [field]: { key: 'metadata.uid', operator: 'In', values: ['A'] } }, `Invalid ${field}.key`],
  [{ [preferred]: { weight: 1, preference: {} } }],
  [{ [preferred]: { weight: 0, preference: {} } }, `Invalid ${preferred}.weight`],
  [
    { [preferred]: { weight: 101, preference: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
    `Invalid ${preferred}.weight`, `Required ${preferred}.preference.matchExpressions[0].values`
  ]
])

for (const kind of ['podAffinity', 'podAntiAffinity']) {
  const near = `spec.affinity.${kind}.requiredDuringSchedulingIgnoredDuringExecution[0]`
  const rather = `spec.affinity.${kind}.preferredDuringSchedulingIgnoredDuringExecution[0]`
  table(`${kind}: beside which pods`, [
    [{ [near]: { topologyKey: 'zone', labelSelector: { matchLabels: { a: 'b' } } } }],
    [{ [near]: {} }, `Required ${near}.topologyKey`, `Invalid ${near}.topologyKey`],
    [{ [near]: { topologyKey: 'a b' } }, `Invalid ${near}.topologyKey`],
    [{ [near]: { topologyKey: 'zone', namespaces: ['A'] } }, `Invalid ${near}.namespace`],
    [
      { [near]: { topologyKey: 'zone', labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
      `Required ${near}.labelSelector.matchExpressions[0].values`
    ],
    [
      { [near]: { topologyKey: 'zone', namespaceSelector: { matchLabels: { a: 'b c' } } } },
      `Invalid ${near}.namespaceSelector.matchLabels`
    ],
    [{ [rather]: { weight: 100, podAffinityTerm: { topologyKey: 'zone' } } }],
    [
      { [rather]: { weight: -1, podAffinityTerm: {} } }, `Invalid ${rather}.weight`,
      `Required ${rather}.podAffinityTerm.topologyKey`, `Invalid ${rather}.podAffinityTerm.topologyKey`
    ]
  ])
}

const spread = 'spec.topologySpreadConstraints[0]'
table('pods are spread', [
  [{ [spread]: { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' } }],
  [
    { [spread]: {} }, `Invalid ${spread}.maxSkew`, `Required ${spread}.topologyKey`,
    `NotSupported ${spread}.whenUnsatisfiable`
  ],
  [
    { [spread]: { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'Wait' } },
    `NotSupported ${spread}.whenUnsatisfiable`
  ],
  [
    {
      'spec.topologySpreadConstraints': [
        { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 2, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' }
      ]
    },
    `Duplicate ${spread}.{topologyKey, whenUnsatisfiable}`
  ],
  [{
    'spec.topologySpreadConstraints': [
      { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
      { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway' }
    ]
  }]
])

const tolerations = 'metadata.annotations{scheduler.alpha.orch.io/tolerations}'
table('annotations that mean something', [
  [{ 'metadata.annotations{orch.io/config.mirror}': 'x' }, 'Invalid metadata.annotations[orch.io/config.mirror]'],
  [{ 'metadata.annotations{orch.io/config.mirror}': 'x', 'spec.nodeName': 'n' }],
  [{ 'metadata.annotations{controller.orch.io/pod-deletion-cost}': '-010' }],
  ...[
    '+1', '010', '1.5', '2147483648', 'x', ''
  ].map(cost => [
    { 'metadata.annotations{controller.orch.io/pod-deletion-cost}': cost },
    'Invalid metadata.annotations[controller.orch.io/pod-deletion-cost]'
  ] satisfies Row),
  ...[
    '', 'null', '[]', '[{"operator":"Exists","value":null}]', '[{"key":"a","effect":"NoExecute","tolerationSeconds":5}]'
  ].map(text => [{ [tolerations]: text }] satisfies Row),
  ...[
    '{', '{}', '[1]', '[{"key":5}]', '[{"tolerationSeconds":"5"}]'
  ].map(text => [{ [tolerations]: text }, 'Invalid metadata.annotations'] satisfies Row),
  [
    { [tolerations]: '[{},{"key":"a","operator":"In"}]' },
    'Invalid metadata.annotations.scheduler.alpha.orch.io/tolerations[0].operator',
    'NotSupported metadata.annotations.scheduler.alpha.orch.io/tolerations[1].operator'
  ],
  [{ 'metadata.annotations{seccomp.security.alpha.orch.io/pod}': 'runtime/default' }],
  [
    { 'metadata.annotations{seccomp.security.alpha.orch.io/pod}': 'other' },
    'Invalid metadata.annotations.seccomp.security.alpha.orch.io/pod'
  ],
  [
    {
      'metadata.annotations{seccomp.security.alpha.orch.io/pod}': 'unconfined',
      'spec.securityContext.seccompProfile': { type: 'RuntimeDefault' }
    },
    'Forbidden spec.securityContext.seccompProfile.type'
  ],
  [
    {
      'metadata.annotations{container.seccomp.security.alpha.orch.io/main}': 'localhost/a',
      'spec.containers[0].securityContext.seccompProfile': { type: 'Localhost', localhostProfile: 'b' }
    },
    'Forbidden spec.containers[0].securityContext.seccompProfile.localhostProfile'
  ],
  [{ 'metadata.annotations{container.apparmor.security.beta.orch.io/main}': 'localhost/a' }],
  [
    { 'metadata.annotations{container.apparmor.security.beta.orch.io/other}': 'x' },
    'Invalid metadata.annotations[container.apparmor.security.beta.orch.io/other]'
  ]
])
