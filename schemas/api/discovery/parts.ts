/** Messages that both versions of EndpointSlice share. */
import { apiPackage, bool, int32, list, string } from '../../language/declare.js'

/** The shared messages for one version, and the functions that declare its others. */
export function parts (version: 'v1' | 'v1beta1') {
  const { kind, message } = apiPackage('discovery.orch.io', version, `io.orch.api.discovery.${version}`)

  const EndpointConditions = message('EndpointConditions', 'Whether an endpoint may be sent traffic.', {
    ready: bool(1, 'Whether it is ready for traffic; unset counts as ready.', { pointer: true }),
    serving: bool(2, 'Like ready, but also set while it is terminating.', {
      pointer: true, gate: 'EndpointSliceTerminatingCondition'
    }),
    terminating: bool(3, 'Whether the endpoint is about to go.', {
      pointer: true, gate: 'EndpointSliceTerminatingCondition'
    })
  })

  const ForZone = message('ForZone', 'A zone an endpoint is meant for.', {
    name: string(1, 'Name of the zone.', { required: true, mayBeEmpty: true })
  })

  const ForNode = message('ForNode', 'A node an endpoint is meant for.', {
    name: string(1, 'Name of the node.', { required: true, mayBeEmpty: true })
  })

  const EndpointHints = message('EndpointHints', 'Hints on how an endpoint should be used.', {
    forZones: list(1, 'Zones whose clients should use the endpoint.', ForZone, { listType: 'atomic' }),
    // Of v1 alone; v1beta1 is what is stored, and gone since 1.25.
    forNodes: list(2, 'Nodes whose clients should use the endpoint.', ForNode, {
      listType: 'atomic', gate: 'PreferSameTrafficDistribution', since: '1.33'
    })
  })

  const EndpointPort = message('EndpointPort', 'A port of all endpoints in a slice.', {
    name: string(1, 'Name of the port, as in the service.', { pointer: true, default: '' }),
    protocol: string(2, 'Transport protocol: TCP, UDP or SCTP; by default TCP.', {
      pointer: true, values: ['TCP', 'UDP', 'SCTP'], closed: true, default: 'TCP'
    }),
    port: int32(3, 'Number of the port; unset means all ports.', { pointer: true }),
    appProtocol: string(4, 'Application protocol of the port, such as http or https.', { pointer: true })
  }, version === 'v1' ? { structType: 'atomic' } : {})

  return { kind, message, EndpointConditions, ForZone, ForNode, EndpointHints, EndpointPort }
}
