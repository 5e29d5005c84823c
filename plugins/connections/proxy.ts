/**
 * Requests to pods, services and nodes through this server: with any method, body and path, and answered with what they
 * answer, but for URLs that would lead past the proxy. Who asked was decided before, and is not passed on.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SecureContext } from 'node:tls'
import { isClientError } from '../../clients/errors.js'
import { send } from '../../clients/outgoing.js'
import { serviceUnavailable } from '../../schemas/status.js'
import { answerHeaders, hasBody, requestHeaders } from './headers.js'
import { besideOurs, stream } from './responses.js'
import type { Destination, Locate } from './destinations.js'
import { hostPort, type NodeAgents } from './node-agents.js'
import { rewriteLinks } from './html.js'
import { cleanPath, encodePath } from './paths.js'
import { rewriteUrl } from './rewriting.js'
import { upgradable, upgrade } from './upgrade.js'

export interface ProxyTools {
  readonly agents: NodeAgents
  /** Aborts when what could go on for ever is to end. */
  readonly ending: AbortSignal
  /** Where our own paths begin. */
  readonly mount: string
}

/** Milliseconds for a connection to a pod or service. */
const CONNECT_TIMEOUT = 30_000

export const proxyTo = (locate: Locate, { agents, ending, mount }: ProxyTools) => async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
  const { info: { namespace, name, path: asked, rest = '' } } = request.orch
  const destination = await locate(namespace, name)
  const url = request.raw.url ?? ''
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : ''
  const backend = hostPort(destination.host, destination.port)
  const target = {
    ...await calling(destination, agents),
    path: `${encodePath(cleanPath(rest)) || '/'}${query}`,
    call: backend
  }
  const connection = upgradable(request)
  if (connection !== undefined) return await upgrade(request, reply, connection, target, ending)
  // Relative links of a page work only below a slash.
  if (rest === '' && (request.method === 'GET' || request.method === 'HEAD')) {
    return reply.code(301).header('location', `${url.split('?', 1)[0] ?? ''}/${query}`).send()
  }
  const prefix = mount + asked.slice(0, asked.length - rest.length)
  const { answer } = await send({
    ...target,
    method: request.method,
    headers: requestHeaders(request.raw, { uri: encodePath(cleanPath(prefix + rest)), client: request.raw.socket.remoteAddress }),
    body: hasBody(request.raw) ? request.raw : undefined,
    upgrade: false
  }, outgoing => { request.orch.onClosed(() => { outgoing.destroy() }) }).catch((error: unknown) => {
    throw isClientError(error) ? serviceUnavailable(`error trying to reach service: ${error.message}`, error) : error
  })
  const headers = answerHeaders(answer)
  const place = { prefix, backend, host: request.raw.headers.host ?? String(request.raw.headers[':authority'] ?? '') }
  const { location, 'content-type': type, 'content-encoding': encoding } = answer.headers
  if (location !== undefined) headers['location'] = rewriteUrl(location, place)
  const page = location === undefined && isPage(type) && request.method !== 'HEAD' && answer.statusCode !== 304 ? rewriteLinks(answer, encoding, place) : undefined
  if (page !== undefined) delete headers['content-length']
  return stream(reply, answer.statusCode ?? 502, besideOurs(reply, headers), page ?? answer)
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

/** A pod has no certificate that could be verified: its address is all that is known of it. */
async function calling ({ scheme, host, address, port, agent }: Destination, agents: NodeAgents): Promise<Calling> {
  const place = { scheme, host, address, port }
  if (!agent) return { ...place, verify: false, connectTimeout: CONNECT_TIMEOUT }
  return { ...place, secureContext: await agents.secureContext(), verify: agents.verifies, connectTimeout: agents.timeout }
}
