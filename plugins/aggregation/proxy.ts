/**
 * Proxies requests to extension servers, after all hooks. Headers name the user; the extension server trusts them
 * because of this server's client certificate. Bodies, watches and upgrades are streamed. Redirects are refused,
 * except from one hash of an OpenAPI document to the next.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { RelayedAnswer } from '../../answers/answer.js'
import type { ServedRequest } from '../../answers/request-context.js'
import type { ClientCertificate } from '../../clients/client-certificate.js'
import { isClientError, reasonOf, type ClientError } from '../../clients/errors.js'
import { send, type Incoming, type OutgoingRequest } from '../../clients/outgoing.js'
import type { RegisteredService } from '../../controllers/aggregation/registered-services.js'
import { internalError, StatusError } from '../../schemas/status.js'
import { answerHeaders, hasBody } from '../shared/forwarding/headers.js'
import { encodePath } from '../shared/forwarding/paths.js'
import { isRedirect, redirected } from '../shared/forwarding/responses.js'
import { upgradable, upgrade } from '../shared/forwarding/upgrade.js'
import { isLongRunning } from '../shared/request-kinds.js'
import type { Pool, Pools } from './pools.js'
import { shownRequest, targetOf, type Routing } from './target.js'
import { type Passed, passedHeaders, UnsendableUser } from './user-headers.js'

export interface RemoteProxyTools extends Routing {
  readonly certificate: ClientCertificate
  readonly pools: Pools
  /** Aborts at shutdown; ends watches and upgraded connections. */
  readonly ending: AbortSignal
  /** This server's entry in Via headers. */
  readonly via: string
  readonly certificates: Pick<OutgoingRequest, 'missingName' | 'weakSignature'>
  /** Whether extension servers learn the UID of the user. */
  readonly sendsUid: boolean
}

export type RemoteProxy =
  (service: RegisteredService, request: ServedRequest) => Promise<RelayedAnswer>

const CONNECT_TIMEOUT = 30_000
/** Discovery should be fast: every client waits for all of it. */
const DISCOVERY_TIMEOUT = 5000
const DISCOVERY_SEGMENTS = 3

/** Expected, because the condition of the APIService reports it; not logged for each request. */
const unavailable = (message: string, cause?: unknown) =>
  new StatusError('ServiceUnavailable', message, { cause, unlogged: true })
const unreachable = (error: ClientError) => unavailable(`error trying to reach service: ${error.message}`, error)

const notSwitched = (answer: IncomingMessage) =>
  isRedirect(answer) ? redirected() : unavailable(`invalid upgrade response: status code ${answer.statusCode ?? 0}`)

const isDiscovery = (path: string): boolean => path.split('/').filter(part => part !== '').length === DISCOVERY_SEGMENTS

