/** Lists and objects of other kinds with merge rules of their own, in each version as it declares them. */
import t from 'tap'
import { representations } from '../../../schemas/resources.js'
import type { Json } from '../../build.js'
import { nameOf, sampleOf } from '../../samples.js'
import { merged, run } from './scenarios.js'

const ports = (...ports: Json[]): Json => ({ spec: { ports } })

run(t, 'v1', 'Service', [
  {
    title: 'a port is changed by its number',
    object: ports({ port: 80, targetPort: 8080, protocol: 'TCP' }, { port: 443 }),
    patch: ports({ port: 80, targetPort: 'http' }),
    gives: ports({ port: 80, targetPort: 'http', protocol: 'TCP' }, { port: 443 })
  },
  {
    title: 'a port is added and another deleted',
    object: ports({ port: 80 }, { port: 443 }),
    patch: ports({ port: 8080 }, { port: 80, $patch: 'delete' }),
    gives: ports({ port: 8080 }, { port: 443 })
  },
  {
    title: 'ports are ordered, as kubectl apply does it',
    object: ports({ port: 80 }),
    patch: { spec: { '$setElementOrder/ports': [{ port: 80 }, { port: 443 }], ports: [{ port: 443 }] } },
    gives: ports({ port: 80 }, { port: 443 })
  },
  {
    title: 'a port without its number is refused',
    object: ports({ port: 80 }),
    patch: ports({ name: 'http', targetPort: 1 }),
    code: 422,
    says: /spec\.ports\[0\]: "port"/
  },
  {
    title: 'a port of another number is another port, though its name is the same',
    object: ports({ name: 'http', port: 80 }),
    patch: ports({ name: 'http', port: 8080 }),
    gives: ports({ name: 'http', port: 8080 }, { name: 'http', port: 80 })
  },
  {
    title: 'a number as text is no number',
    object: ports({ port: 80 }),
    patch: ports({ port: '80' }),
    gives: ports({ port: '80' }, { port: 80 })
  },
  {
    title: 'the selector is merged',
    object: { spec: { selector: { app: 'a', tier: 'b' } } },
    patch: { spec: { selector: { tier: null, app: 'c' } } },
    gives: { spec: { selector: { app: 'c' } } }
  },
  {
    title: 'addresses and ranges are replaced',
    object: { spec: { externalIPs: ['1.1.1.1'], loadBalancerSourceRanges: ['10.0.0.0/8'] } },
    patch: { spec: { externalIPs: ['2.2.2.2'] } },
    gives: { spec: { externalIPs: ['2.2.2.2'], loadBalancerSourceRanges: ['10.0.0.0/8'] } }
  },
  {
    title: 'conditions are merged by type',
    object: { status: { conditions: [{ type: 'A', status: 'True' }], loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } } },
    patch: { status: { conditions: [{ type: 'B', status: 'True' }], loadBalancer: { ingress: [{ ip: '2.2.2.2' }] } } },
    gives: {
      status: {
        conditions: [{ type: 'B', status: 'True' }, { type: 'A', status: 'True' }],
        loadBalancer: { ingress: [{ ip: '2.2.2.2' }] }
      }
    }
  }
])

