/** Validation of containers. */
import { isOn } from '../../../gates.js'
import { checkName, duplicate, forbidden, invalid, notFound, notSupported, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { validatePart } from '../../../language/validation.js'
import { dnsLabel } from '../../../names.js'
import { EphemeralContainerCommon, type Container, type EphemeralContainer } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'
import { checkEnvFrom } from './env.js'
import { checkUsedClaims } from './device-claims.js'
import { checkProbes, checkHooks } from './handlers.js'
import { NOT_IN_EPHEMERAL, checkWholeVolumes, checkMounts, type Volumes } from './mounts.js'
import { checkHostPorts, checkPortNames } from './ports.js'
import { checkResources } from './resources.js'
import { checkResizePolicy, checkRestarts, isSidecar } from './restarts.js'

/** What of its pod the validation of a container needs. */
export interface PodParts {
  readonly volumes: Volumes
  /** Names of claims to devices. */
  readonly claims: ReadonlySet<string>
  readonly spec: PodSpec
}

export function checkContainers (containers: readonly Container[], pod: PodParts, at: string, report: Report): void {
  if (containers.length === 0) required(report, at)
  checkEach(containers, pod, at, report)
  containers.forEach((container, index) => { checkRestarts(container, false, `${at}[${index}]`, report) })
  checkHostPorts(containers, at, report)
}

/** Init containers run one after another, so each may use the same host ports. */
export function checkInitContainers (
  containers: readonly Container[], pod: PodParts, at: string, report: Report
): void {
  checkEach(containers, pod, at, report)
  const names = new Set(pod.spec.containers?.map(({ name }) => name))
  containers.forEach((container, index) => {
    const path = `${at}[${index}]`
    checkHostPorts([container], at, report)
    if (names.has(container.name)) duplicate(report, `${path}.name`, container.name)
    checkRestarts(container, true, path, report)
    if (isSidecar(container)) return
    for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      if (container[field] === undefined) continue
      if (isOn(report, 'SidecarContainers')) {
        forbidden(report, `${path}.${field}`, 'may not be set for init containers without restartPolicy=Always')
      } else invalid(report, `${path}.${field}`, container[field], 'must not be set for init containers')
    }
  })
}

function checkEach (containers: readonly Container[], pod: PodParts, at: string, report: Report): void {
  const names = new Set<string>()
  containers.forEach((container, index) => {
    const path = `${at}[${index}]`
    if (names.has(container.name)) duplicate(report, `${path}.name`, container.name)
    names.add(container.name)
    checkContainer(container, pod, path, report)
  })
}

const POLICIES: readonly string[] = ['File', 'FallbackToLogsOnError']

function checkContainer (container: Container, { volumes, claims, spec }: PodParts, at: string, report: Report): void {
  const { name, image = '', ports = [], envFrom = [], resources, terminationMessagePolicy = 'File' } = container
  if (name !== '') checkName(report, `${at}.name`, name, dnsLabel)
  if (image === '') required(report, `${at}.image`)
  if (!POLICIES.includes(terminationMessagePolicy)) {
    const field = `${at}.terminationMessagePolicy`
    if (isOn(report, 'PodFaultsNamePlaces')) notSupported(report, field, terminationMessagePolicy, POLICIES)
    else invalid(report, field, terminationMessagePolicy, "must be 'File' or 'FallbackToLogsOnError'")
  }
  checkProbes(container, at, report)
  checkPortNames(ports, `${at}.ports`, report)
  checkEnvFrom(envFrom, `${at}.envFrom`, report)
  checkMounts(container, volumes, at, report)
  checkResources(resources, `${at}.resources`, report)
  checkUsedClaims(resources, claims, `${at}.resources`, report)
  checkResizePolicy(container, spec.restartPolicy, at, report)
  checkHooks(container.lifecycle, spec, `${at}.lifecycle`, report)
}

const NOT_EPHEMERAL = [
  'ports', 'resources', 'resizePolicy', 'restartPolicy', 'restartPolicyRules', 'livenessProbe', 'readinessProbe',
  'startupProbe', 'lifecycle'
] as const

/** Restricts ephemeral containers. In 1.24 upstream validates each as a list of one, hence the path `[0]`. */
export function checkEphemeralContainers (
  containers: readonly EphemeralContainer[], pod: PodParts, at: string, report: Report
): void {
  const { containers: ordinary = [], initContainers = [] } = pod.spec
  const names = new Set([...ordinary, ...initContainers].map(({ name }) => name))
  const targets = new Set(names)
  const isExact = isOn(report, 'PodFaultsNamePlaces')
  containers.forEach((container, index) => {
    const path = `${at}[${index}]`
    const own = isExact ? path : `${path}[0]`
    const { name, image = '', targetContainerName = '', resources, volumeMounts = [] } = container
    if (targetContainerName !== '' && !targets.has(targetContainerName)) {
      notFound(report, `${path}.targetContainerName`, targetContainerName)
    }
    if (name === '' && !isExact) return required(report, path, 'ephemeralContainer requires a name')
    validatePart(EphemeralContainerCommon, container, own, report)
    checkContainer(container, pod, own, report)
    checkTrimmed(image, `${own}.image`, report)
    if (names.has(name)) duplicate(report, `${path}.name`, name)
    names.add(name)
    if (!isOn(report, 'EphemeralContainersAimAtOthers')) targets.add(name)
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
