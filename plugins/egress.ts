/**
 * Connections to other servers through proxies, by destination: `cluster` for node agents, pods, services and the
 * webhooks and extension servers behind them; `controlplane` for webhooks at URLs, authenticators, authorizers, audit
 * and traces; `etcd`. Plugins find a tunnel in `fastify.orchEgress`, undefined where connections are direct.
 * @see interface, --egress-selector-config-file
 */
import { openEgress, type Egress, type EgressOptions } from '../clients/egress/index.js'
import { openRelay, type Relay } from '../clients/egress/relay.js'
import type { Tunnel, TunnelTarget } from '../clients/egress/tunnel.js'
import { occasionally } from './shared/rate-limited.js'
import { plugin } from './shared/plugin.js'

export type { EgressOptions } from '../clients/egress/index.js'

export interface EgressTunnels extends Egress {
  /**
   * A socket that leads through a tunnel to a server, until this server closes. For clients that cannot use a tunnel.
   */
  readonly relay: (tunnel: Tunnel, target: TunnelTarget) => Promise<string>
}

const SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 12.5]

export default plugin<{ proxies?: EgressOptions | undefined }>()(async (fastify, { proxies = {} }) => {
  const { orchMetrics: metrics } = fastify
  const durations = metrics.histogram(
    'apiserver_egress_dialer_dial_duration_seconds',
    'Seconds that connections through a proxy took, by protocol and transport of the proxy.', SECONDS,
    ['protocol', 'transport']
  )
  const failures =
    metrics.counter('apiserver_egress_dialer_dial_failure_count', 'Connections through a proxy that failed, by ' +
      'protocol and transport of the proxy, and by whether the proxy was reached (proxy) or not (connect).', [
      'protocol', 'transport', 'stage'
    ])
  const tunnels = openEgress(proxies, {
    dialled: ({ protocol, transport }, outcome) => {
      if (typeof outcome === 'number') durations.with(protocol, transport).observe(outcome)
      else failures.with(protocol, transport, outcome).add()
    }
  })
  const failed = occasionally((error: Error) => { fastify.log.warn(error.message) })
  const relays: Relay[] = []
  fastify.decorate('orchEgress', {
    ...tunnels,
    relay: async (tunnel, target) => {
      const relay = await openRelay(tunnel, target, failed)
      relays.push(relay)
      return relay.path
    }
  })
  fastify.addHook('onClose', () => { for (const relay of relays) relay.close() })
}, { name: 'orch/egress', fastify: '5.x', decorators: { fastify: ['orchMetrics'] } })