run(t, 'v1', 'Node', [
  {
    title: 'the node agent reports that it is ready',
    object: {
      status: {
        conditions: [
          { type: 'Ready', status: 'False', lastHeartbeatTime: '1' }, { type: 'DiskPressure', status: 'False' }
        ],
        capacity: { cpu: '4' }
      }
    },
    patch: {
      status: {
        '$setElementOrder/conditions': [{ type: 'DiskPressure' }, { type: 'Ready' }],
        conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2' }]
      }
    },
    gives: {
      status: {
        conditions: [
          { type: 'DiskPressure', status: 'False' }, { type: 'Ready', status: 'True', lastHeartbeatTime: '2' }
        ],
        capacity: { cpu: '4' }
      }
    }
  },
  {
    title: 'addresses are merged by type',
    object: { status: { addresses: [{ type: 'InternalIP', address: '1.1.1.1' }, { type: 'Hostname', address: 'a' }] } },
    patch: { status: { addresses: [{ type: 'InternalIP', address: '2.2.2.2' }] } },
    gives: { status: { addresses: [{ type: 'InternalIP', address: '2.2.2.2' }, { type: 'Hostname', address: 'a' }] } }
  },
  {
    title: 'addresses are replaced where two share a type',
    object: { status: { addresses: [{ type: 'InternalIP', address: '1.1.1.1' }] } },
    patch: {
      status: {
        addresses: [
          { $patch: 'replace' }, { type: 'InternalIP', address: '2.2.2.2' }, { type: 'InternalIP', address: 'fd00::2' }
        ]
      }
    },
    gives: {
      status: { addresses: [{ type: 'InternalIP', address: '2.2.2.2' }, { type: 'InternalIP', address: 'fd00::2' }] }
    }
  },
  {
    title: 'ranges for pods are merged as values',
    object: { spec: { podCIDRs: ['10.0.0.0/24'] } },
    patch: { spec: { podCIDRs: ['fd00::/64', '10.0.0.0/24'] } },
    gives: { spec: { podCIDRs: ['fd00::/64', '10.0.0.0/24'] } }
  },
  {
    title: 'taints are replaced, as kubectl taint sends them',
    object: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
    patch: { spec: { taints: [{ key: 'b', effect: 'NoExecute' }] } },
    gives: { spec: { taints: [{ key: 'b', effect: 'NoExecute' }] } }
  },
  {
    title: 'kubectl cordon',
    object: { spec: { podCIDR: '10.0.0.0/24' } },
    patch: { spec: { unschedulable: true } },
    gives: { spec: { podCIDR: '10.0.0.0/24', unschedulable: true } }
  },
  {
    title: 'kubectl uncordon',
    object: { spec: { unschedulable: true } },
    patch: { spec: { unschedulable: null } },
    gives: { spec: {} }
  }
])

run(t, 'v1', 'ServiceAccount', [
  {
    title: 'secrets are merged by name, pull secrets are replaced',
    object: { secrets: [{ name: 'a' }], imagePullSecrets: [{ name: 'x' }] },
    patch: { secrets: [{ name: 'b' }], imagePullSecrets: [{ name: 'y' }] },
    gives: { secrets: [{ name: 'b' }, { name: 'a' }], imagePullSecrets: [{ name: 'y' }] }
  },
  {
    title: 'a secret is deleted by name',
    object: { secrets: [{ name: 'a' }, { name: 'b' }] },
    patch: { secrets: [{ name: 'a', $patch: 'delete' }] },
    gives: { secrets: [{ name: 'b' }] }
  },
  {
    title: 'a list with an item that has no name cannot be merged',
    object: { secrets: [{ namespace: 'x' }] },
    patch: { secrets: [{ name: 'b' }] },
    code: 422,
    says: /secrets\[0\]: "name"/
  },
  {
    title: 'yet it can be replaced',
    object: { secrets: [{ namespace: 'x' }] },
    patch: { secrets: [{ $patch: 'replace' }, { name: 'b' }] },
    gives: { secrets: [{ name: 'b' }] }
  }
])

const bySelector = (selector: Json): Json => ({ spec: { minAvailable: 1, selector } })
run(t, 'policy/v1', 'PodDisruptionBudget', [
  {
    title: 'its selector is replaced as a whole',
    object: bySelector({ matchLabels: { a: '1' }, matchExpressions: [] }),
    patch: { spec: { selector: { matchLabels: { b: '2' } } } },
    gives: bySelector({ matchLabels: { b: '2' } })
  }
])
run(t, 'policy/v1beta1', 'PodDisruptionBudget', [
  {
    title: 'its selector is merged in the version before',
    object: bySelector({ matchLabels: { a: '1' } }),
    patch: { spec: { selector: { matchLabels: { b: '2' } } } },
    gives: bySelector({ matchLabels: { a: '1', b: '2' } })
  }
])

const metrics = (type: string): Json[] => [{ type, status: 'True' }]
run(t, 'autoscaling/v2', 'HorizontalPodAutoscaler', [
  {
    title: 'conditions are merged, metrics replaced',
    object: { spec: { metrics: [{ type: 'Pods' }] }, status: { conditions: metrics('A') } },
    patch: { spec: { metrics: [{ type: 'Object' }] }, status: { conditions: metrics('B') } },
    gives: { spec: { metrics: [{ type: 'Object' }] }, status: { conditions: [...metrics('B'), ...metrics('A')] } }
  }
])
run(t, 'autoscaling/v2beta2', 'HorizontalPodAutoscaler', [
  {
    title: 'conditions are replaced in the version before',
    object: { status: { conditions: metrics('A') } },
    patch: { status: { conditions: metrics('B') } },
    gives: { status: { conditions: metrics('B') } }
  }
])

