/**
 * Calls admission webhooks. Each target has one client with its connections, kept while a configuration refers to it.
 * Redirects are not followed; responses are bounded in time and size.
 */
import { isClientError } from '../../clients/errors.js'
import type { Egress } from '../../clients/egress/index.js'
import { HttpClient, type Answer, type HttpClientOptions } from '../../clients/http-client.js'
import { NO_CREDENTIALS, type CallerCredentials, type Endpoint } from '../../clients/kubeconfig.js'
import type { AdmissionReader } from '../../registry/admission.js'
import type { ReadyEndpoints } from '../../admission/webhooks/ready-endpoints.js'
import { serviceAddress } from '../../admission/webhooks/service-address.js'
import type { HookCall, HookCaller, HookTarget } from '../../admission/webhooks/target.js'
import { hookFailure } from './webhook-messages.js'

/** Maximum bytes of a response: a patch may replace a whole object, in base64. */
const MAX_RESPONSE_BYTES = 6 * 1024 * 1024
/** Longer than the maximum webhook timeout, so that the call's own deadline applies. */
const LONGER_MS = 31_000

export interface HookCallerOptions {
  /** Credentials for a host, by `host:port`. */
  readonly credentials: (hostPort: string) => CallerCredentials | undefined
  readonly reader: AdmissionReader
  /** Where to call an endpoint of a service instead of its address. */
  readonly endpoints?: ReadyEndpoints | undefined
  /** Connections to services and to URLs. Default direct. */
  readonly egress?: Pick<Egress, 'cluster' | 'controlPlane'>
  /** Observes the outcome of calls. */
  readonly observers?: Pick<HttpClientOptions, 'observe' | 'missingName' | 'weakSignature'>
}

export interface ClosableHookCaller extends HookCaller { readonly close: () => Promise<void> }

export function hookCaller (options: HookCallerOptions): ClosableHookCaller {
  const clients = new Map<string, HttpClient>()
  /** Clients with kept-alive connections. */
  const connected = new WeakSet<HttpClient>()
  const clientOf = (target: HookTarget): HttpClient => {
    let client = clients.get(target.key)
    if (client === undefined) clients.set(target.key, client = connect(target, options))
    return client
  }
  return {
    call: async ({ target, body, timeout, signal, traceparent }: HookCall) => {
      const query = `?timeout=${timeout / 1000}s`
      const client = clientOf(target)
      const until = performance.now() + timeout
      const attempt = (deadline: number): Promise<Answer> => client.call({
        method: 'POST', path: `${target.url.pathname}${query}`, body, headers: HEADERS, deadline, signal, traceparent
      })
      try {
        const answer = await attempt(timeout).catch((error: unknown) => {
          // Retry once if a kept-alive connection was closed as it was reused: not a failure of the webhook.
          if (isClientError(error) && error.unanswered && connected.has(client)) {
            return attempt(Math.max(1, until - performance.now()))
          }
          throw error
        })
        connected.add(client)
        return answer.body
      } catch (error) {
        throw hookFailure(error, `${target.displayUrl}${query}`)
      }
    },
    retain: targets => {
      const kept = new Set([...targets].map(({ key }) => key))
      for (const [key, client] of clients) {
        if (kept.has(key)) continue
        clients.delete(key)
        client.retire().catch(() => {}) // its calls report their own errors
      }
    },
    close: async () => {
      await Promise.all([...clients.values()].map(client => client.close()))
      clients.clear()
    }
  }
}

const HEADERS = { accept: 'application/json, */*', 'content-type': 'application/json' }

function connect (
  { url, service, authority }: HookTarget,
  { credentials, reader, endpoints, egress = {}, observers }: HookCallerOptions
): HttpClient {
  const endpoint: Endpoint = {
    server: new URL(url.origin),
    authority: authority === undefined ? undefined : { data: authority },
    insecure: false,
    serverName: undefined,
    proxy: undefined,
    credentials: credentials(`${url.hostname}:${url.port === '' ? '443' : url.port}`) ?? NO_CREDENTIALS
  }
  return new HttpClient({
    caller: 'admission-webhook',
    endpoint,
    connectTimeout: LONGER_MS,
    headersTimeout: LONGER_MS,
    bodyTimeout: LONGER_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    ...observers,
    tunnel: service === undefined ? egress.controlPlane : egress.cluster,
    ...(service === undefined ? {} : { dial: () => serviceAddress(reader, service, endpoints) })
  })
}
