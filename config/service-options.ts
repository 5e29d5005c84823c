/** Service options from flags: address ranges, and the `orch` service. */
import { addressProblem } from '../controllers/services/endpoint-reconciler.js'
import { hostAddress, isLoopback, publicAddress } from './addresses.js'
import type { Values } from './flags/index.js'
import type { ServerOptions } from './server-options.js'

/** The default range, as upstream. */
const DEFAULT_SERVICE_RANGE = '10.0.0.0/24'

export function serviceOptions (values: Values): NonNullable<ServerOptions['services']> {
  const ranges = values['service-cluster-ip-range'].split(',').map(range => range.trim())
  return {
    clusterIPRanges: ranges[0] === '' ? [DEFAULT_SERVICE_RANGE] : ranges, nodePorts: values['service-node-port-range']
  }
}

/**
 * The `orch` service, which leads to this server's public address. As upstream, to that of the host where the server
 * listens on loopback alone, since clients expect the endpoints to exist; not with `--local`, which is for one machine.
 */
export function orchService (values: Values): {
  settings: NonNullable<ServerOptions['orchService']>, warnings: string[]
} {
  const bound = publicAddress(values)
  const isHidden = isLoopback(bound) && values['advertise-address'] === '' && !values.local
  const address = isHidden ? hostAddress() ?? bound : bound
  const reconciler = values['endpoint-reconciler-type']
  const problem = reconciler === 'none' ? undefined : addressProblem(address)
  return {
    settings: {
      namespace: values['master-service-namespace'],
      address,
      port: values['secure-port'],
      nodePort: values['orch-service-node-port'],
      reconciler: problem === undefined ? reconciler : 'none',
      count: values['apiserver-count']
    },
    warnings: reconciler === 'none' ? [] : reachProblem(address, bound, problem)
  }
}

function reachProblem (address: string, bound: string, problem: string | undefined): string[] {
  const advice = 'set --advertise-address, or --endpoint-reconciler-type=none'
  if (problem !== undefined) {
    return [`the service orch does not lead to this server: its address ${address} ${problem}; ${advice}`]
  }
  return address === bound
    ? []
    : [`the service orch leads to ${address}, where nothing listens with --bind-address=${bound}; ${advice}`]
}
