/** The pod security standards: checks by release, in the order of messages. */
import type { PodLike } from '../pod-templates.js'
import type { CheckPod, Violation } from './check.js'
import { hostNamespaces, hostPathVolumes, hostPorts, sysctls, windowsHostProcess } from './host-checks.js'
import type { LevelVersion } from './policy.js'
import { appArmor, defaultCapabilities, privileged, procMount, seLinux } from './privilege-checks.js'
import { fewCapabilities, fewVolumes, noEscalation, notRoot, notRootsUser } from './restricted-checks.js'
import { seccompAnnotations, seccompNotOff, seccompOn } from './seccomp-checks.js'

interface Standard {
  /** The check from each minor release on, ascending. */
  readonly since: ReadonlyArray<readonly [minor: number, check: CheckPod]>
  /** The check of the restricted standard that replaces it there. */
  readonly within?: Standard
}

const from = (minor: number, check: CheckPod): Standard => ({ since: [[minor, check]] })

const CAPABILITIES = from(22, fewCapabilities)
const VOLUMES = from(0, fewVolumes)
const SECCOMP = from(19, seccompOn)

const BASELINE: readonly Standard[] = [
  from(0, appArmor), { ...from(0, defaultCapabilities), within: CAPABILITIES }, from(0, hostNamespaces),
  { ...from(0, hostPathVolumes), within: VOLUMES }, from(0, hostPorts), from(0, privileged), from(0, procMount),
  from(0, seLinux), { since: [[0, seccompAnnotations], [19, seccompNotOff]], within: SECCOMP }, from(0, sysctls),
  from(0, windowsHostProcess)
]
const RESTRICTED: readonly Standard[] = [
  from(8, noEscalation), CAPABILITIES, VOLUMES, from(0, notRoot), from(23, notRootsUser), SECCOMP
]

const checkAt = ({ since }: Standard, minor: number): CheckPod | undefined =>
  since.findLast(([first]) => first <= minor)?.[1]

/** All violations of the standard by the pod. */
export function violations ({ level, minor }: LevelVersion, pod: PodLike): Violation[] {
  if (level === 'privileged') return []
  const isRestricted = level === 'restricted'
  const baseline = BASELINE.filter(({ within }) => !isRestricted || within === undefined ||
    checkAt(within, minor) === undefined)
  return [...baseline, ...isRestricted ? RESTRICTED : []].flatMap(standard => checkAt(standard, minor)?.(pod) ?? [])
}

/** `privileged (container "a" …), hostPort (…)` */
export const inDetail = (list: readonly Violation[]): string =>
  list.map(({ reason, detail }) => detail === '' ? reason : `${reason} (${detail})`).join(', ')
export const inShort = (list: readonly Violation[]): string => list.map(({ reason }) => reason).join(', ')
