/** Table columns of services. */
import { age, join, labels, name, NONE, text, wideOnly, type Column } from '../../columns.js'
import { loadBalancerAddresses } from './load-balancers.js'
import type { Service } from './services.js'

function externalAddresses ({ spec, status }: Service): string {
  switch (spec.type) {
    case 'ClusterIP': case 'NodePort': return join(spec.externalIPs) || NONE
    case 'LoadBalancer':
      return join([...loadBalancerAddresses(status.loadBalancer), ...spec.externalIPs ?? []]) || '<pending>'
    case 'ExternalName': return spec.externalName ?? ''
    default: return '<unknown>'
  }
}

function ports ({ spec }: Service): string {
  return join(spec.ports?.map(({ port, nodePort = 0, protocol = '' }) =>
    `${port}${nodePort > 0 ? `:${nodePort}` : ''}/${protocol}`)) || NONE
}

export const serviceColumns: ReadonlyArray<Column<Service>> = [
  name,
  text('Type', 'How the service is reached.', ({ spec }) => spec.type),
  text('Cluster-IP', 'Its address within the cluster.', ({ spec }) => spec.clusterIPs?.[0] || spec.clusterIP || NONE),
  text('External-IP', 'Its addresses for those outside.', externalAddresses),
  text('Port(s)', 'Its ports, those of the nodes that lead to them, and their protocols.', ports),
  age,
  wideOnly(text('Selector', 'Labels of the pods that traffic goes to.', ({ spec }) => labels(spec.selector)))
]
