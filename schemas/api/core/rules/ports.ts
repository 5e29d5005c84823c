/** Validation of container ports. */
import { isOn } from '../../../gates.js'
import { checkRange, checkName, duplicate, invalid, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import type { IntOrStringValue } from '../../../meta/int-or-string.js'
import { portName } from '../../../names.js'
import type { Container, ContainerPort } from '../containers.js'

const MAX = 65535

export function checkPortNumber (port: number, field: string, report: Report): void {
  checkRange(report, field, port, 1, MAX)
}

/** A number or the name of a port. */
export function checkPort (port: IntOrStringValue = 0, field: string, report: Report): void {
  if (typeof port === 'number') checkPortNumber(port, field, report)
  else checkName(report, field, port, portName)
}

export function validateContainerPort (
  { name = '', containerPort, hostPort = 0 }: ContainerPort, at: string, report: Report
): void {
  if (name !== '') checkName(report, `${at}.name`, name, portName)
  if (containerPort === 0) required(report, `${at}.containerPort`)
  else checkPortNumber(containerPort, `${at}.containerPort`, report)
  if (hostPort !== 0) checkPortNumber(hostPort, `${at}.hostPort`, report)
}

export function checkPortNames (ports: readonly ContainerPort[], at: string, report: Report): void {
  const names = new Set<string>()
  ports.forEach(({ name = '' }, index) => {
    if (names.has(name)) duplicate(report, `${at}[${index}].name`, name)
    else if (name !== '' && portName(name).length === 0) names.add(name)
  })
}

/** Containers that run simultaneously cannot share a host port. */
export function checkHostPorts (
  containers: readonly Container[], at: string, report: Report, taken = new Set<string>()
): void {
  containers.forEach(({ ports = [] }, number) =>
    ports.forEach(({ protocol = '', hostIP = '', hostPort = 0 }, index) => {
      if (hostPort === 0) return
      const place = `${protocol}/${hostIP}/${hostPort}`
      if (taken.has(place)) duplicate(report, `${at}[${number}].ports[${index}].hostPort`, place)
      taken.add(place)
    }))
}

/**
 * With hostNetwork, container ports are host ports. Defaults have set those of pods, and in 1.24 those of templates.
 */
export function checkPortsOfHost (containers: readonly Container[], at: string, report: Report): void {
  const [port, other] = isOn(report, 'PodFaultsNamePlaces')
    ? ['hostPort', 'containerPort'] as const
    : ['containerPort', 'hostPort'] as const
  containers.forEach(({ ports = [] }, number) => ports.forEach((declared, index) => {
    const { containerPort, hostPort = 0 } = declared
    if (hostPort === containerPort || (hostPort === 0 && isOn(report, 'TemplatesKeepPorts'))) return
    invalid(
      report, `${at}[${number}].ports[${index}].${port}`, declared[port],
      `must match \`${other}\` when \`hostNetwork\` is true`
    )
  }))
}
