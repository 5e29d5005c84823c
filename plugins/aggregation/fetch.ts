/** Requests of this server itself to extension servers, bounded in time and bytes. */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { serviceAccountGroups, serviceAccountUsername } from '../../auth/service-account-names.js'
import { send } from '../../clients/outgoing.js'
import type { ClientCertificate } from '../../clients/client-certificate.js'
import type { Ask } from '../../controllers/aggregation/remote-contents.js'
import type { RemoteService } from '../../controllers/aggregation/registered-services.js'
import type { Pools } from './pools.js'
import { AGGREGATOR } from './probe.js'
import type { Outside, RemoteUser } from '../shared/outside.js'
import { shownRequest, targetOf, type Routing } from './target.js'
import { userHeaders } from './user-headers.js'

const READER = { username: 'system:aggregator', groups: ['system:authenticated'] }
/** Upstream empties namespaces as this service account; the default roles let it. */
const NAMESPACE_CONTROLLER = {
  username: serviceAccountUsername('orch-system', 'namespace-controller'),
  groups: [...serviceAccountGroups('orch-system'), 'system:authenticated']
}
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.orch.io;v=v1,application/json'
const DEADLINE_MS = 10_000
/** Clients wait for discovery. */
const DISCOVERY_MS = 5000
/** Maximum bytes of an answer; reading more would hold the event loop. */
export const MAX_BYTES = 3 * 1024 * 1024

export interface Fetched {
  readonly status: number
  readonly etag: string
  readonly body: Buffer
}

/** @param path under own names; @param etag of the version that is known, '' for none. @throws Error */
export type Fetch = (remote: RemoteService, path: string, etag: string) => Promise<Fetched>

interface Sent {
  readonly method: string
  /** Under own names, as the user. */
  readonly path: string
  readonly user: RemoteUser
  readonly headers: readonly string[]
  readonly body?: string | undefined
  /** Milliseconds for the whole answer. Default 10,000. */
  readonly deadline?: number
}

/** Sends one request and reads its answer, in time and with bounded bytes. @throws Error */
export type Exchange = (remote: RemoteService, request: Sent) => Promise<Fetched>

export function exchange (routing: Routing, certificate: ClientCertificate, pools: Pools, via: string): Exchange {
  return async (remote, { method, headers, body, deadline = DEADLINE_MS, ...own }) => {
    const { path, user } = shownRequest(own, routing)
    const target = await targetOf(remote, routing)
    const pool = pools.of(remote, await certificate.current())
    const length = body === undefined
      ? []
      : ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(body))]
    let cancel = (): void => {}
    const timer = setTimeout(() => { cancel() }, deadline)
    try {
      const { answer } = await send({
        ...target,
        method,
        path,
        headers: [
          'Host', target.authority, 'User-Agent', 'orch-apiserver', 'Via', via, ...length, ...headers,
          ...userHeaders(user)
        ],
        ...(body === undefined ? {} : { body: Readable.from([body]) }),
        verify: !remote.insecure,
        secureContext: pool.secureContext,
        upgrade: false,
        connectTimeout: deadline
      }, request => { cancel = () => { request.destroy(new Error('no answer in time')) } })
      cancel = () => { answer.destroy(new Error('no whole answer in time')) }
      return { status: answer.statusCode ?? 0, etag: answer.headers.etag ?? '', body: await bytesOf(answer) }
    } finally {
      clearTimeout(timer)
    }
  }
}

/** With the document of all groups, where a server has it. As upstream it is asked for as an administrator. */
export const discoveryFetch = (exchange: Exchange, { group }: Pick<Outside, 'group'>): Fetch =>
  documentFetch(
    (remote, request) => exchange(remote, { ...request, deadline: DISCOVERY_MS }),
    `application/json;g=${group('apidiscovery.orch.io')};v=v2;as=APIGroupDiscoveryList,application/json`, AGGREGATOR
  )

export const documentFetch = (exchange: Exchange, accept = 'application/json', user = READER): Fetch =>
  (remote, path, etag) => exchange(remote, {
    method: 'GET', path, user, headers: ['Accept', accept, ...(etag === '' ? [] : ['If-None-Match', etag])]
  })

export const namespaceAsk = (exchange: Exchange): Ask => (remote, { metadataOnly = false, ...request }) =>
  exchange(remote, {
    ...request, user: NAMESPACE_CONTROLLER, headers: ['Accept', metadataOnly ? METADATA : 'application/json']
  })

async function bytesOf (answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  // leaving the loop destroys the response and its connection
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new Error(`the answer has more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}
