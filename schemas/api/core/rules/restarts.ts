/** Validation of restart policies of containers, and of what a change of their resources means. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/declare.js'
import { duplicate, forbidden, forgiving, invalid, notSupported, required, tooMany } from '../../../rules/findings.js'
import type { Container } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'
import type { ContainerRestartRule } from '../restarts.js'

/** What may change of a running container. */
export const RESIZED = ['cpu', 'memory']
const ON_RESIZE = ['NotRequired', 'RestartContainer']

/** @param ofPod the restart policy of the pod */
export function checkResizePolicy (
  { resizePolicy = [] }: Container, ofPod: string | undefined, at: string, report: Report
): void {
  const names = new Set<string>()
  const field = `${at}.resizePolicy`
  for (const [index, { resourceName, restartPolicy }] of resizePolicy.entries()) {
    if (names.has(resourceName)) duplicate(report, `${field}[${index}]`, resourceName)
    names.add(resourceName)
    if (resourceName === '') required(report, field)
    else if (!RESIZED.includes(resourceName)) notSupported(report, field, resourceName, RESIZED)
    if (restartPolicy === '') required(report, field)
    else if (!ON_RESIZE.includes(restartPolicy)) notSupported(report, field, restartPolicy, ON_RESIZE)
    if (ofPod === 'Never' && restartPolicy !== 'NotRequired') {
      invalid(report, field, restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'")
    }
  }
}

const POLICIES = ['Always', 'OnFailure', 'Never']
const ACTIONS = ['Restart', 'RestartAllContainers']
const OPERATORS = ['In', 'NotIn']
const MAX_RULES = 20
const MAX_CODES = 255

/** Whether an init container goes on beside those that follow it. */
export const isSidecar = ({ restartPolicy }: Pick<Container, 'restartPolicy'>): boolean => restartPolicy === 'Always'

export function checkRestarts (container: Container, isInit: boolean, at: string, report: Report): void {
  // what a later release stored is not for an earlier one to judge
  if (!isOn(report, 'SidecarContainers')) return
  const { restartPolicy: policy, restartPolicyRules: rules = [] } = container
  const field = `${at}.restartPolicy`
  if (isInit && !isSidecar(container)) refuseRestartOnResize(container, at, report)
  if (policy === undefined && rules.length > 0) {
    required(report, field, 'must specify restartPolicy when restart rules are used')
  }
  if (policy === undefined && (isInit || rules.length === 0)) return
  if (!isOn(report, 'ContainerRestartRules')) {
    if (!isInit) forbidden(report, field, 'may not be set for non-init containers')
    else if (policy !== 'Always') notSupported(report, field, policy, ['Always'])
    return
  }
  if (policy !== undefined && !POLICIES.includes(policy)) notSupported(report, field, policy, POLICIES)
  checkRules(rules, at, report)
}

/** What has run to its end is not started anew. */
function refuseRestartOnResize ({ resizePolicy = [] }: Container, at: string, report: Report): void {
  if (!isOn(report, 'InPlacePodVerticalScalingInitContainers')) return
  for (const [index, { restartPolicy }] of resizePolicy.entries()) {
    if (restartPolicy === 'RestartContainer') {
      invalid(
        forgiving(report), `${at}.resizePolicy[${index}].restartPolicy`, restartPolicy,
        "must not be set to 'RestartContainer' for init containers that are no sidecars"
      )
    }
  }
}

function checkRules (rules: NonNullable<Container['restartPolicyRules']>, at: string, report: Report): void {
  const list = `${at}.restartPolicyRules`
  if (rules.length > MAX_RULES) tooMany(report, list, rules.length, MAX_RULES)
  rules.slice(0, MAX_RULES).forEach(({ action, exitCodes }, index) => {
    const path = `${list}[${index}]`
    if (!ACTIONS.includes(action)) notSupported(report, `${path}.action`, action, ACTIONS)
    if (exitCodes === undefined) return required(report, `${path}.exitCodes`, 'must be specified')
    const { operator, values = [] } = exitCodes
    if (!OPERATORS.includes(operator)) notSupported(report, `${path}.exitCodes.operator`, operator, OPERATORS)
    if (values.length > MAX_CODES) tooMany(report, `${path}.exitCodes.values`, values.length, MAX_CODES)
  })
}

/** Whether a container that has ended may start again. */
export type MayStart = (name: string, exitCode: number) => boolean

/** @param containers those of one list of the pod */
export function mayStart (spec: PodSpec, containers: readonly Container[], report: Report): MayStart {
  const byPolicy = (policy: string | undefined, exitCode: number): boolean =>
    policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
  if (!isOn(report, 'ContainerRestartRules')) return (_name, exitCode) => byPolicy(spec.restartPolicy, exitCode)
  const restartsAll = [...spec.initContainers ?? [], ...spec.containers ?? []].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'))
  if (restartsAll && isOn(report, 'RestartAllContainersOnContainerExits')) return () => true
  return (name, exitCode) => {
    const container = containers.find(candidate => candidate.name === name)
    if (container === undefined) return false
    const { restartPolicy = spec.restartPolicy, restartPolicyRules: rules = [] } = container
    return rules.some(rule => isFor(rule, exitCode)) || byPolicy(restartPolicy, exitCode)
  }
}

const isFor = ({ action, exitCodes }: ContainerRestartRule, exitCode: number): boolean => action === 'Restart' &&
  exitCodes !== undefined && (exitCodes.values ?? []).includes(exitCode) === (exitCodes.operator === 'In')
