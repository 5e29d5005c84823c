/** Load balancer status of services and ingresses. */
import { string, list, int32, type Static } from '../../language/declare.js'
import { dnsSubdomain } from '../../names.js'
import { invalid, checkName } from '../../rules/findings.js'
import { parseAddress } from '../../rules/net.js'
import { message } from './package.js'

export type PortStatus = Static<typeof PortStatus>
export const PortStatus = message('PortStatus', 'State of a port of a service at a load balancer.', {
  port: int32(1, 'Port of the service.', { required: true }),
  protocol: string(2, 'Transport protocol: TCP, UDP or SCTP.', {
    required: true, mayBeEmpty: true, values: ['TCP', 'UDP', 'SCTP'], closed: 'ruled'
  }),
  error: string(3, 'What is wrong with the port, as a code.', { pointer: true })
})

export type LoadBalancerIngress = Static<typeof LoadBalancerIngress>
export const LoadBalancerIngress = message('LoadBalancerIngress', 'A point where traffic enters a load balancer.', {
  ip: string(1, 'Address of a load balancer that is known by address.', { holds: 'ip' }),
  hostname: string(2, 'Name of a load balancer that is known by DNS name.'),
  ipMode: string(3, 'Whether traffic arrives with the address of the balancer: VIP, or Proxy if not.', {
    pointer: true, values: ['VIP', 'Proxy'], since: '1.29'
  }),
  ports: list(4, 'State of the ports of the service.', PortStatus, { listType: 'atomic' })
}, {
  validate: ({ ip = '', hostname = '' }, at, report) => {
    if (ip !== '' && parseAddress(ip) === undefined) invalid(report, `${at}.ip`, ip, 'must be a valid IP address')
    if (hostname === '') return
    checkName(report, `${at}.hostname`, hostname, dnsSubdomain)
    if (parseAddress(hostname) !== undefined) {
      invalid(report, `${at}.hostname`, hostname, 'must be a DNS name, not an IP address')
    }
  }
})

export type LoadBalancerStatus = Static<typeof LoadBalancerStatus>
export const LoadBalancerStatus = message('LoadBalancerStatus', 'State of a load balancer.', {
  ingress: list(1, 'Points where traffic for the service enters.', LoadBalancerIngress)
})

/** Distinct addresses, sorted. */
export function loadBalancerAddresses ({ ingress = [] }: LoadBalancerStatus): string[] {
  return [...new Set(ingress.map(({ ip, hostname }) => ip || hostname || ''))].filter(address => address !== '').sort()
}
