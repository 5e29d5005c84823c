/** Facts of the cluster this server stands in front of. */
import { among, bool, cidrProblem, cidrs, duration, int, list, path, portRange, text } from '../flag.js'

const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']

function serviceRange (value: string): string | undefined {
  const ranges = value.split(',').map(range => range.trim())
  if (ranges.length > 2) return 'must be at most two CIDRs'
  for (const range of ranges) {
    const problem = cidrProblem(range)
    if (problem !== undefined) return problem
  }
  const families = new Set(ranges.map(range => range.includes(':')))
  return ranges.length === 2 && families.size === 1 ? 'two CIDRs must be one of IPv4 and one of IPv6' : undefined
}

const namespace = (value: string): string | undefined =>
  /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(value) ? undefined : 'must be the name of a namespace'

export const cluster = {
  'service-cluster-ip-range': text('', 'CIDR of the addresses of services, one or one of each family', serviceRange),
  'service-node-port-range': portRange(30_000, 32_767, 'ports of services of type NodePort, both included'),
  'orch-service-node-port': int(0, 'port under which the orch service is of type NodePort; 0 leaves it ClusterIP', { min: 0, max: 65535 }),
  'master-service-namespace': text('default', 'deprecated: namespace from which services are injected into pods', namespace),
  'allow-privileged': bool(false, 'allow privileged containers'),
  'default-not-ready-toleration-seconds': int(300, 'seconds for which pods stay on a node that is not ready unless they say'),
  'default-unreachable-toleration-seconds': int(300, 'seconds for which pods stay on a node that is unreachable unless they say'),
  'node-agent-certificate-authority': path('certificates of the authorities that sign those of node agents'),
  'node-agent-client-certificate': path('client certificate for calls to node agents'),
  'node-agent-client-key': path('private key of --node-agent-client-certificate'),
  'node-agent-preferred-address-types': list(ADDRESS_TYPES, 'kinds of node addresses in the order in which they are tried', among(ADDRESS_TYPES)),
  'node-agent-timeout': duration(5000, 'time a call to a node agent may take', { min: 1 }),
  'cloud-provider': text('', 'name of the cloud the cluster runs in'),
  'cloud-config': path('configuration of the cloud provider'),
  'cloud-provider-gce-l7lb-src-cidrs': cidrs(['130.211.0.0/22', '35.191.0.0/16'], 'addresses of proxies and health checks that the firewall of the cloud lets in'),
  'azure-container-registry-config': path('configuration of the container registry of the cloud'),
  'egress-selector-config-file': path('file that says by which way the server calls out')
}
