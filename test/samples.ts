/** A valid object of every stored kind, without its name: as short as people write it, in the preferred version. */
import type { Json } from './build.js'
import { Facts, type Message } from '../schemas/language/types.js'
import type { Representation } from '../schemas/resource.js'
import { REQUEST } from './certificate-requests.js'

const labels = { app: 'web' }
const selector = { matchLabels: labels }
const template = {
  metadata: { labels },
  spec: {
    containers: [
      {
        name: 'web',
        image: 'nginx:1.23',
        ports: [{ containerPort: 80 }],
        resources: { requests: { cpu: '100m', memory: '64Mi' } }
      }
    ]
  }
}
const once = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } }
const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }
const role = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' }
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const webhook = {
  name: 'check.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None',
  clientConfig: { url: 'https://hooks.example.com/check' },
  rules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }]
}

/** By group and plural. */
export const SAMPLES: Readonly<Record<string, Json>> = {
  '/configmaps': { data: { key: 'value' } },
  '/endpoints': { subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ name: 'http', port: 80 }] }] },
  '/events': {
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
    reason: 'Started',
    message: 'Started container',
    type: 'Normal',
    source: { component: 'node-agent' }
  },
  '/limitranges': { spec: { limits: [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '500m' } }] } },
  '/namespaces': {},
  '/nodes': { spec: { podCIDR: '10.2.0.0/24' } },
  '/persistentvolumeclaims': { spec: claim },
  '/persistentvolumes': {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } }
  },
  '/pods': template,
  '/podtemplates': { template },
  '/replicationcontrollers': { spec: { replicas: 2, selector: labels, template } },
  '/resourcequotas': { spec: { hard: { pods: '10', 'requests.cpu': '4' } } },
  '/secrets': { data: { password: 'c2VjcmV0' } },
  '/serviceaccounts': {},
  '/services': { spec: { selector: labels, ports: [{ port: 80, targetPort: 'http' }] } },
  'admissionregistration.orch.io/mutatingwebhookconfigurations': { webhooks: [webhook] },
  'admissionregistration.orch.io/validatingwebhookconfigurations': { webhooks: [webhook] },
  'admissionregistration.orch.io/validatingadmissionpolicies': {
    spec: {
      matchConstraints: {
        resourceRules: [{ operations: ['CREATE'], apiGroups: ['example.com'], apiVersions: ['*'], resources: ['*'] }]
      },
      validations: [{ expression: 'true' }]
    }
  },
  'admissionregistration.orch.io/validatingadmissionpolicybindings': {
    spec: { policyName: 'sample', validationActions: ['Deny'] }
  },
  'admissionregistration.orch.io/mutatingadmissionpolicies': {
    spec: {
      matchConstraints: {
        resourceRules: [{ operations: ['CREATE'], apiGroups: ['example.com'], apiVersions: ['*'], resources: ['*'] }]
      },
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }]
    }
  },
  'admissionregistration.orch.io/mutatingadmissionpolicybindings': { spec: { policyName: 'sample' } },
  'apiextensions.orch.io/customresourcedefinitions': {
    spec: {
      group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } }
            }
          }
        }
      ]
    }
  },
  'apiregistration.orch.io/apiservices': {
    spec: {
      group: 'metrics.example.com',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { namespace: 'default', name: 'metrics' },
      insecureSkipTLSVerify: true
    }
  },
  'apps/controllerrevisions': { revision: 1, data: { spec: {} } },
  'apps/daemonsets': { spec: { selector, template } },
  'apps/deployments': { spec: { replicas: 2, selector, template } },
  'apps/replicasets': { spec: { replicas: 2, selector, template } },
  'apps/statefulsets': {
    spec: {
      replicas: 2,
      selector,
      serviceName: 'web',
      template,
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }]
    }
  },
  'autoscaling/horizontalpodautoscalers': {
    spec: {
      maxReplicas: 5,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      metrics: [
        { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '200Mi' } } }
      ]
    }
  },
  'batch/cronjobs': { spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: once } } } },
  'batch/jobs': { spec: { template: once } },
  'certificates.orch.io/certificatesigningrequests': {
    spec: { signerName: 'example.com/signer', usages: ['client auth'], request: REQUEST }
  },
  'coordination.orch.io/leases': {
    spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: '2026-01-02T03:04:05.000006Z' }
  },
  'discovery.orch.io/endpointslices': {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.2.3'], zone: 'a', nodeName: 'n1', conditions: { ready: true } }],
    ports: [{ name: 'http', port: 80 }]
  },
  'events.orch.io/events': {
    eventTime: '2026-01-02T03:04:05.000006Z', reportingController: 'example.com/controller', reportingInstance: 'one',
    action: 'Start', reason: 'Started', note: 'Started', type: 'Normal',
    regarding: { kind: 'Pod', namespace: 'default', name: 'web' }
  },
  'flowcontrol.apiserver.orch.io/flowschemas': {
    spec: {
      priorityLevelConfiguration: { name: 'global-default' },
      matchingPrecedence: 100,
      rules: [{ subjects: [{ kind: 'User', user: { name: 'ann' } }], resourceRules: [{ ...rule, namespaces: ['*'] }] }]
    }
  },
  'flowcontrol.apiserver.orch.io/prioritylevelconfigurations': {
    spec: { type: 'Limited', limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' } } }
  },
  'internal.apiserver.orch.io/storageversions': { spec: {}, status: {} },
  'networking.orch.io/ingressclasses': { spec: { controller: 'example.com/ingress' } },
  'networking.orch.io/ingresses': {
    spec: {
      rules: [
        {
          host: 'web.example.com',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }]
          }
        }
      ]
    }
  },
  'networking.orch.io/ipaddresses': {
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'web' } }
  },
  'networking.orch.io/servicecidrs': { spec: { cidrs: ['192.0.2.0/24'] } },
  'networking.orch.io/networkpolicies': {
    spec: { podSelector: selector, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] }
  },
  'node.orch.io/runtimeclasses': { handler: 'runc' },
  'policy/poddisruptionbudgets': { spec: { minAvailable: 1, selector } },
  'policy/podsecuritypolicies': {
    spec: {
      seLinux: { rule: 'RunAsAny' },
      runAsUser: { rule: 'RunAsAny' },
      supplementalGroups: { rule: 'RunAsAny' },
      fsGroup: { rule: 'RunAsAny' }
    }
  },
  'rbac.authorization.orch.io/clusterrolebindings': { subjects: [{ kind: 'User', name: 'ann' }], roleRef: role },
  'rbac.authorization.orch.io/clusterroles': { rules: [rule] },
  'rbac.authorization.orch.io/rolebindings': { subjects: [{ kind: 'User', name: 'ann' }], roleRef: role },
  'rbac.authorization.orch.io/roles': { rules: [rule] },
  'resource.orch.io/deviceclasses': {
    spec: { selectors: [{ cel: { expression: 'device.driver == "gpu.example.com"' } }] }
  },
  'resource.orch.io/devicetaintrules': {
    spec: { deviceSelector: { driver: 'gpu.example.com' }, taint: { key: 'broken', effect: 'NoSchedule' } }
  },
  'resource.orch.io/resourceclaims': {
    spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } }
  },
  'resource.orch.io/resourceclaimtemplates': {
    spec: { spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } } }
  },
  'resource.orch.io/resourceslices': {
    spec: {
      driver: 'gpu.example.com',
      nodeName: 'n1',
      pool: { name: 'n1', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'gpu-0' }]
    }
  },
  'scheduling.orch.io/priorityclasses': { value: 1000 },
  'storagemigration.orch.io/storageversionmigrations': {
    spec: { resource: { group: 'apps', resource: 'deployments' } }
  },
  'storage.orch.io/csidrivers': { spec: { attachRequired: false } },
  'storage.orch.io/csinodes': { spec: { drivers: [{ name: 'disk.example.com', nodeID: 'n1' }] } },
  'storage.orch.io/csistoragecapacities': { storageClassName: 'fast', capacity: '10Gi', nodeTopology: selector },
  'storage.orch.io/storageclasses': { provisioner: 'disk.example.com' },
  'storage.orch.io/volumeattributesclasses': { driverName: 'disk.example.com', parameters: { iops: '100' } },
  'storage.orch.io/volumeattachments': {
    spec: { attacher: 'disk.example.com', nodeName: 'n1', source: { persistentVolumeName: 'pv1' } }
  }
}

