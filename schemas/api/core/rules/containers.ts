/** Validation of containers. */
import { checkName, duplicate, forbidden, invalid, notFound, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { validatePart } from '../../../language/validation.js'
import { dnsLabel } from '../../../names.js'
import { EphemeralContainerCommon, type Container, type EphemeralContainer } from '../containers.js'
import { checkEnvFrom } from './env.js'
import { checkProbes } from './handlers.js'
import { NOT_IN_EPHEMERAL, checkWholeVolumes, checkMounts, type Volumes } from './mounts.js'
import { checkHostPorts, checkPortNames } from './ports.js'
import { checkResources } from './resources.js'

export function checkContainers (containers: readonly Container[], volumes: Volumes, at: string, report: Report): void {
  if (containers.length === 0) required(report, at)
  checkEach(containers, volumes, at, report)
  checkHostPorts(containers, at, report)
}

/** Init containers run one after another, so each may use the same host ports. */
export function checkInitContainers (
  containers: readonly Container[], others: readonly Container[], volumes: Volumes, at: string, report: Report
): void {
  checkEach(containers, volumes, at, report)
  const names = new Set(others.map(({ name }) => name))
  containers.forEach((container, index) => {
    const path = `${at}[${index}]`
    checkHostPorts([container], at, report)
    if (names.has(container.name)) duplicate(report, `${path}.name`, container.name)
    for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      if (container[field] !== undefined) {
        invalid(report, `${path}.${field}`, container[field], 'must not be set for init containers')
      }
    }
  })
}

function checkEach (containers: readonly Container[], volumes: Volumes, at: string, report: Report): void {
  const names = new Set<string>()
  containers.forEach((container, index) => {
    const path = `${at}[${index}]`
    if (names.has(container.name)) duplicate(report, `${path}.name`, container.name)
    names.add(container.name)
    checkContainer(container, volumes, path, report)
  })
}

const POLICIES: readonly string[] = ['File', 'FallbackToLogsOnError']

function checkContainer (container: Container, volumes: Volumes, at: string, report: Report): void {
  const { name, image = '', ports = [], envFrom = [], resources, terminationMessagePolicy = 'File' } = container
  if (name !== '') checkName(report, `${at}.name`, name, dnsLabel)
  if (image === '') required(report, `${at}.image`)
  if (!POLICIES.includes(terminationMessagePolicy)) {
    invalid(
      report, `${at}.terminationMessagePolicy`, terminationMessagePolicy, "must be 'File' or 'FallbackToLogsOnError'"
    )
  }
  checkProbes(container, at, report)
  checkPortNames(ports, `${at}.ports`, report)
  checkEnvFrom(envFrom, `${at}.envFrom`, report)
  checkMounts(container, volumes, at, report)
  checkResources(resources, `${at}.resources`, report)
}

const NOT_EPHEMERAL = ['ports', 'resources', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const

/** Restricts ephemeral containers. Upstream validates each as a list of one, hence the path `[0]`. */
export function checkEphemeralContainers (
  containers: readonly EphemeralContainer[], others: readonly Container[], volumes: Volumes, at: string, report: Report
): void {
  const names = new Set(others.map(({ name }) => name))
  const targets = new Set(names)
  containers.forEach((container, index) => {
    const path = `${at}[${index}]`
    const { name, image = '', targetContainerName = '', resources, volumeMounts = [] } = container
    if (targetContainerName !== '' && !targets.has(targetContainerName)) {
      notFound(report, `${path}.targetContainerName`, targetContainerName)
    }
    if (name === '') return required(report, path, 'ephemeralContainer requires a name')
    validatePart(EphemeralContainerCommon, container, `${path}[0]`, report)
    checkContainer(container, volumes, `${path}[0]`, report)
    checkTrimmed(image, `${path}[0].image`, report)
    if (names.has(name)) duplicate(report, `${path}.name`, name)
    names.add(name)
    targets.add(name)
    const asksFor = resources.limits !== undefined || resources.requests !== undefined
    for (const field of NOT_EPHEMERAL) {
      if (field === 'resources' ? asksFor : container[field] !== undefined) {
        forbidden(report, `${path}.${field}`, NOT_IN_EPHEMERAL)
      }
    }
    checkWholeVolumes(volumeMounts, `${path}.volumeMounts`, report)
  })
}

/** Applies to pods only; templates may contain placeholders. */
export function checkTrimmed (image: string, field: string, report: Report): void {
  if (image !== image.trim()) invalid(report, field, image, 'must not have leading or trailing whitespace')
}
