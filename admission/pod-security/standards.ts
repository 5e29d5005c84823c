/** The pod security standards: checks by release, in the order of messages. */
import type { PodLike } from '../pod-templates.js'
import type { CheckPod, Violation } from './check.js'
import {
  hostNamespaces, hostPathVolumes, hostPorts, hostProbes, SAFE_SYSCTLS, sysctlsOf, windowsHostProcess
} from './host-checks.js'
import type { LevelVersion } from './policy.js'
import {
  appArmor, defaultCapabilities, privileged, procMount, SELINUX_TYPES, seLinuxOf
} from './privilege-checks.js'
import { fewCapabilities, fewVolumes, noEscalation, notRoot, notRootsUser } from './restricted-checks.js'
import { seccompAnnotations, seccompNotOff, seccompOn } from './seccomp-checks.js'

interface Standard {
  /** The check from each minor release on, ascending. */
  readonly since: ReadonlyArray<readonly [minor: number, check: CheckPod]>
  /** The check of the restricted standard that replaces it there. */
  readonly within?: Standard
}

const from = (minor: number, check: CheckPod): Standard => ({ since: [[minor, check]] })

/** A check that does not concern pods of Windows. */
const onLinux = (check: CheckPod): CheckPod => pod => pod.spec.os?.name === 'windows' ? undefined : check(pod)
/** A check that does not concern pods with users of their own. */
const ofHostUsers = (check: CheckPod): CheckPod => pod => pod.spec.hostUsers === false ? undefined : check(pod)

const CAPABILITIES: Standard = { since: [[22, fewCapabilities], [25, onLinux(fewCapabilities)]] }
const PROC_MOUNT = from(35, procMount)
const VOLUMES = from(0, fewVolumes)
const SECCOMP: Standard = { since: [[19, seccompOn], [25, onLinux(seccompOn)]] }
const SYSCTLS = [
  [0, SAFE_SYSCTLS], [27, ['net.ipv4.ip_local_reserved_ports']],
  [29, ['tcp_keepalive_time', 'tcp_fin_timeout', 'tcp_keepalive_intvl', 'tcp_keepalive_probes']
    .map(name => `net.ipv4.${name}`)],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']]
] as const
const sysctls: Standard['since'] = SYSCTLS.map(([minor], index) =>
  [minor, sysctlsOf(new Set(SYSCTLS.slice(0, index + 1).flatMap(([, names]) => names)))])

const BASELINE: readonly Standard[] = [
  from(0, appArmor), { ...from(0, defaultCapabilities), within: CAPABILITIES }, from(0, hostNamespaces),
  { ...from(0, hostPathVolumes), within: VOLUMES }, from(0, hostPorts), from(34, hostProbes), from(0, privileged),
  { since: [[0, procMount], [35, ofHostUsers(procMount)]], within: PROC_MOUNT },
  { since: [[0, seLinuxOf(SELINUX_TYPES)], [31, seLinuxOf([...SELINUX_TYPES, 'container_engine_t'])]] },
  { since: [[0, seccompAnnotations], [19, seccompNotOff]], within: SECCOMP }, { since: sysctls },
  from(0, windowsHostProcess)
]
const RESTRICTED: readonly Standard[] = [
  { since: [[8, noEscalation], [25, onLinux(noEscalation)]] }, CAPABILITIES, VOLUMES, PROC_MOUNT,
  { since: [[0, notRoot], [35, ofHostUsers(notRoot)]] },
  { since: [[23, notRootsUser], [35, ofHostUsers(notRootsUser)]] },
  SECCOMP
]

const checkAt = ({ since }: Standard, minor: number): CheckPod | undefined =>
  since.findLast(([first]) => first <= minor)?.[1]

/** All violations of the standard by the pod. @param newest the minor release that the latest version means */
export function violations ({ level, minor: version }: LevelVersion, pod: PodLike, newest: number): Violation[] {
  if (level === 'privileged') return []
  const minor = Math.min(version, newest)
  const isRestricted = level === 'restricted'
  const baseline = BASELINE.filter(({ within }) => !isRestricted || within === undefined ||
    checkAt(within, minor) === undefined)
  return [...baseline, ...isRestricted ? RESTRICTED : []].flatMap(standard => checkAt(standard, minor)?.(pod) ?? [])
}

/** `privileged (container "a" …), hostPort (…)` */
export const inDetail = (list: readonly Violation[]): string =>
  list.map(({ reason, detail }) => detail === '' ? reason : `${reason} (${detail})`).join(', ')
export const inShort = (list: readonly Violation[]): string => list.map(({ reason }) => reason).join(', ')
