/** Outgoing calls of admission: webhooks and image review. */
import { HttpClient } from '../../clients/http-client.js'
import { endpointOf, readKubeconfig, type Material } from '../../clients/kubeconfig.js'
import type { AdmissionCallers } from '../../admission/options.js'
import { admissionReader } from '../../admission/reader.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { readyEndpoints } from '../../admission/webhooks/ready-endpoints.js'
import type { Gates } from '../../schemas/gates.js'
import { occasionally } from '../shared/rate-limited.js'
import { outgoingMetrics } from '../shared/outgoing-metrics.js'
import type { Metrics } from '../shared/metric-series.js'
import type { Outside } from '../shared/outside.js'
import type { OrchDecorators } from '../shared/server.js'
import { hookCaller } from './webhook-caller.js'
import { hookCredentials } from './webhook-credentials.js'
import { hookMetrics } from './webhook-metrics.js'
import { describeCallError } from './webhook-messages.js'

export interface OutboundOptions {
  /**
   * Client certificate for webhooks without credentials in a kubeconfig, `--proxy-client-cert-file` and
   * `--proxy-client-key-file`.
   */
  readonly client?: { readonly certificate: Material, readonly key: Material }
  /**
   * Calls a ready endpoint of a service instead of its cluster address, `--enable-aggregator-routing`. Default false.
   */
  readonly toEndpoints?: boolean
}

export interface OutboundContext extends OutboundOptions {
  readonly resources: ResourceRegistry
  readonly metrics: Metrics
  readonly egress: OrchDecorators['orchEgress']
  readonly gates: Gates
  readonly warn: (text: string) => void
  /** Shows reviews to webhooks. */
  readonly reviews: Outside['reviews']
}

const MAX_REVIEW_BYTES = 64 * 1024
const MAX_MESSAGE = 1000

export function outboundCallers (
  { client, toEndpoints = false, resources, metrics, egress, warn, reviews, gates }: OutboundContext
): AdmissionCallers & { readonly close: () => Promise<void> } {
  const open: Array<{ readonly close: () => Promise<void> }> = []
  const reader = admissionReader(() => resources)
  const endpoints = toEndpoints ? readyEndpoints(reader, gates.enabled('SlicesLocateServices')) : undefined
  return {
    webhooks: async kubeconfig => {
      const caller = hookCaller({
        credentials: await hookCredentials(kubeconfig, client), reader, endpoints, egress,
        observers: outgoingMetrics(metrics)
      })
      open.push(caller)
      return {
        resources, caller: reviews(caller), metrics: hookMetrics(metrics), failed: byHook(warn)
      }
    },
    reviewer: async (kubeconfig, backoff) => {
      const endpoint = endpointOf(await readKubeconfig(kubeconfig))
      const client = new HttpClient({
        caller: 'image-policy-webhook', endpoint, maxResponseBytes: MAX_REVIEW_BYTES, ...outgoingMetrics(metrics)
      })
      await client.load()
      open.push(client)
      return async (review, signal, traceparent) => {
        try {
          return await client.json({
            method: 'POST', body: JSON.stringify(review), signal, traceparent,
            headers: { accept: 'application/json, */*' }, retry: { attempts: 5, first: backoff, factor: 1.5 }
          })
        } catch (error) {
          throw new Error(describeCallError(error, endpoint.server.href)[0], { cause: error })
        }
      }
    },
    close: async () => { await Promise.all(open.map(caller => caller.close())) }
  }
}

const MAX_WEBHOOKS = 1000

/** Limits the log lines per webhook. */
function byHook (warn: (text: string) => void): (hook: string, message: string) => void {
  const reporters = new Map<string, (text: string) => void>()
  return (hook, message) => {
    let report = reporters.get(hook)
    if (report === undefined) {
      if (reporters.size >= MAX_WEBHOOKS) reporters.clear()
      reporters.set(hook, report = occasionally(warn))
    }
    report(message.slice(0, MAX_MESSAGE))
  }
}
