/** Patches that clients send for pods and pod templates. */
import t from 'tap'
import type { Json } from '../../build.js'
import { run } from './scenarios.js'

const containers = (...items: Json[]): Json => ({ spec: { containers: items } })
/** A pod with one container. */
const web = (more: Json): Json => containers({ name: 'web', ...more })
const spec = (spec: Json): Json => ({ spec })

run(t, 'v1', 'Pod', [
  // Containers, by name.
  {
    title: 'an empty patch changes nothing',
    object: web({ image: 'nginx:1' }),
    patch: {},
    gives: web({ image: 'nginx:1' })
  },
  {
    title: 'a container is changed by its name',
    object: containers({ name: 'web', image: 'nginx:1', args: ['-v'] }, { name: 'log', image: 'log:1' }),
    patch: web({ image: 'nginx:2' }),
    gives: containers({ name: 'web', image: 'nginx:2', args: ['-v'] }, { name: 'log', image: 'log:1' })
  },
  {
    title: 'a container of another name is added',
    object: web({ image: 'nginx:1' }),
    patch: containers({ name: 'log', image: 'log:1' }),
    gives: containers({ name: 'log', image: 'log:1' }, { name: 'web', image: 'nginx:1' })
  },
  {
    title: 'a container is deleted by its name',
    object: containers({ name: 'web' }, { name: 'log' }),
    patch: containers({ name: 'log', $patch: 'delete' }),
    gives: containers({ name: 'web' })
  },
  {
    title: 'one is deleted and another changed in one patch',
    object: containers({ name: 'web', image: 'a' }, { name: 'log' }),
    patch: containers({ name: 'log', $patch: 'delete' }, { name: 'web', image: 'b' }),
    gives: containers({ name: 'web', image: 'b' })
  },
  {
    title: 'deleting a container that is not there changes nothing',
    object: web({ image: 'a' }),
    patch: containers({ name: 'none', $patch: 'delete' }),
    gives: web({ image: 'a' })
  },
  {
    title: 'all containers are replaced',
    object: containers({ name: 'web', image: 'a' }, { name: 'log' }),
    patch: containers({ $patch: 'replace' }, { name: 'web', args: ['x'] }),
    gives: web({ args: ['x'] })
  },
  {
    title: 'what stands beside a replacing directive in an item is not an item',
    object: web({ image: 'a' }),
    patch: containers({ name: 'new' }, { name: 'gone', $patch: 'replace' }),
    gives: containers({ name: 'new' })
  },
  {
    title: 'a replacing directive alone empties the list',
    object: web({ image: 'a' }),
    patch: containers({ $patch: 'replace' }),
    gives: containers()
  },
  {
    title: 'an empty list to merge changes nothing',
    object: web({ image: 'a' }),
    patch: containers(),
    gives: web({ image: 'a' })
  },
  {
    title: 'null deletes the list',
    object: { spec: { containers: [{ name: 'web' }], nodeName: 'n' } },
    patch: spec({ containers: null }),
    gives: spec({ nodeName: 'n' })
  },
  {
    title: 'a merging directive says what happens anyway',
    object: web({ image: 'a', args: ['x'] }),
    patch: { $patch: 'merge', ...containers({ name: 'web', image: 'b', $patch: 'merge' }) },
    gives: web({ image: 'b', args: ['x'] })
  },
  {
    title: 'of an item named twice both changes are made',
    object: web({ image: 'a' }),
    patch: containers({ name: 'web', image: 'b' }, { name: 'web', args: ['x'] }),
    gives: web({ image: 'b', args: ['x'] })
  },
  {
    title: 'init containers are merged by name too',
    object: spec({ initContainers: [{ name: 'one', image: 'a' }] }),
    patch: spec({ initContainers: [{ name: 'one', command: ['x'] }] }),
    gives: spec({ initContainers: [{ name: 'one', image: 'a', command: ['x'] }] })
  },
  {
    title: 'a list that was not there is taken',
    object: web({ image: 'a' }),
    patch: spec({ initContainers: [{ name: 'one' }] }),
    gives: spec({ containers: [{ name: 'web', image: 'a' }], initContainers: [{ name: 'one' }] })
  },
  {
    title: 'ephemeral containers, as a debugger adds them',
    object: spec({ ephemeralContainers: [{ name: 'one', image: 'a' }] }),
    patch: spec({ ephemeralContainers: [{ name: 'two', image: 'b', targetContainerName: 'web' }] }),
    gives: spec({
      ephemeralContainers: [{ name: 'two', image: 'b', targetContainerName: 'web' }, { name: 'one', image: 'a' }]
    })
  },

  // What is in a container.
  {
    title: 'an environment variable is changed by its name',
    object: web({ env: [{ name: 'A', value: '1' }, { name: 'B', value: '2' }] }),
    patch: web({ env: [{ name: 'B', value: '3' }] }),
    gives: web({ env: [{ name: 'A', value: '1' }, { name: 'B', value: '3' }] })
  },
  {
    title: 'a variable gets its value from elsewhere',
    object: web({ env: [{ name: 'A', value: '1' }] }),
    patch: web({ env: [{ name: 'A', value: null, valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }),
    gives: web({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] })
  },
  {
    title: 'a variable is deleted',
    object: web({ env: [{ name: 'A', value: '1' }, { name: 'B', value: '2' }] }),
    patch: web({ env: [{ name: 'A', $patch: 'delete' }] }),
    gives: web({ env: [{ name: 'B', value: '2' }] })
  },
  {
    title: 'the last variable is deleted',
    object: web({ env: [{ name: 'A', value: '1' }] }),
    patch: web({ env: [{ name: 'A', $patch: 'delete' }] }),
    gives: web({ env: [] })
  },
  {
    title: 'all variables of a name are deleted',
    object: web({ env: [{ name: 'A', value: '1' }, { name: 'B' }, { name: 'A', value: '2' }] }),
    patch: web({ env: [{ name: 'A', $patch: 'delete' }] }),
    gives: web({ env: [{ name: 'B' }] })
  },
  {
    title: 'of two variables of a name the first is changed',
    object: web({ env: [{ name: 'A', value: '1' }, { name: 'A', value: '2' }] }),
    patch: web({ env: [{ name: 'A', value: '3' }] }),
    gives: web({ env: [{ name: 'A', value: '3' }, { name: 'A', value: '2' }] })
  },
  {
    title: 'sources of variables are replaced as a whole',
    object: web({ envFrom: [{ configMapRef: { name: 'a' } }] }),
    patch: web({ envFrom: [{ secretRef: { name: 'b' } }] }),
    gives: web({ envFrom: [{ secretRef: { name: 'b' } }] })
  },
  {
    title: 'a port is changed by its number',
    object: web({ ports: [{ containerPort: 80, protocol: 'TCP' }, { containerPort: 443 }] }),
    patch: web({ ports: [{ containerPort: 80, name: 'http' }] }),
    gives: web({ ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }, { containerPort: 443 }] })
  },
  {
    title: 'a port is deleted by its number',
    object: web({ ports: [{ containerPort: 80 }, { containerPort: 443 }] }),
    patch: web({ ports: [{ containerPort: 443, $patch: 'delete' }] }),
    gives: web({ ports: [{ containerPort: 80 }] })
  },
  {
    title: 'of two protocols on a port, the first is changed',
    object: web({ ports: [{ containerPort: 53, protocol: 'UDP' }, { containerPort: 53, protocol: 'TCP' }] }),
    patch: web({ ports: [{ containerPort: 53, name: 'dns' }] }),
    gives: web({ ports: [{ containerPort: 53, protocol: 'UDP', name: 'dns' }, { containerPort: 53, protocol: 'TCP' }] })
  },
  {
    title: 'two protocols on a port are both taken where there was no port, yet merging knows but the number',
    object: web({}),
    patch: web({ ports: [{ containerPort: 53, protocol: 'UDP' }, { containerPort: 53, protocol: 'TCP' }] }),
    gives: web({ ports: [{ containerPort: 53, protocol: 'UDP' }, { containerPort: 53, protocol: 'TCP' }] }),
    twice: web({ ports: [{ containerPort: 53, protocol: 'TCP' }, { containerPort: 53, protocol: 'TCP' }] })
  },
  {
    title: 'mounts are merged by the path they are mounted at',
    object: web({ volumeMounts: [{ name: 'data', mountPath: '/a' }, { name: 'data', mountPath: '/b' }] }),
    patch: web({ volumeMounts: [{ mountPath: '/b', readOnly: true }] }),
    gives: web({ volumeMounts: [{ name: 'data', mountPath: '/a' }, { name: 'data', mountPath: '/b', readOnly: true }] })
  },
  {
    title: 'a mount is deleted by its path',
    object: web({ volumeMounts: [{ name: 'data', mountPath: '/a' }, { name: 'data', mountPath: '/b' }] }),
    patch: web({ volumeMounts: [{ mountPath: '/a', $patch: 'delete' }] }),
    gives: web({ volumeMounts: [{ name: 'data', mountPath: '/b' }] })
  },
  {
    title: 'block devices are merged by their path',
    object: web({ volumeDevices: [{ name: 'a', devicePath: '/dev/a' }] }),
    patch: web({ volumeDevices: [{ name: 'b', devicePath: '/dev/a' }] }),
    gives: web({ volumeDevices: [{ name: 'b', devicePath: '/dev/a' }] })
  },
  {
    title: 'arguments and commands are replaced as a whole',
    object: web({ args: ['-a', '-b'], command: ['x'] }),
    patch: web({ args: ['-c'] }),
    gives: web({ args: ['-c'], command: ['x'] })
  },
  {
    title: 'an empty list replaces arguments',
    object: web({ args: ['-a'] }),
    patch: web({ args: [] }),
    gives: web({ args: [] })
  },
  {
    title: 'one limit is changed and another deleted',
    object: web({ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } } }),
    patch: web({ resources: { limits: { cpu: '2', memory: null } } }),
    gives: web({ resources: { limits: { cpu: '2' }, requests: { cpu: '1' } } })
  },
  {
    title: 'capabilities are replaced, list by list',
    object: web({ securityContext: { privileged: false, capabilities: { add: ['A'], drop: ['B'] } } }),
    patch: web({ securityContext: { capabilities: { add: ['C'] } } }),
    gives: web({ securityContext: { privileged: false, capabilities: { add: ['C'], drop: ['B'] } } })
  },
  {
    title: 'a probe of another kind stands beside the old one unless that is deleted',
    object: web({ livenessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 5 } }),
    patch: web({ livenessProbe: { httpGet: null, tcpSocket: { port: 80 } } }),
    gives: web({ livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 5 } })
  },
  {
    title: 'a port named by text replaces one named by number',
    object: web({ readinessProbe: { tcpSocket: { port: 80 } } }),
    patch: web({ readinessProbe: { tcpSocket: { port: 'http' } } }),
    gives: web({ readinessProbe: { tcpSocket: { port: 'http' } } })
  },

  // Volumes, whose sources are members of the volume itself.
  {
    title: 'a volume is added',
    object: spec({ volumes: [{ name: 'a', emptyDir: {} }] }),
    patch: spec({ volumes: [{ name: 'b', configMap: { name: 'c' } }] }),
    gives: spec({ volumes: [{ name: 'b', configMap: { name: 'c' } }, { name: 'a', emptyDir: {} }] })
  },
  {
    title: 'the source of a volume is merged',
    object: spec({ volumes: [{ name: 'a', configMap: { name: 'c', defaultMode: 420 } }] }),
    patch: spec({ volumes: [{ name: 'a', configMap: { name: 'd' } }] }),
    gives: spec({ volumes: [{ name: 'a', configMap: { name: 'd', defaultMode: 420 } }] })
  },
  {
    title: 'another source takes the place of the one before',
    object: spec({ volumes: [{ name: 'a', emptyDir: {} }] }),
    patch: spec({ volumes: [{ name: 'a', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] }),
    gives: spec({ volumes: [{ name: 'a', hostPath: { path: '/x' } }] })
  },
  {
    title: 'a directive is no part of a volume that is added',
    object: spec({ volumes: [{ name: 'a', emptyDir: {} }] }),
    patch: spec({ volumes: [{ name: 'b', $retainKeys: ['name', 'emptyDir'], emptyDir: {} }] }),
    gives: spec({ volumes: [{ name: 'b', emptyDir: {} }, { name: 'a', emptyDir: {} }] })
  },
  {
    title: 'the items of a projection are replaced',
    object: spec({ volumes: [{ name: 'a', configMap: { items: [{ key: 'x', path: 'x' }] } }] }),
    patch: spec({ volumes: [{ name: 'a', configMap: { items: [{ key: 'y', path: 'y' }] } }] }),
    gives: spec({ volumes: [{ name: 'a', configMap: { items: [{ key: 'y', path: 'y' }] } }] })
  },

  // The rest of the spec.
  {
    title: 'tolerations are replaced as a whole',
    object: spec({ tolerations: [{ key: 'a', operator: 'Exists' }, { key: 'b' }] }),
    patch: spec({ tolerations: [{ key: 'a', effect: 'NoSchedule' }] }),
    gives: spec({ tolerations: [{ key: 'a', effect: 'NoSchedule' }] })
  },
  {
    title: 'a marker that tolerations are replaced is none of them',
    object: spec({ tolerations: [{ key: 'a' }] }),
    patch: spec({ tolerations: [{ $patch: 'replace' }, { key: 'b' }] }),
    gives: spec({ tolerations: [{ key: 'b' }] })
  },
  {
    title: 'a toleration cannot be deleted by itself',
    object: spec({ tolerations: [{ key: 'a' }] }),
    patch: spec({ tolerations: [{ key: 'a', $patch: 'delete' }] }),
    code: 422,
    says: /spec\.tolerations\[0\]: this list is replaced/
  },
  {
    title: 'node selectors are merged, label by label',
    object: spec({ nodeSelector: { disk: 'ssd', zone: 'a' } }),
    patch: spec({ nodeSelector: { zone: null, arch: 'arm' } }),
    gives: spec({ nodeSelector: { disk: 'ssd', arch: 'arm' } })
  },
  {
    title: 'pull secrets are merged by name',
    object: spec({ imagePullSecrets: [{ name: 'a' }] }),
    patch: spec({ imagePullSecrets: [{ name: 'b' }, { name: 'a' }] }),
    gives: spec({ imagePullSecrets: [{ name: 'b' }, { name: 'a' }] })
  },
  {
    title: 'host aliases are merged by address',
    object: spec({ hostAliases: [{ ip: '1.1.1.1', hostnames: ['a'] }] }),
    patch: spec({ hostAliases: [{ ip: '1.1.1.1', hostnames: ['b'] }] }),
    gives: spec({ hostAliases: [{ ip: '1.1.1.1', hostnames: ['b'] }] })
  },
  {
    title: 'spread constraints are merged by topology key alone',
    object: spec({
      topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }]
    }),
    patch: spec({
      topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway' }]
    }),
    gives: spec({
      topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway' }]
    })
  },
  {
    title: 'a scalar is changed, one is added, one deleted',
    object: spec({ restartPolicy: 'Always', hostNetwork: true }),
    patch: spec({ restartPolicy: 'Never', hostNetwork: null, priority: 5 }),
    gives: spec({ restartPolicy: 'Never', priority: 5 })
  },
  {
    title: 'null of what is not there says nothing',
    object: spec({ priority: 5 }),
    patch: spec({ nodeName: null, affinity: null }),
    gives: spec({ priority: 5 })
  },
  {
    title: 'an object replaces null, as null is unset',
    object: spec({ affinity: null }),
    patch: spec({ affinity: { nodeAffinity: {} } }),
    gives: spec({ affinity: { nodeAffinity: {} } })
  },

  // Its status, as the node agent reports it.
  {
    title: 'a condition is changed by its type',
    object: {
      status: { conditions: [{ type: 'Ready', status: 'False', reason: 'x' }, { type: 'Initialized', status: 'True' }] }
    },
    patch: { status: { conditions: [{ type: 'Ready', status: 'True', reason: null }] } },
    gives: { status: { conditions: [{ type: 'Ready', status: 'True' }, { type: 'Initialized', status: 'True' }] } }
  },
  {
    title: 'states of containers are replaced as a whole',
    object: { status: { containerStatuses: [{ name: 'a', ready: false }, { name: 'b', ready: true }] } },
    patch: { status: { containerStatuses: [{ name: 'a', ready: true }] } },
    gives: { status: { containerStatuses: [{ name: 'a', ready: true }] } }
  },
  {
    title: 'addresses are merged by address, and ordered',
    object: { status: { podIPs: [{ ip: '10.0.0.1' }] } },
    patch: {
      status: { podIPs: [{ ip: 'fd00::1' }], '$setElementOrder/podIPs': [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] }
    },
    gives: { status: { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] } }
  }
])