export function remoteProxy (tools: RemoteProxyTools): RemoteProxy {
  const { ending, via, certificates, sendsUid } = tools
  return async ({ name, remote, available }, request) => {
    const { orch, raw } = request
    if (remote === undefined || !available) throw unavailable('service unavailable')
    if (passedBy(raw.headers.via, via)) {
      throw unavailable(`this server has passed the request on before: APIService ${name} leads back to it`)
    }
    if (orch.user === undefined) throw internalError(new Error('the request was passed on before authentication'))
    const target = await targetOf(remote, tools)
      .catch((cause: unknown) => { throw unavailable('service unavailable', cause) })
    const pool = await poolOf(tools, remote)
    const { path, query, user } = shownRequest({
      path: orch.info.path, query: orch.query.toString(), user: sendsUid ? orch.user : { ...orch.user, uid: '' }
    }, tools)
    const uri = encodePath(path)
    const startedAt = performance.now()
    const discovery = !orch.info.isResourceRequest && isDiscovery(orch.info.path)
    const outgoing: Omit<OutgoingRequest, 'upgrade'> = {
      ...target,
      ...certificates,
      method: request.method,
      path: query === '' ? uri : `${uri}?${query}`,
      headers: headersFor(request, { host: target.authority, uri, via, user }),
      secureContext: pool.secureContext,
      verify: !remote.insecure,
      connectTimeout: discovery ? DISCOVERY_TIMEOUT : CONNECT_TIMEOUT,
      ...(discovery ? { answerTimeout: DISCOVERY_TIMEOUT } : {})
    }
    const connection = upgradable(request)
    if (connection !== undefined) {
      return await upgrade(request, connection, { ...outgoing, unreachable, invalid: notSwitched }, ending)
    }
    if (orch.info.verb === 'watch') orch.handedOver(0)
    const { answer } = await passed(request, outgoing, pool).catch((error: unknown) => {
      throw isClientError(error) ? unreachable(error) : error
    })
    const { statusCode = 0 } = answer
    const moved = newHashOf(uri, answer)
    if ((isRedirect(answer) && moved === undefined) || statusCode < 200) {
      answer.destroy()
      throw statusCode < 200
        ? unavailable(`error trying to reach service: invalid status code ${statusCode}`)
        : redirected()
    }
    if (discovery) {
      const late = setTimeout(() => { answer.destroy() }, startedAt + DISCOVERY_TIMEOUT - performance.now())
      orch.onClosed(() => { clearTimeout(late) })
    }
    const { 'audit-id': _, ...headers } = answerHeaders(answer) // the audit log contains this server's ID
    return {
      kind: 'passed',
      code: statusCode,
      headers: moved === undefined ? headers : { ...headers, location: moved },
      body: answer,
      isProxied: true,
      ending: isLongRunning(orch.info) ? ending : undefined
    }
  }
}

/** The query with the new hash, if the answer redirects from an old hash of the same OpenAPI document. */
function newHashOf (uri: string, answer: IncomingMessage): string | undefined {
  const { location = '' } = answer.headers
  const isMove = uri.startsWith('/openapi/v3/') && isRedirect(answer) && location.startsWith(`${uri}?`)
  return isMove ? location.slice(uri.length) : undefined
}

async function poolOf ({ certificate, pools }: RemoteProxyTools, remote: Parameters<Pools['of']>[0]): Promise<Pool> {
  try {
    return pools.of(remote, await certificate.current())
  } catch (cause) {
    throw internalError(
      new Error(
        `the CA bundle of APIService ${remote.name}, or the client certificate of this server, is unusable: ` +
          `${reasonOf(cause)}`,
        { cause }
      )
    )
  }
}

function headersFor (
  { orch, raw }: ServedRequest, passing: Pick<Passed, 'host' | 'uri' | 'via' | 'user'>
): string[] {
  try {
    return passedHeaders(raw, { ...passing, auditId: orch.auditId, client: raw.socket.remoteAddress })
  } catch (error) {
    throw error instanceof UnsendableUser ? unavailable(`error trying to reach service: ${error.message}`) : error
  }
}

const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** A kept-alive connection may close while in use. Requests that cannot be repeated use a new one. */
async function passed (
  { orch, raw }: ServedRequest, outgoing: Omit<OutgoingRequest, 'upgrade'>, { agent }: Pool
): Promise<Incoming> {
  const body = hasBody(raw) ? raw : undefined
  let current: ClientRequest | undefined
  const attempt = (kept: boolean): Promise<Incoming> =>
    send({ ...outgoing, body, upgrade: false, agent: kept ? agent : undefined }, request => {
      current = request
      orch.onClosed(() => { request.destroy() })
    })
  try {
    return await attempt(body === undefined && REPEATABLE.has(outgoing.method))
  } catch (error) {
    if (current?.reusedSocket !== true || !isClientError(error, 'Unreachable') || raw.destroyed ||
      orch.signal.aborted) throw error
    return await attempt(false)
  }
}

/** Via has an entry for each proxy. */
const passedBy = (header: string | string[] | undefined, via: string): boolean =>
  String(header ?? '').split(',').some(entry => entry.trim() === via)
