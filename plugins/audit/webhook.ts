/** Sends events as an EventList to a webhook; retries with exponential back-off. */
import { HttpClient, type HttpClientOptions } from '../../clients/http-client.js'
import type { Endpoint } from '../../clients/kubeconfig.js'
import type { EventVersion } from './event.js'
import type { Deliver } from './batches.js'

export interface AuditWebhookOptions {
  /** Of the events, whose names it says; the public one with `compatNames`. Default audit.orch.io/v1. */
  readonly version?: EventVersion
  readonly endpoint: Endpoint
  /** Milliseconds before the second attempt. Default 10,000. */
  readonly initialBackoff?: number
  /** Overrides for the HTTP client. */
  readonly client?: Partial<HttpClientOptions>
}

const ATTEMPTS = 5
const FACTOR = 1.5
/** Milliseconds per attempt; a slow response is retried. */
const TIMEOUT = 30_000
const MAX_RESPONSE_BYTES = 1024 * 1024

export interface AuditWebhook {
  readonly deliver: Deliver
  /** Reads the client's files. @throws ClientError 'Config' */
  load: () => Promise<void>
  /** Aborts current and future deliveries. */
  abort: () => void
  close: () => Promise<void>
}

export function auditWebhook (
  { endpoint, version = 'audit.orch.io/v1', initialBackoff = 10_000, client: tuned }: AuditWebhookOptions
): AuditWebhook {
  let waits = 0
  for (let attempt = 0; attempt < ATTEMPTS - 1; attempt++) waits += initialBackoff * FACTOR ** attempt * 1.2
  const client = new HttpClient({
    caller: 'audit-webhook', endpoint, maxResponseBytes: MAX_RESPONSE_BYTES, deadline: waits + ATTEMPTS * TIMEOUT,
    headersTimeout: TIMEOUT, ...tuned
  })
  const ending = new AbortController()
  const retry = { attempts: ATTEMPTS, first: initialBackoff, factor: FACTOR }
  return {
    deliver: async items => {
      const body = `{"kind":"EventList","apiVersion":"${version}","metadata":{},"items":[${items.join(',')}]}`
      await client.call({
        method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json, */*' }, body, retry,
        signal: ending.signal
      })
    },
    load: async () => { await client.load() },
    abort: () => { ending.abort(new Error('the server has closed')) },
    close: async () => { await client.close() }
  }
}
