import t from 'tap'
import { pods } from '../../../../schemas/api/core/pods.js'
import { creates, type Row } from '../cases.js'

const c = 'spec.containers[0]'
const pod = {
  metadata: { name: 'web', namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'nginx' }] }
}
const table = (title: string, rows: readonly Row[], valid: object = pod) =>
  t.test(title, async t => { creates(t, pods, valid, rows) })

table('containers have names, images and policies', [
  [{}],
  [{ 'spec.containers': [] }, 'Required spec.containers'],
  [{ [`${c}.name`]: '' }, `Required ${c}.name`],
  [{ [`${c}.name`]: 'Main' }, `Invalid ${c}.name`],
  [{ [`${c}.name`]: 'a.b' }, `Invalid ${c}.name`],
  [{ [`${c}.name`]: 'x'.repeat(63) }],
  [{ [`${c}.name`]: 'x'.repeat(64) }, `Invalid ${c}.name`],
  [{ [`${c}.image`]: undefined }, `Required ${c}.image`],
  [{ [`${c}.image`]: ' nginx' }, `Invalid ${c}.image`],
  [{ [`${c}.image`]: 'nginx\n' }, `Invalid ${c}.image`],
  [{ [`${c}.imagePullPolicy`]: 'Sometimes' }, `NotSupported ${c}.imagePullPolicy`],
  [{ [`${c}.imagePullPolicy`]: 'Never' }],
  [{ [`${c}.terminationMessagePolicy`]: 'Stdout' }, `Invalid ${c}.terminationMessagePolicy`],
  [{ [`${c}.terminationMessagePolicy`]: 'FallbackToLogsOnError' }],
  [{ 'spec.containers[1]': { name: 'main', image: 'b' } }, 'Duplicate spec.containers[1].name'],
  [{ 'spec.initContainers': [{ name: 'main', image: 'b' }] }, 'Duplicate spec.initContainers[0].name'],
  [
    { 'spec.initContainers': [{ name: 'a', image: 'b' }, { name: 'a', image: 'b' }] },
    'Duplicate spec.initContainers[1].name'
  ],
  [{ 'spec.initContainers': [{ name: 'setup' }] }, 'Required spec.initContainers[0].image'],
  [{ 'spec.initContainers': [{ name: 'setup', image: ' b' }] }, 'Invalid spec.initContainers[0].image'],
  [
    { 'spec.containers': [{}, {}] }, 'Required spec.containers[0].name', 'Required spec.containers[0].image',
    'Required spec.containers[1].name', 'Required spec.containers[1].image', 'Duplicate spec.containers[1].name'
  ],
  [{ 'spec.ephemeralContainers': [{ name: 'debug', image: 'b' }] }, 'Forbidden spec.ephemeralContainers']
])

table('init containers end by themselves', [
  [
    { 'spec.initContainers': [{ name: 'setup', image: 'b', lifecycle: { preStop: { exec: { command: ['true'] } } } }] },
    'Invalid spec.initContainers[0].lifecycle'
  ],
  [
    { 'spec.initContainers': [{ name: 'setup', image: 'b', livenessProbe: { exec: { command: ['true'] } } }] },
    'Invalid spec.initContainers[0].livenessProbe'
  ],
  [
    { 'spec.initContainers': [{ name: 'setup', image: 'b', readinessProbe: { exec: { command: ['true'] } } }] },
    'Invalid spec.initContainers[0].readinessProbe'
  ],
  [
    { 'spec.initContainers': [{ name: 'setup', image: 'b', startupProbe: { exec: { command: ['true'] } } }] },
    'Invalid spec.initContainers[0].startupProbe'
  ]
])

