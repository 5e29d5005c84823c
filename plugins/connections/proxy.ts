/**
 * Proxies requests with any method, body and path to pods, services and nodes. Responses are streamed; URLs that would
 * bypass the proxy are rewritten. Credentials are not forwarded.
 */
import type { RelayedAnswer } from '../../answers/answer.js'
import type { ServedRequest } from '../../answers/request-context.js'
import type { SecureContext } from 'node:tls'
import type { Tunnel } from '../../clients/egress/tunnel.js'
import { isClientError } from '../../clients/errors.js'
import { send } from '../../clients/outgoing.js'
import { serviceUnavailable } from '../../schemas/status.js'
import { answerHeaders, hasBody, requestHeaders } from '../shared/forwarding/headers.js'
import type { Destination, Locate } from './destinations.js'
import { hostPort, type NodeAgents } from './node-agents.js'
import { rewriteLinks } from './html.js'
import { cleanPath, encodePath } from '../shared/forwarding/paths.js'
import { rewriteUrl } from './rewriting.js'
import { upgradable, upgrade } from '../shared/forwarding/upgrade.js'

export interface ProxyTools {
  readonly agents: NodeAgents
  /** Aborts at shutdown; ends upgraded connections. */
  readonly ending: AbortSignal
  /** To the cluster. Default direct. */
  readonly tunnel?: Tunnel | undefined
  /** Mount prefix of the server. */
  readonly mount: string
}

/** Milliseconds to connect to a pod or service. */
const CONNECT_TIMEOUT = 30_000

export const proxyTo = (locate: Locate, { agents, ending, tunnel, mount }: ProxyTools) =>
  async (request: ServedRequest): Promise<RelayedAnswer> => {
    const { info: { namespace, name, path, rest = '' } } = request.orch
    const destination = await locate(namespace, name)
    const url = request.raw.url ?? ''
    const query = url.includes('?') ? url.slice(url.indexOf('?')) : ''
    const backend = hostPort(destination.host, destination.port)
    const target = {
      ...await calling(destination, agents),
      tunnel,
      path: `${encodePath(cleanPath(rest)) || '/'}${query}`,
      call: backend
    }
    const connection = upgradable(request)
    if (connection !== undefined) return await upgrade(request, connection, target, ending)
    // Relative links in a page need a trailing slash.
    if (rest === '' && (request.method === 'GET' || request.method === 'HEAD')) {
      const location = `${url.split('?', 1)[0] ?? ''}/${query}`
      return { kind: 'passed', code: 301, headers: { location }, body: undefined, isProxied: false }
    }
    const prefix = mount + path.slice(0, path.length - rest.length)
    const { answer } = await send({
      ...target,
      method: request.method,
      headers: requestHeaders(request.raw, {
        uri: encodePath(prefix + cleanPath(rest)), client: request.raw.socket.remoteAddress
      }),
      body: hasBody(request.raw) ? request.raw : undefined,
      upgrade: false
    }, outgoing => { request.orch.onClosed(() => { outgoing.destroy() }) }).catch((error: unknown) => {
      throw isClientError(error) ? serviceUnavailable(`error trying to reach service: ${error.message}`, error) : error
    })
    const headers = answerHeaders(answer)
    const place = { prefix, backend, host: request.raw.headers.host ?? String(request.raw.headers[':authority'] ?? '') }
    const { location, 'content-type': type, 'content-encoding': encoding } = answer.headers
    if (location !== undefined) headers['location'] = rewriteUrl(location, place)
    const page = location === undefined && isPage(type) && request.method !== 'HEAD' && answer.statusCode !== 304
      ? rewriteLinks(answer, encoding, place)
      : undefined
    if (page !== undefined) delete headers['content-length']
    return { kind: 'passed', code: answer.statusCode ?? 502, headers, body: page ?? answer, isProxied: true }
  }

const isPage = (type = ''): boolean => type.split(';', 1)[0]?.trim() === 'text/html'

interface Calling {
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly address?: string | undefined
  readonly port: number
  readonly secureContext?: SecureContext | undefined
  readonly verify: boolean
  readonly connectTimeout: number
}

/** Pods and services are not verified: only their address is known, so no certificate could be checked. */
async function calling ({ scheme, host, address, port, agent }: Destination, agents: NodeAgents): Promise<Calling> {
  const place = { scheme, host, address, port }
  if (!agent) return { ...place, verify: false, connectTimeout: CONNECT_TIMEOUT }
  return {
    ...place, secureContext: await agents.secureContext(), verify: agents.verifies, connectTimeout: agents.timeout
  }
}