const template = (spec: Json): Json => ({ spec: { template: { spec } } })

run(t, 'apps/v1', 'Deployment', [
  {
    title: 'kubectl set image',
    object: template({
      containers: [{ name: 'web', image: 'nginx:1', ports: [{ containerPort: 80 }] }, { name: 'log', image: 'log' }]
    }),
    patch: template({
      '$setElementOrder/containers': [{ name: 'web' }, { name: 'log' }], containers: [{ image: 'nginx:2', name: 'web' }]
    }),
    gives: template({
      containers: [{ name: 'web', image: 'nginx:2', ports: [{ containerPort: 80 }] }, { name: 'log', image: 'log' }]
    })
  },
  {
    title: 'kubectl rollout restart',
    object: { spec: { template: { metadata: { labels: { app: 'web' } } } } },
    patch: { spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } } },
    gives: {
      spec: {
        template: { metadata: { labels: { app: 'web' }, annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } }
      }
    }
  },
  {
    title: 'a variable deep in the template is deleted',
    object: template({ containers: [{ name: 'web', env: [{ name: 'A' }, { name: 'B' }] }] }),
    patch: template({ containers: [{ name: 'web', env: [{ name: 'A', $patch: 'delete' }] }] }),
    gives: template({ containers: [{ name: 'web', env: [{ name: 'B' }] }] })
  },
  {
    title: 'labels of the selector are merged',
    object: { spec: { selector: { matchLabels: { a: '1' }, matchExpressions: [{ key: 'b', operator: 'Exists' }] } } },
    patch: { spec: { selector: { matchLabels: { c: '2' }, matchExpressions: [{ key: 'd', operator: 'Exists' }] } } },
    gives: {
      spec: { selector: { matchLabels: { a: '1', c: '2' }, matchExpressions: [{ key: 'd', operator: 'Exists' }] } }
    }
  },
  {
    title: 'node affinity is merged down to its terms, which are replaced',
    object: template({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }]
          }
        },
        podAffinity: {}
      }
    }),
    patch: template({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }]
          }
        }
      }
    }),
    gives: template({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }]
          }
        },
        podAffinity: {}
      }
    })
  }
])