run(t, 'admissionregistration.orch.io/v1', 'ValidatingWebhookConfiguration', [
  {
    title: 'a bundle is put into a webhook by its name',
    object: {
      webhooks: [{ name: 'a', clientConfig: { url: 'https://a' }, rules: [{ operations: ['CREATE'] }] }, { name: 'b' }]
    },
    patch: { webhooks: [{ name: 'a', clientConfig: { caBundle: 'AA==' } }] },
    gives: {
      webhooks: [
        { name: 'a', clientConfig: { url: 'https://a', caBundle: 'AA==' }, rules: [{ operations: ['CREATE'] }] },
        { name: 'b' }
      ]
    }
  }
])
run(t, 'rbac.authorization.orch.io/v1', 'ClusterRole', [
  {
    title: 'rules are replaced',
    object: { rules: [{ verbs: ['get'] }], aggregationRule: { clusterRoleSelectors: [{}] } },
    patch: { rules: [{ verbs: ['list'] }] },
    gives: { rules: [{ verbs: ['list'] }], aggregationRule: { clusterRoleSelectors: [{}] } }
  },
  {
    title: 'rules that are null are as if there were none',
    object: { rules: null },
    patch: { rules: [{ verbs: ['list'] }] },
    gives: { rules: [{ verbs: ['list'] }] }
  }
])

const schema = (openAPIV3Schema: Json): Json => ({ spec: { versions: { v: openAPIV3Schema } } })
run(t, 'apiextensions.orch.io/v1', 'CustomResourceDefinition', [
  {
    title: 'versions are replaced, and so are conditions, which say nothing of merging',
    object: { spec: { versions: [{ name: 'v1' }] }, status: { conditions: metrics('A') } },
    patch: { spec: { versions: [{ name: 'v2' }] }, status: { conditions: metrics('B') } },
    gives: { spec: { versions: [{ name: 'v2' }] }, status: { conditions: metrics('B') } }
  },
  {
    title: 'what does not have the declared shape is taken for the decoder to judge',
    object: schema({ type: 'object' }),
    patch: schema({ type: 'string' }),
    gives: schema({ type: 'string' })
  }
])

t.test(
  'schemas, which lie in a list, are merged as they are declared: in places that hold one of several things too',
  async t => {
    const { JSONSchemaProps } = await import('../../../schemas/api/apiextensions/schemas.js')
    const validations = (...rules: string[]): Json => ({ 'x-orch-validations': rules.map(rule => ({ rule })) })
    const before = {
      $ref: 'x',
      properties: { a: { type: 'string', ...validations('one') }, b: { type: 'string' } },
      items: { type: 'object', properties: { c: { type: 'string', ...validations('one') } } },
      additionalProperties: true,
      dependencies: { d: ['x'], e: { type: 'object', ...validations('one') } },
      default: { x: { y: 1 }, z: [1, 2] }
    }
    const patch = {
      $ref: 'y',
      properties: { a: validations('two'), b: null },
      items: { properties: { c: { format: 'date', ...validations('two') } } },
      additionalProperties: { type: 'string' },
      dependencies: { d: ['y'], e: validations('two') },
      default: { x: { w: 2 }, z: [3] }
    }
    t.strictSame(await merged(JSONSchemaProps, before, patch), {
      $ref: 'y',
      properties: { a: { type: 'string', ...validations('two', 'one') } },
      items: { type: 'object', properties: { c: { type: 'string', format: 'date', ...validations('two', 'one') } } },
      additionalProperties: { type: 'string' },
      dependencies: { d: ['y'], e: { type: 'object', ...validations('two', 'one') } },
      default: { x: { y: 1, w: 2 }, z: [3] }
    })
    t.strictSame(
      (await merged(JSONSchemaProps, { items: [{ type: 'string' }] }, { items: [{ format: 'date' }] }))['items'],
      [{ format: 'date' }], 'a list of schemas is replaced'
    )
  }
)

t.test('an object of every kind can be patched with itself and with an empty patch', async t => {
  for (const representation of representations.filter(one => !one.type.virtual)) {
    const { message, group, plural } = representation
    const object = {
      metadata: { name: nameOf(group, plural), labels: { a: 'b' }, finalizers: ['a/b'] }, ...sampleOf(representation)
    }
    t.strictSame(await merged(message, object, {}), object)
    t.strictSame(await merged(message, object, object), object)
    t.strictSame(await merged(message, {}, object), object)
    t.strictSame(await merged(message, object, { $patch: 'replace', ...object }), object)
  }
})
