/** exec, attach and port-forward: upgraded connections to the node agent, which implements the protocol. */
import type { RelayedAnswer } from '../../answers/answer.js'
import type { ServedRequest } from '../../answers/request-context.js'
import { send, type Incoming } from '../../clients/outgoing.js'
import type { Tunnel } from '../../clients/egress/tunnel.js'
import type { PodAttachOptions, PodExecOptions, PodPortForwardOptions } from '../../schemas/api/core/pod-options.js'
import { badRequest } from '../../schemas/status.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { hostPort, type NodeAgents } from './node-agents.js'
import { containerOf, find, hasNodes, NO_NODES } from './objects.js'
import { needsUpgrade, upgrade, type UpgradeDestination } from '../shared/forwarding/upgrade.js'
import type { Counter, Metric, Metrics } from '../shared/metric-series.js'
import { ChannelTranslator } from './channels.js'
import { joinMessages } from './tunnel.js'
import { spdyHeaders, translated, tunnelled } from './web-sockets.js'

export interface StreamTools {
  readonly resources: ResourceRegistry
  readonly agents: NodeAgents
  /** Aborts at shutdown. */
  readonly ending: AbortSignal
  /** To the cluster. Default direct. */
  readonly tunnel?: Tunnel | undefined
  readonly metrics: Metrics
}

const translations = (metrics: Metrics): Metric<Counter> => metrics.counter(
  'apiserver_stream_translator_requests_total',
  'Commands over WebSockets whose channels were translated to streams of SPDY, by the code of the outcome.', ['code']
)

const tunnels = (metrics: Metrics): Metric<Counter> => metrics.counter(
  'apiserver_stream_tunnel_requests_total', 'Port-forwards by SPDY within WebSockets, by code.', ['code']
)

type StreamOptions = PodExecOptions | PodAttachOptions | PodPortForwardOptions

/** @param action path segment of the node agent's API */
export const streamTo = (action: 'exec' | 'attach' | 'portForward', tools: StreamTools) => {
  const { resources, agents, ending, tunnel, metrics } = tools
  const outcomes = action === 'portForward' ? tunnels(metrics) : translations(metrics)
  return async (request: ServedRequest, options: StreamOptions): Promise<RelayedAnswer> => {
    const { info: { namespace, name } } = request.orch
    const pod = await find(resources, 'pods', namespace, name)
    const container = action === 'portForward'
      ? ''
      : containerOf(pod, 'container' in options ? options.container ?? '' : '')
    if (!pod.spec.nodeName) {
      throw badRequest(`pod ${name} does not have a host assigned${await hasNodes(resources) ? '' : NO_NODES}`)
    }
    const { host, address, port, speaksWebSockets } = await agents.of(pod.spec.nodeName)
    const query = parametersOf(options).toString()
    const connection = needsUpgrade(request)
    const destination: UpgradeDestination = {
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
    }
    const webSocket = speaksWebSockets ? undefined : (action === 'portForward' ? tunnelled : translated)(request)
    if (webSocket === undefined) return await upgrade(request, connection, destination, ending)
    const headers = spdyHeaders(request, webSocket.protocols)
    if (action === 'portForward') {
      const switching = { headers: webSocket.headers, join: joinMessages }
      const answer = await upgrade(request, connection, { ...destination, headers, switching }, ending)
      outcomes.with(String(answer.kind === 'upgrade' ? 101 : answer.code)).add()
      return answer
    }
    const dial = (): Promise<Incoming> =>
      send({ ...destination, method: 'POST', headers: [...headers, 'Content-Length', '0'], upgrade: true })
    const translation = {
      command: options as PodExecOptions | PodAttachOptions, // not of a port-forward
      dial, ending, perSecond: request.server.orchSettings.connectionBytesPerSecond,
      ended: (code: number) => { outcomes.with(String(code)).add() }
    }
    return {
      kind: 'upgrade',
      connection,
      head: webSocket,
      begin: () => { new ChannelTranslator(connection, translation).begin() }
    }
  }
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