const port = `${c}.ports[0]`
table('ports are numbers with short names', [
  [{ [port]: { containerPort: 80, hostPort: 8080, name: 'http', protocol: 'SCTP' } }],
  [{ [port]: {} }, `Required ${port}.containerPort`],
  [{ [port]: { containerPort: -1 } }, `Invalid ${port}.containerPort`],
  [{ [port]: { containerPort: 65536 } }, `Invalid ${port}.containerPort`],
  [{ [port]: { containerPort: 65535, hostPort: 65536 } }, `Invalid ${port}.hostPort`],
  [{ [port]: { containerPort: 1, protocol: 'ICMP' } }, `NotSupported ${port}.protocol`],
  [{ [port]: { containerPort: 1, name: 'HTTP' } }, `Invalid ${port}.name`],
  [{ [port]: { containerPort: 1, name: '80' } }, `Invalid ${port}.name`],
  [{ [port]: { containerPort: 1, name: 'a--b' } }, `Invalid ${port}.name`],
  [{ [port]: { containerPort: 1, name: '-a' } }, `Invalid ${port}.name`],
  [{ [port]: { containerPort: 1, name: 'x'.repeat(15) } }],
  [{ [port]: { containerPort: 1, name: 'x'.repeat(16) } }, `Invalid ${port}.name`],
  [
    { [`${c}.ports`]: [{ containerPort: 1, name: 'a' }, { containerPort: 2, name: 'a' }] },
    `Duplicate ${c}.ports[1].name`
  ],
  [
    { [`${c}.ports`]: [{ containerPort: 1, hostPort: 9 }, { containerPort: 2, hostPort: 9 }] },
    `Duplicate ${c}.ports[1].hostPort`
  ],
  [{ [`${c}.ports`]: [{ containerPort: 1, hostPort: 9 }, { containerPort: 2, hostPort: 9, protocol: 'UDP' }] }],
  [{ [`${c}.ports`]: [{ containerPort: 1, hostPort: 9 }, { containerPort: 2, hostPort: 9, hostIP: '10.0.0.1' }] }],
  [
    {
      [`${c}.ports`]: [{ containerPort: 1, hostPort: 9 }],
      'spec.containers[1]': { name: 'b', image: 'b', ports: [{ containerPort: 3, hostPort: 9 }] }
    },
    'Duplicate spec.containers[1].ports[0].hostPort'
  ],
  [
    {
      'spec.initContainers': [
        { name: 'a', image: 'b', ports: [{ containerPort: 1, hostPort: 9 }] },
        { name: 'b', image: 'b', ports: [{ containerPort: 1, hostPort: 9 }] }
      ]
    }
  ],
  [{ 'spec.hostNetwork': true, [port]: { containerPort: 80 } }],
  [{ 'spec.hostNetwork': true, [port]: { containerPort: 80, hostPort: 81 } }, `Invalid ${port}.containerPort`]
])

