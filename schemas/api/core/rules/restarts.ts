/** Validation of restart policies of containers, and of what a change of their resources means. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/declare.js'
import { duplicate, forbidden, invalid, notSupported, required, tooMany } from '../../../rules/findings.js'
import type { Container } from '../containers.js'

/** What may change of a running container. */
export const RESIZED = ['cpu', 'memory']
const ON_RESIZE = ['NotRequired', 'RestartContainer']

/** @param ofPod the restart policy of the pod */
export function checkResizePolicy (
  { resizePolicy = [] }: Container, ofPod: string | undefined, at: string, report: Report
): void {
  const names = new Set<string>()
  const field = `${at}.resizePolicy`
  for (const { resourceName, restartPolicy } of resizePolicy) {
    if (names.has(resourceName)) duplicate(report, field, resourceName)
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
  if (policy === undefined) {
    if (rules.length > 0) required(report, field, 'must specify restartPolicy when restart rules are used')
    return
  }
  if (!isOn(report, 'ContainerRestartRules')) {
    if (!isInit) forbidden(report, field, 'may not be set for non-init containers')
    else if (policy !== 'Always') notSupported(report, field, policy, ['Always'])
    return
  }
  if (!POLICIES.includes(policy)) notSupported(report, field, policy, POLICIES)
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