/** The sample of a resource. One of a group that has none is somebody's own, and gets what its message requires. */
export function sampleOf ({ group, plural, type, message }: Representation): Json {
  const found = SAMPLES[`${group}/${plural}`] ?? SAMPLES[`${type.group}/${plural}`]
  if (found !== undefined) return found
  if (Object.keys(SAMPLES).some(name => name.startsWith(`${group}/`))) {
    throw new Error(`there is no sample of ${group} ${plural}`)
  }
  const { metadata: _, ...required } = requiredOf(message)
  return required
}

function requiredOf (message: Message): Json {
  const values = Object.entries(message[Facts].fields).flatMap((
    [name, { [Facts]: { of, shape, required, values } }]
  ): Array<[string, unknown]> => {
    const inner = typeof of === 'function' ? of() : of
    if (typeof inner !== 'string') return shape === 'one' ? [[name, requiredOf(inner as Message)]] : []
    return required === true && shape === 'one'
      ? [[name, values?.[0] ?? (inner === 'string' ? 'x' : inner === 'bool' ? true : 1)]]
      : []
  })
  return Object.fromEntries(values.filter(([, value]) =>
    typeof value !== 'object' || Object.keys(value as object).length > 0)) as Json
}

/** The versions of samples that are not written in the one that is stored. */
export const WRITTEN_IN: Readonly<Record<string, string>> = {
  horizontalpodautoscalers: 'v2', poddisruptionbudgets: 'v1', endpointslices: 'v1', csistoragecapacities: 'v1'
}

/** Names of kinds that restrict them. */
export function nameOf (group: string, plural: string, index = 0): string {
  const letter = String.fromCharCode(97 + index)
  if (plural === 'customresourcedefinitions') return 'widgets.example.com'
  if (plural === 'ipaddresses') return `192.0.2.${index + 1}`
  if (plural === 'apiservices') return 'v1.metrics.example.com'
  if (plural === 'storageversions') return `example.com.${letter}things`
  return `sample-${letter}`
}
