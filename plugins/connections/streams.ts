/** exec, attach and port-forward: upgraded connections to the node agent, which implements the protocol. */
import type { RelayedAnswer } from '../../answers/answer.js'
import type { ServedRequest } from '../../answers/request-context.js'
import type { Tunnel } from '../../clients/egress/tunnel.js'
import type { PodAttachOptions, PodExecOptions, PodPortForwardOptions } from '../../schemas/api/core/pod-options.js'
import { badRequest } from '../../schemas/status.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { hostPort, type NodeAgents } from './node-agents.js'
import { containerOf, find } from './objects.js'
import { needsUpgrade, upgrade } from '../shared/forwarding/upgrade.js'

export interface StreamTools {
  readonly resources: ResourceRegistry
  readonly agents: NodeAgents
  /** Aborts at shutdown. */
  readonly ending: AbortSignal
  /** To the cluster. Default direct. */
  readonly tunnel?: Tunnel | undefined
}

type StreamOptions = PodExecOptions | PodAttachOptions | PodPortForwardOptions

/** @param action path segment of the node agent's API */
export const streamTo = (
  action: 'exec' | 'attach' | 'portForward', { resources, agents, ending, tunnel }: StreamTools
) => async (request: ServedRequest, options: StreamOptions): Promise<RelayedAnswer> => {
  const { info: { namespace, name } } = request.orch
  const pod = await find(resources, 'pods', namespace, name)
  const container = action === 'portForward'
    ? ''
    : containerOf(pod, 'container' in options ? options.container ?? '' : '')
  if (!pod.spec.nodeName) throw badRequest(`pod ${name} does not have a host assigned`)
  const { host, address, port } = await agents.of(pod.spec.nodeName)
  const query = parametersOf(options).toString()
  const connection = needsUpgrade(request)
  return await upgrade(request, connection, {
    scheme: 'https',
    host,
    address,
    port,
    path: `${agents.pathOf(action, namespace, name, container)}${query === '' ? '' : `?${query}`}`,
    secureContext: await agents.secureContext(),
    verify: agents.verifies,
    connectTimeout: agents.timeout,
    answerTimeout: agents.timeout,
    call: hostPort(host, port),
    tunnel
  }, ending)
}

/** Option names and the node agent's parameter names, in order. */
const NAMES = [['stderr', 'error'], ['stdin', 'input'], ['stdout', 'output'], ['tty', 'tty']] as const

function parametersOf (options: StreamOptions): URLSearchParams {
  const parameters = new URLSearchParams()
  if ('command' in options) for (const part of options.command ?? []) parameters.append('command', part)
  const flags = options as unknown as Partial<Record<string, unknown>> // members of other option kinds are undefined
  for (const [name, parameter] of NAMES) if (flags[name] === true) parameters.set(parameter, '1')
  if ('ports' in options && (options.ports ?? []).length > 0) parameters.set('port', (options.ports ?? []).join(','))
  return parameters
}