const env = `${c}.env[0]`
table('environment variables come from one place', [
  [{ [env]: { name: 'A', value: 'b' } }],
  [{ [env]: { name: 'a.b-c_1' } }],
  [{ [env]: {} }, `Required ${env}.name`],
  [{ [env]: { name: '1A' } }, `Invalid ${env}.name`],
  [{ [env]: { name: 'a b' } }, `Invalid ${env}.name`],
  [{ [env]: { name: '..' } }, `Invalid ${env}.name`],
  [{ [env]: { name: '..a' } }, `Invalid ${env}.name`],
  [{ [env]: { name: 'A', valueFrom: {} } }, `Invalid ${env}.valueFrom`],
  [
    { [env]: { name: 'A', value: 'b', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } } },
    `Invalid ${env}.valueFrom`
  ],
  [
    {
      [env]: {
        name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' }, configMapKeyRef: { name: 'c', key: 'k' } }
      }
    },
    `Invalid ${env}.valueFrom`
  ],
  [{ [env]: { name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } } }],
  [{ [env]: { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a/b']" } } } }],
  [
    { [env]: { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } } },
    `Invalid ${env}.valueFrom.fieldRef`
  ],
  [{ [env]: { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['Example.com/b']" } } } }],
  [
    { [env]: { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.name['a']" } } } },
    `Invalid ${env}.valueFrom.fieldRef.fieldPath`
  ],
  [
    { [env]: { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } } },
    `NotSupported ${env}.valueFrom.fieldRef.fieldPath`
  ],
  [
    { [env]: { name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.containers' } } } },
    `Invalid ${env}.valueFrom.fieldRef.fieldPath`
  ],
  [
    { [env]: { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v2' } } } },
    `Invalid ${env}.valueFrom.fieldRef.fieldPath`
  ],
  [{ [env]: { name: 'A', valueFrom: { fieldRef: {} } } }, `Required ${env}.valueFrom.fieldRef.fieldPath`],
  [{ [env]: { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } } }],
  [
    { [env]: { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '10m' } } } },
    `Invalid ${env}.valueFrom.resourceFieldRef.divisor`
  ],
  [{ [env]: { name: 'A', valueFrom: { resourceFieldRef: { resource: 'requests.memory', divisor: '1Mi' } } } }],
  [
    { [env]: { name: 'A', valueFrom: { resourceFieldRef: { resource: 'requests.memory', divisor: '1m' } } } },
    `Invalid ${env}.valueFrom.resourceFieldRef.divisor`
  ],
  [{ [env]: { name: 'A', valueFrom: { resourceFieldRef: { resource: 'requests.hugepages-2Mi' } } } }],
  [
    { [env]: { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.disk' } } } },
    `NotSupported ${env}.valueFrom.resourceFieldRef.resource`
  ],
  [
    { [env]: { name: 'A', valueFrom: { resourceFieldRef: {} } } }, `Required ${env}.valueFrom.resourceFieldRef.resource`
  ],
  [
    { [env]: { name: 'A', valueFrom: { configMapKeyRef: { name: 'c', key: 'a/b' } } } },
    `Invalid ${env}.valueFrom.configMapKeyRef.key`
  ],
  [
    { [env]: { name: 'A', valueFrom: { secretKeyRef: { name: 'C', key: '' } } } },
    `Invalid ${env}.valueFrom.secretKeyRef.name`, `Required ${env}.valueFrom.secretKeyRef.key`
  ],
  [{ [`${c}.envFrom`]: [{ configMapRef: { name: 'c' }, prefix: 'A_' }] }],
  [{ [`${c}.envFrom`]: [{ configMapRef: { name: 'c' }, prefix: '1' }] }, `Invalid ${c}.envFrom[0].prefix`],
  [{ [`${c}.envFrom`]: [{ secretRef: {} }] }, `Required ${c}.envFrom[0].secretRef.name`],
  [{ [`${c}.envFrom`]: [{ secretRef: { name: 'A' } }] }, `Invalid ${c}.envFrom[0].secretRef.name`],
  [{ [`${c}.envFrom`]: [{}] }, `Invalid ${c}.envFrom`],
  [{ [`${c}.envFrom`]: [{ secretRef: { name: 'a' }, configMapRef: { name: 'b' } }] }, `Invalid ${c}.envFrom`]
])

const probe = `${c}.livenessProbe`
table('probes ask in one way', [
  [{ [probe]: { exec: { command: ['true'] } } }],
  [{ [probe]: {} }, `Required ${probe}`],
  [{ [probe]: { exec: {} } }, `Required ${probe}.exec.command`],
  [{ [probe]: { exec: { command: ['true'] }, tcpSocket: { port: 1 } } }, `Forbidden ${probe}.tcpSocket`],
  [{ [probe]: { httpGet: { port: 80 } } }],
  [{ [probe]: { httpGet: { port: 'http' } } }],
  [{ [probe]: { httpGet: { port: 0 } } }, `Invalid ${probe}.httpGet.port`],
  [{ [probe]: { httpGet: { port: 65536 } } }, `Invalid ${probe}.httpGet.port`],
  [{ [probe]: { httpGet: { port: 'Http!' } } }, `Invalid ${probe}.httpGet.port`],
  [{ [probe]: { httpGet: { port: 1, scheme: 'FTP' } } }, `NotSupported ${probe}.httpGet.scheme`],
  [
    { [probe]: { httpGet: { port: 1, httpHeaders: [{ name: 'X-A', value: '' }, { name: 'a b', value: '' }] } } },
    `Invalid ${probe}.httpGet.httpHeaders`
  ],
  [{ [probe]: { tcpSocket: { port: -1 } } }, `Invalid ${probe}.tcpSocket.port`],
  [{ [probe]: { grpc: { port: 9000 } } }],
  [{ [probe]: { grpc: { port: 0 } } }, `Invalid ${probe}.gRPC.port`],
  [{ [probe]: { tcpSocket: { port: 1 }, grpc: { port: 1 } } }, `Forbidden ${probe}.gRPC`],
  [
    {
      [probe]: {
        exec: { command: ['true'] },
        initialDelaySeconds: -1,
        timeoutSeconds: -1,
        periodSeconds: -1,
        failureThreshold: -1
      }
    },
    `Invalid ${probe}.initialDelaySeconds`,
    `Invalid ${probe}.timeoutSeconds`,
    `Invalid ${probe}.periodSeconds`,
    `Invalid ${probe}.failureThreshold`
  ],
  [{ [probe]: { exec: { command: ['true'] }, successThreshold: 2 } }, `Invalid ${probe}.successThreshold`],
  [
    { [probe]: { exec: { command: ['true'] }, terminationGracePeriodSeconds: 0 } },
    `Invalid ${probe}.terminationGracePeriodSeconds`
  ],
  [
    { [`${c}.startupProbe`]: { exec: { command: ['true'] }, successThreshold: 2 } },
    `Invalid ${c}.startupProbe.successThreshold`
  ],
  [{ [`${c}.readinessProbe`]: { exec: { command: ['true'] }, successThreshold: 2 } }],
  [
    { [`${c}.readinessProbe`]: { exec: { command: ['true'] }, terminationGracePeriodSeconds: 3 } },
    `Invalid ${c}.readinessProbe.terminationGracePeriodSeconds`
  ],
  [{ [`${c}.lifecycle`]: { preStop: {} } }, `Required ${c}.lifecycle.preStop`],
  [{ [`${c}.lifecycle`]: { postStart: { exec: {} } } }, `Required ${c}.lifecycle.postStart.exec.command`],
  [
    { [`${c}.lifecycle`]: { postStart: { httpGet: { port: 1 }, tcpSocket: { port: 1 } } } },
    `Forbidden ${c}.lifecycle.postStart.tcpSocket`
  ]
])

const r = `${c}.resources`
table('resources: requests stay within limits', [
  [{ [r]: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } }],
  [{ [r]: { limits: { cpu: '1' }, requests: { cpu: '2' } } }, `Invalid ${r}.requests`],
  [{ [r]: { limits: { cpu: '-1' } } }, `Invalid ${r}.limits[cpu]`, `Invalid ${r}.requests[cpu]`],
  [{ [r]: { requests: { cpu: '-1m' } } }, `Invalid ${r}.requests[cpu]`],
  [{ [r]: { limits: { disk: '1' } } }, `Invalid ${r}.limits[disk]`, `Invalid ${r}.requests[disk]`],
  [{ [r]: { requests: { storage: '1' } } }, `Invalid ${r}.requests[storage]`],
  [{ [r]: { requests: { 'a b': '1' } } }, `Invalid ${r}.requests[a b]`],
  [{ [`${r}.limits{example.com/gpu}`]: '1' }],
  [
    { [`${r}.limits{example.com/gpu}`]: '1500m' }, `Invalid ${r}.limits[example.com/gpu]`,
    `Invalid ${r}.requests[example.com/gpu]`
  ],
  [{ [`${r}.requests{example.com/gpu}`]: '1' }, `Required ${r}.limits`],
  [{ [`${r}.limits{example.com/gpu}`]: '2', [`${r}.requests{example.com/gpu}`]: '1' }, `Invalid ${r}.requests`],
  [
    { [`${r}.limits{requests.example.com/gpu}`]: '1' }, `Invalid ${r}.limits[requests.example.com/gpu]`,
    `Invalid ${r}.requests[requests.example.com/gpu]`
  ],
  [{ [r]: { limits: { 'hugepages-2Mi': '4Mi', cpu: '1' } } }],
  [{ [r]: { limits: { 'hugepages-2Mi': '4Mi' } } }, `Forbidden ${r}`],
  [
    { [r]: { limits: { 'hugepages-2Mi': '3Mi', memory: '1' } } }, `Invalid ${r}.limits[hugepages-2Mi]`,
    `Invalid ${r}.requests[hugepages-2Mi]`
  ],
  [{ [r]: { requests: { 'hugepages-2Mi': '2Mi', memory: '1' } } }, `Required ${r}.limits`],
  [{ 'spec.overhead': { cpu: '100m' } }],
  [
    { 'spec.overhead': { cpu: '-1', disk: '1' } }, 'Invalid spec.overhead.limits[cpu]',
    'Invalid spec.overhead.limits[disk]'
  ]
])

const s = `${c}.securityContext`
table('security contexts', [
  [{ [s]: { privileged: true, runAsUser: 0, runAsGroup: 2147483647, procMount: 'Default' } }],
  [{ [s]: { runAsUser: -1, runAsGroup: 2147483648 } }, `Invalid ${s}.runAsUser`, `Invalid ${s}.runAsGroup`],
  [{ [s]: { allowPrivilegeEscalation: false, privileged: true } }, `Invalid ${s}`],
  [{ [s]: { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } } }, `Invalid ${s}`],
  [{ [s]: { procMount: 'Bare' } }, `NotSupported ${s}.procMount`],
  [{ [s]: { seccompProfile: { type: 'RuntimeDefault' } } }],
  [{ [s]: { seccompProfile: {} } }, `Required ${s}.seccompProfile.type`],
  [{ [s]: { seccompProfile: { type: 'Some' } } }, `NotSupported ${s}.seccompProfile.type`],
  [{ [s]: { seccompProfile: { type: 'Localhost' } } }, `Required ${s}.seccompProfile.localhostProfile`],
  [
    { [s]: { seccompProfile: { type: 'Localhost', localhostProfile: '/a' } } },
    `Invalid ${s}.seccompProfile.localhostProfile`
  ],
  [
    { [s]: { seccompProfile: { type: 'Localhost', localhostProfile: 'a/../b' } } },
    `Invalid ${s}.seccompProfile.localhostProfile`
  ],
  [
    { [s]: { seccompProfile: { type: 'Unconfined', localhostProfile: 'a' } } },
    `Invalid ${s}.seccompProfile.localhostProfile`
  ],
  [
    { [s]: { windowsOptions: { gmsaCredentialSpecName: 'A', gmsaCredentialSpec: '' } } },
    `Invalid ${s}.windowsOptions.gmsaCredentialSpecName`, `Invalid ${s}.windowsOptions.gmsaCredentialSpec`
  ],
  [{ [s]: { windowsOptions: { runAsUserName: 'NT AUTHORITY\\NETWORK SERVICE' } } }],
  ...[
    '', 'a\\b\\c', 'a\tb', 'dom*ain\\x', 'dom\\', 'dom\\ . ', 'a@b', 'u'.repeat(105)
  ].map(name => [
    { [s]: { windowsOptions: { runAsUserName: name } } }, `Invalid ${s}.windowsOptions.runAsUserName`
  ] satisfies Row),
  [{ [s]: { windowsOptions: { hostProcess: true } } }, 'Invalid spec.hostNetwork'],
  [{ [s]: { windowsOptions: { hostProcess: true } }, 'spec.hostNetwork': true }],
  [
    {
      [s]: { windowsOptions: { hostProcess: true } },
      'spec.hostNetwork': true,
      'spec.securityContext.windowsOptions.hostProcess': false
    },
    `Invalid ${s}.windowsOptions.hostProcess`
  ],
  [
    {
      [s]: { windowsOptions: { hostProcess: true } },
      'spec.hostNetwork': true,
      'spec.containers[1]': { name: 'b', image: 'b' }
    },
    'Invalid spec'
  ],
  [
    { 'spec.securityContext': { runAsUser: -1, runAsGroup: -1, fsGroup: -1, supplementalGroups: [1, -1] } },
    'Invalid spec.securityContext.runAsUser', 'Invalid spec.securityContext.runAsGroup',
    'Invalid spec.securityContext.fsGroup', 'Invalid spec.securityContext.supplementalGroups[1]'
  ],
  [{ 'spec.securityContext.fsGroupChangePolicy': 'Never' }, 'NotSupported spec.securityContext.fsGroupChangePolicy'],
  [{ 'spec.securityContext.sysctls': [{ name: 'net/core.somaxconn', value: '1' }] }],
  [
    {
      'spec.securityContext.sysctls': [
        { value: '1' }, { name: 'A', value: '1' }, { name: 'a.b', value: '1' }, { name: 'a.b', value: '2' }
      ]
    },
    'Required spec.securityContext.sysctls[0].name',
    'Invalid spec.securityContext.sysctls[1].name',
    'Duplicate spec.securityContext.sysctls[3].name'
  ],
  [{ 'spec.hostPID': true, 'spec.shareProcessNamespace': true }, 'Invalid spec.securityContext.shareProcessNamespace']
])

table('an operating system leaves no place for options of the other', [
  [{ 'spec.os': { name: 'linux' } }],
  [{ 'spec.os': {} }, 'Required spec.os.name'],
  [{ 'spec.os': { name: 'plan9' } }, 'NotSupported spec.os'],
  [
    { 'spec.os': { name: 'linux' }, [`${s}.windowsOptions`]: {}, 'spec.securityContext.windowsOptions': {} },
    `Forbidden ${s}.windowsOptions`, 'Forbidden spec.securityContext.windowsOptions'
  ],
  [
    {
      'spec.os': { name: 'windows' },
      'spec.hostPID': true,
      [`${s}.privileged`]: false,
      'spec.securityContext.fsGroup': 1
    },
    'Forbidden spec.hostPID',
    `Forbidden ${s}.privileged`,
    'Forbidden spec.securityContext.fsGroup'
  ],
  [
    {
      'spec.os': { name: 'windows' },
      'spec.initContainers': [{ name: 'i', image: 'i', securityContext: { capabilities: {}, runAsUser: 1 } }]
    },
    'Forbidden spec.initContainers[0].securityContext.capabilities',
    'Forbidden spec.initContainers[0].securityContext.runAsUser'
  ]
])
