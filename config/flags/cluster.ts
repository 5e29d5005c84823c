/** Flags about the cluster. */
import { rangeProblem } from '../../registry/services/value-range.js'
import {
  bool, cidrProblem, cidrs, duration, int, list, oneOf, path, portRange, printable, text, until
} from '../flag.js'

const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']

/** @param value CIDRs with commas between them */
export function serviceRangeProblem (value: string): string | undefined {
  const ranges = value.split(',').map(range => range.trim())
  if (ranges.length > 2) return 'must be at most two CIDRs'
  for (const range of ranges) {
    const problem = cidrProblem(range)
    if (problem !== undefined) return `${printable(JSON.stringify(range))} ${problem}`
    const size = rangeProblem(range)
    if (size !== undefined) return `${range} ${size}`
  }
  const families = new Set(ranges.map(range => range.includes(':')))
  return ranges.length === 2 && families.size === 1 ? 'two CIDRs must be one of IPv4 and one of IPv6' : undefined
}

const namespace = (value: string): string | undefined =>
  /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(value) ? undefined : 'must be the name of a namespace'

const IN_TREE = ['aws', 'azure', 'gce', 'openstack', 'vsphere']

/** Providers built into the server are deprecated upstream. */
function cloudProblem (value: string): string | undefined {
  if (value === '' || value === 'external') return undefined
  return IN_TREE.includes(value)
    ? 'is a cloud provider that would be built into the server, which this one has none of; use external, and run ' +
      'the cloud controller manager of that cloud'
    : 'must be external, or left out'
}

export const cluster = {
  'service-cluster-ip-range': text('', 'CIDR of service cluster IPs, or two for dual-stack', serviceRangeProblem),
  'service-node-port-range': portRange(30_000, 32_767, 'port range of NodePort services, inclusive'),
  'orch-service-node-port': int(
    0, 'node port of the orch service; 0 makes it a ClusterIP service', { min: 0, max: 65535 }
  ),
  'master-service-namespace': until('1.27', text(
    'default', 'deprecated: namespace of the services injected into pods', namespace
  )),
  'allow-privileged': bool(false, 'allow privileged containers'),
  'default-not-ready-toleration-seconds': int(
    300, 'default tolerationSeconds for not-ready:NoExecute of pods without that toleration'
  ),
  'default-unreachable-toleration-seconds': int(
    300, 'default tolerationSeconds for unreachable:NoExecute of pods without that toleration'
  ),
  'node-agent-certificate-authority': path('CA bundle for verifying the certificates of node agents'),
  'node-agent-client-certificate': path('client certificate for node agents'),
  'node-agent-client-key': path('private key matching --node-agent-client-certificate'),
  'node-agent-preferred-address-types': list(
    ADDRESS_TYPES, 'preferred node address types for connections to node agents, in order', oneOf(ADDRESS_TYPES)
  ),
  'node-agent-timeout': duration(5000, 'timeout of calls to node agents', { min: 1 }),
  'cloud-provider': until('1.33', text(
    '', 'cloud provider: external, or blank for none; this server depends on neither', cloudProblem
  )),
  'cloud-config': until('1.33', path('configuration file of the cloud provider; without effect on this server')),
  'cloud-provider-gce-l7lb-src-cidrs': until('1.31', cidrs(
    ['130.211.0.0/22', '35.191.0.0/16'],
    'source CIDRs of load balancer traffic and health checks to open in the cloud firewall; without effect on this ' +
      'server'
  )),
  'azure-container-registry-config': until('1.30', path(
    'configuration file of the container registry; without effect on this server'
  )),
  'egress-selector-config-file': path('egress selector configuration file')
}
