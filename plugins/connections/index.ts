/**
 * Connections to pods, services and nodes: logs, exec, attach, port-forward and proxy. The requests pass
 * authentication, authorization, audit and metrics like all others, then admission, and are streamed to a node agent or
 * pod without buffering. Routes find the handlers in `fastify.orchConnections`.
 * @see interface, 'Server start-up options': --node-agent-…
 */
import type { RelayedAnswer } from '../../answers/answer.js'
import type { ServedRequest } from '../../answers/request-context.js'
import {
  NodeProxyOptions, PodAttachOptions, PodExecOptions, PodPortForwardOptions, PodProxyOptions, ServiceProxyOptions
} from '../../schemas/api/core/pod-options.js'
import type { Message } from '../../schemas/language/declare.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { Facts } from '../../schemas/language/types.js'
import { badRequest } from '../../schemas/status.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { admit } from '../../registry/stages/admit.js'
import { OtherWrite } from '../../registry/stages/write.js'
import { allows, refusal } from '../../auth/refusal.js'
import type { Authorizer } from '../../auth/authorizer.js'
import { runParts } from '../shared/lifecycle.js'
import { locateNode, locatePod, locateService, type Locate } from './destinations.js'
import { readLog } from './log.js'
import { NodeAgents, type NodeAgentOptions } from './node-agents.js'
import { optionsFrom } from './options.js'
import { proxyTo } from './proxy.js'
import { streamTo } from './streams.js'
import { plugin } from '../shared/plugin.js'

export type { NodeAgentOptions } from './node-agents.js'

export interface ConnectionOptions {
  readonly nodeAgents?: NodeAgentOptions | undefined
  /** Allows pods, nodes and node agents at loopback and link-local addresses. Default false. */
  readonly nearby?: boolean | undefined
}

/** Handles a request to a connecting subresource. @throws StatusError */
export type Connector = (store: ResourceStore, request: ServedRequest) => Promise<RelayedAnswer>

/** By resource and subresource: `pods/exec`. */
export type Connections = ReadonlyMap<string, Connector>

type Connect<T> = (request: ServedRequest, options: T) => Promise<RelayedAnswer>

/** Parses the options and runs CONNECT admission, which may change them. @throws StatusError */
async function admitted<T extends object> (
  store: ResourceStore, { orch }: ServedRequest, message: Message<T>
): Promise<T> {
  const { info, query } = orch
  if (query.has('dryRun')) throw badRequest('dryRun is not supported')
  const options = optionsFrom(message, query, info.rest === undefined ? {} : { path: info.rest })
  const { group = '', version = '', kind = '' } = message[Facts].type ?? {}
  // Options are not a stored object; admission accesses their members by name.
  const connect = { store, target: info, context: { caller: orch } }
  const write = new OtherWrite(connect, 'CONNECT', options as unknown as ApiObject, kind)
  write.requested = { group, version, kind, plural: store.representation.plural }
  return await admit(write, () => options)
}

/** As its method is GET, a WebSocket was authorized as `get`. @throws StatusError 403 */
async function mayCreate (authorizer: Authorizer, { orch: { user, info } }: ServedRequest): Promise<void> {
  if (info.verb === 'create' || user === undefined) return
  const attributes = { user, info: { ...info, verb: 'create' } }
  const ruling = await authorizer.authorize(attributes)
  if (!allows(ruling)) throw refusal(attributes, ruling.reason ?? '')
}

export default plugin<ConnectionOptions>()(async (fastify, { nodeAgents = {}, nearby = false }) => {
  const {
    orchResources: resources, orchShutdown: shutdown, orchEgress: { cluster: tunnel },
    orchAuthorization: { authorizer },
    orchSettings: { outside: { namespace: shownNamespace }, featureGates: gates }
  } = fastify
  const reach = { nearby, remote: tunnel !== undefined }
  const passesOn = gates.enabled('ExtendWebSocketsToKubelet')
  const agents = new NodeAgents(resources, { reach, shownNamespace, passesOn }, nodeAgents)
  runParts(fastify, 'client of', [agents])

  const tools = {
    gates, resources, agents, ending: shutdown.signal, reach, tunnel, mount: fastify.prefix,
    metrics: fastify.orchMetrics
  }
  const connecting = <T extends object>(message: Message<T>, connect: Connect<T>): Connector =>
    async (store, request) => await connect(request, await admitted(store, request, message))
  const streaming = <T extends object>(message: Message<T>, connect: Connect<T>): Connector => {
    if (!gates.enabled('AuthorizePodWebsocketUpgradeCreatePermission')) return connecting(message, connect)
    return connecting(message, async (request, options) => {
      await mayCreate(authorizer, request)
      return await connect(request, options)
    })
  }
  const proxying = (message: Message<object>, locate: Locate): Connector => connecting(message, proxyTo(locate, tools))
  const log = readLog(tools)

  fastify.decorate('orchConnections', new Map<string, Connector>([
    ['pods/log', (_store, request) => log(request)],
    ['pods/exec', streaming(PodExecOptions, streamTo('exec', tools))],
    ['pods/attach', streaming(PodAttachOptions, streamTo('attach', tools))],
    ['pods/portforward', streaming(PodPortForwardOptions, streamTo('portForward', tools))],
    ['pods/proxy', proxying(PodProxyOptions, locatePod(tools))],
    ['services/proxy', proxying(ServiceProxyOptions, locateService(tools))],
    ['nodes/proxy', proxying(NodeProxyOptions, locateNode(tools))]
  ]))
}, {
  name: 'orch/connections',
  fastify: '5.x',
  decorators: {
    fastify: ['orchAuthorization', 'orchEgress', 'orchMetrics', 'orchResources', 'orchSettings', 'orchShutdown'],
    request: ['orch']
  }
})
