/**
 * Requests of this process: the same verbs as those of clients, on the same values, without connection or bytes. Those
 * of a user pass audit and authorization before, as hooks have it for others; limits of requests in flight and
 * deadlines are for clients alone.
 */
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { Answer, VerbRequest } from '../answers/answer.js'
import type { Whole } from '../plugins/shared/plugin.js'
import { barrierOf } from '../plugins/storage-version-barrier.js'
import { statusOf } from '../plugins/errors.js'
import { infoOfPath, withSelectors } from '../plugins/request-info/paths.js'
import { Context } from '../plugins/request-info/request-context.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { verbTables } from '../routes/verb-tables.js'
import { parseDryRun } from '../schemas/dry-run.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import { badRequest, serviceUnavailable, type StatusError } from '../schemas/status.js'
import { isStorageError } from '../storage/errors.js'
import { givenBody } from './given-body.js'
import { guarded } from './guarded.js'
import { StoresByKind } from './types.js'

/** Who asks. */
export interface Asker {
  /** Undefined for the server itself. */
  readonly user: UserInfo | undefined
  /** The default field manager. */
  readonly manager: string
  readonly warn: (text: string) => void
}

export interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly store: ResourceStore
  /** '' for all, and for types without. */
  readonly namespace: string
  /** '' for the collection. */
  readonly name?: string
  readonly subresource?: string
  readonly query: URLSearchParams
  readonly body?: unknown
  readonly contentType?: string
  readonly signal?: AbortSignal | undefined
}

type InProcess = VerbRequest & { readonly orch: Context, body: unknown, readonly isAborted: boolean }

/** A request that has been answered, until it is closed. */
export interface Answered {
  readonly answer: Answer
  readonly request: InProcess
  /** Ends it, for audit too. */
  readonly close: () => void
}

/** The server, as these requests find it. */
export interface RequestServer {
  readonly fastify: Whole
  readonly verbs: ReturnType<typeof verbTables>
  readonly stores: StoresByKind
}

export const requestServer = (fastify: Whole): RequestServer =>
  ({ fastify, verbs: verbTables(fastify), stores: new StoresByKind(fastify.orchResources) })

/**
 * What `use` makes of the answer.
 * @throws StatusError; the reason of the signal once it is aborted
 */
export async function ask<T> (
  server: RequestServer, asker: Asker, asked: Asked, use: (answered: Answered) => T | Promise<T>
): Promise<T> {
  return await untilAborted(asked.signal, async () => {
    const answered = await open(server, asker, asked)
    try {
      return await use(answered)
    } catch (error) {
      throw failed(server, answered.request, error)
    } finally {
      answered.close()
    }
  })
}

/** The request is left to itself when the signal is aborted; a write that was sent completes. */
async function untilAborted<T> (signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (signal === undefined) return await work()
  signal.throwIfAborted()
  return await new Promise<T>((resolve, reject) => {
    const abort = (): void => { reject(signal.reason as Error) }
    signal.addEventListener('abort', abort, { once: true })
    work().then(resolve, reject).finally(() => { signal.removeEventListener('abort', abort) })
  })
}

/** @throws StatusError */
export async function open (server: RequestServer, asker: Asker, asked: Asked): Promise<Answered> {
  if (server.fastify.orchShutdown.state === 'closed') throw serviceUnavailable('the server is closed')
  const connection = new EventEmitter()
  const request = readRequest(server, asker, asked, connection)
  const { orch } = request
  const end = (): void => { orch.end() }
  asked.signal?.addEventListener('abort', end, { once: true })
  let code = 200
  const close = (): void => {
    asked.signal?.removeEventListener('abort', end)
    for (const text of orch.warnings.splice(0)) {
      guarded(server.fastify.log, 'the receiver of warnings of this process', () => { return asker.warn(text) })
    }
    connection.emit('close')
  }
  try {
    if (asker.user !== undefined) {
      const refused = await refusalOf(server, request, () => orch.failure?.status.code ?? code)
      if (refused !== undefined) throw refused
    }
    const waits = barrierOf(server.fastify, orch)
    if (waits !== undefined) throw waits
    if (asked.body !== undefined) request.body = givenBody(asked.body)
    const answer = await server.verbs(asked.store).of(orch.info, asked.method)(request)
    if ('code' in answer) code = answer.code
    orch.begun?.()
    return { answer, request, close }
  } catch (error) {
    const failure = failed(server, request, error)
    orch.begun?.()
    close()
    throw failure
  }
}

/** All but the body, which is read once its user may send it. @throws StatusError 400 */
function readRequest (
  { fastify }: RequestServer, { user, manager }: Asker, asked: Asked, connection: EventEmitter
): InProcess {
  const { method, contentType } = asked
  const path = pathOf(asked)
  const search = asked.query.toString()
  const sent = infoOfPath({ method, path, query: search })
  const info = fastify.orchSettings.featureGates.enabled('AuthorizeWithSelectors') ? withSelectors(sent, search) : sent
  const received = fastify.orchClock.wall()
  const orch = new Context(info, { search, auditId: randomUUID(), received }, connection)
  orch.user = user
  orch.dryRun = parseDryRun(asked.query.getAll('dryRun'))
  return {
    method,
    url: search === '' ? path : `${path}?${search}`,
    headers: { 'user-agent': manager, ...(contentType === undefined ? {} : { 'content-type': contentType }) },
    body: undefined,
    orch,
    get isAborted () { return asked.signal?.aborted === true },
    server: fastify,
    ...(user === undefined ? { isOwn: true } : {})
  }
}

/** @throws StatusError 400 */
function pathOf ({ store, namespace, name = '', subresource = '' }: Asked): string {
  const { group, version, plural } = store.representation
  const parts = [
    ...(group === '' ? ['api'] : ['apis', group]), version, ...(namespace === '' ? [] : ['namespaces', namespace]),
    plural, ...[name, subresource].filter(part => part !== '')
  ]
  if (parts.some(part => /\p{Surrogate}/u.test(part))) throw badRequest('names have no halves of characters')
  return `/${parts.map(encodeURIComponent).join('/')}`
}

/** Records the request, and asks whether its user may. */
async function refusalOf (
  { fastify }: RequestServer, { orch, url, headers }: InProcess, code: () => number
): Promise<StatusError | undefined> {
  const unrecorded = await fastify.orchAudit?.({
    orch,
    sender: () => ({ url: fastify.prefix + url, sourceIPs: [], userAgent: headers['user-agent'] }),
    answered: () => ({ code: code(), isBegun: true })
  })
  return unrecorded ?? await fastify.orchAuthorization.refusalOf(orch)
}

/** Notes the failure, and logs those of the server unless the caller has aborted the request. */
function failed (
  { fastify }: RequestServer, { orch, url, isAborted }: InProcess, error: unknown
): StatusError {
  const failure = statusOf(error, performance.now() - orch.trace.startedAt)
  const { code, reason } = failure.status
  orch.failure = failure
  orch.defect = reason === 'InternalError' && failure.cause === error && !isStorageError(error)
  orch.recorder?.status(failure.status)
  if (code >= 500 && !failure.unlogged && !(isAborted && reason === 'Timeout')) {
    fastify.log.error({ err: failure.cause ?? error, url, status: code, auditId: orch.auditId }, 'a request failed')
  }
  return failure
}
