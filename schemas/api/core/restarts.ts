/** When containers are restarted, and what changes of their resources mean. */
import { list, one, string, type Static } from '../../language/declare.js'
import { message } from './package.js'

/** Names of resources that this API itself knows. */
const KNOWN_RESOURCES = [
  'cpu', 'memory', 'storage', 'ephemeral-storage', 'pods', 'services', 'replicationcontrollers', 'resourcequotas',
  'secrets', 'configmaps', 'persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers', 'requests.cpu',
  'requests.memory', 'requests.storage', 'requests.ephemeral-storage', 'limits.cpu', 'limits.memory',
  'limits.ephemeral-storage'
]

export type ContainerResizePolicy = Static<typeof ContainerResizePolicy>
export const ContainerResizePolicy =
  message('ContainerResizePolicy', 'What a change of one resource means for a running container.', {
    resourceName: string(1, 'The resource: cpu or memory.', { required: true, ruled: true, values: KNOWN_RESOURCES }),
    restartPolicy: string(2, 'NotRequired, or RestartContainer to start the container anew.', {
      required: true, ruled: true, values: ['NotRequired', 'RestartContainer']
    })
  })

export type ContainerRestartRuleOnExitCodes = Static<typeof ContainerRestartRuleOnExitCodes>
export const ContainerRestartRuleOnExitCodes =
  message('ContainerRestartRuleOnExitCodes', 'Exit codes that a rule is for.', {
    operator: string(1, 'Whether the rule is for the codes (In) or for all others (NotIn).', {
      required: true, ruled: true, values: ['In', 'NotIn']
    }),
    values: list(2, 'The exit codes, at most 255.', 'int32', { listType: 'set' })
  })

export type ContainerRestartRule = Static<typeof ContainerRestartRule>
export const ContainerRestartRule = message('ContainerRestartRule', 'What is restarted after certain exit codes.', {
  action: string(1, 'Restart for the container, RestartAllContainers for all of its pod.', {
    required: true, ruled: true, values: ['Restart', 'RestartAllContainers']
  }),
  exitCodes: one(2, 'The exit codes that the rule is for.', ContainerRestartRuleOnExitCodes, { pointer: true })
})

export type ResourceHealth = Static<typeof ResourceHealth>
export const ResourceHealth = message('ResourceHealth', 'Health of one device or the like.', {
  resourceID: string(1, 'Identifier of the device, unique on its node.', { required: true, mayBeEmpty: true }),
  health: string(2, 'Healthy, Unhealthy or Unknown.', { values: ['Healthy', 'Unhealthy', 'Unknown'] }),
  message: string(6, 'Details for a person.', { pointer: true, gate: 'ResourceHealthStatusMessage' })
})

export type ResourceStatus = Static<typeof ResourceStatus>
export const ResourceStatus = message('ResourceStatus', 'Health of the devices that a container has of one resource.', {
  name: string(1, 'Name of the resource, or of a claim as claim:NAME.', {
    required: true, mayBeEmpty: true, values: KNOWN_RESOURCES
  }),
  resources: list(2, 'Health of each device.', ResourceHealth, { listType: 'map', listMapKeys: ['resourceID'] })
})
