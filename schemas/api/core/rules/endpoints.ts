import type { Report } from '../../../language/types.js'
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../../names.js'
import { checkName, required } from '../../../rules/findings.js'
import { ipAddress, validateNonSpecialAddress } from '../../../rules/net.js'
import { validatePortNumber } from '../../../rules/ports.js'
import type { EndpointAddress, EndpointPort, EndpointSubset } from '../endpoints.js'

export function validateSubset (
  { addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset, at: string, report: Report
): void {
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    required(report, at, 'must specify `addresses` or `notReadyAddresses`')
  }
  for (const [index, port] of ports.entries()) {
    validateEndpointPort(port, ports.length > 1, `${at}.ports[${index}]`, report)
  }
}

export function validateEndpointAddress (
  { ip, hostname = '', nodeName }: EndpointAddress, at: string, report: Report
): void {
  checkName(report, `${at}.ip`, ip, ipAddress)
  if (hostname !== '') checkName(report, `${at}.hostname`, hostname, dnsLabel)
  if (nodeName !== undefined) checkName(report, `${at}.nodeName`, nodeName, dnsSubdomain)
  validateNonSpecialAddress(ip, `${at}.ip`, report)
}

function validateEndpointPort (
  { name = '', port, appProtocol }: EndpointPort, hasOthers: boolean, at: string, report: Report
): void {
  if (name !== '') checkName(report, `${at}.name`, name, dnsLabel)
  else if (hasOthers) required(report, `${at}.name`)
  validatePortNumber(report, `${at}.port`, port)
  if (appProtocol !== undefined) checkName(report, `${at}.appProtocol`, appProtocol, qualifiedName)
}
