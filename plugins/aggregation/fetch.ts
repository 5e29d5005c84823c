/** One GET of a document of an extension server, bounded in time and bytes. */
import type { IncomingMessage } from 'node:http'
import { send } from '../../clients/outgoing.js'
import type { ClientCertificate } from '../../clients/client-certificate.js'
import type { RemoteService } from '../../controllers/aggregation/registered-services.js'
import type { Pools } from './pools.js'
import { targetOf, type Routing } from './target.js'
import { userHeaders } from './user-headers.js'

const AGGREGATOR = { username: 'system:aggregator', groups: ['system:authenticated'] }
const DEADLINE_MS = 10_000
/** Of a document; reading more would hold the event loop. */
export const MAX_BYTES = 3 * 1024 * 1024

export interface Fetched {
  readonly status: number
  readonly etag: string
  readonly body: Buffer
}

/** @param etag of the version that is known, '' for none. @throws Error */
export type Fetch = (remote: RemoteService, path: string, etag: string) => Promise<Fetched>

export function documentFetch (routing: Routing, certificate: ClientCertificate, pools: Pools, via: string): Fetch {
  return async (remote, path, etag) => {
    const target = await targetOf(remote, routing)
    const pool = pools.of(remote, await certificate.current())
    let cancel = (): void => {}
    const timer = setTimeout(() => { cancel() }, DEADLINE_MS)
    try {
      const { answer } = await send({
        ...target,
        method: 'GET',
        path,
        headers: ['Host', target.authority, 'Accept', 'application/json', 'User-Agent', 'orch-apiserver', 'Via', via, ...(etag === '' ? [] : ['If-None-Match', etag]), ...userHeaders(AGGREGATOR)],
        verify: !remote.insecure,
        secureContext: pool.secureContext,
        upgrade: false,
        connectTimeout: DEADLINE_MS
      }, request => { cancel = () => { request.destroy(new Error('no answer in time')) } })
      cancel = () => { answer.destroy(new Error('no whole answer in time')) }
      return { status: answer.statusCode ?? 0, etag: answer.headers.etag ?? '', body: await bytesOf(answer) }
    } finally {
      clearTimeout(timer)
    }
  }
}

async function bytesOf (answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  // leaving the loop destroys the response and its connection
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new Error(`the document has more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}
