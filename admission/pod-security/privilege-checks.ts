/** Checks of the baseline standard: privileges of containers. */
import type { SELinuxOptions } from '../../schemas/api/core/security-contexts.js'
import {
  sorted, plural, containersNamed, quoted, containersOf, containersWhere, securityContextsWhere, type CheckPod
} from './check.js'

export const privileged: CheckPod = pod => {
  const bad = containersWhere(pod, context => context?.privileged === true)
  return bad.length === 0
    ? undefined
    : { reason: 'privileged', detail: `${containersNamed(bad)} must not set securityContext.privileged=true` }
}

const DEFAULT_CAPABILITIES: ReadonlySet<string> = new Set([
  'AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'SETFCAP', 'SETGID',
  'SETPCAP', 'SETUID', 'SYS_CHROOT'
])

/** Describes containers that add other capabilities; undefined if none does. */
export function addedBeyond (pod: Parameters<CheckPod>[0], allowed: ReadonlySet<string>): string | undefined {
  const bad = containersOf(pod)
    .map(({ name, securityContext }) =>
      ({ name, added: (securityContext?.capabilities?.add ?? []).filter(capability => !allowed.has(capability)) }))
    .filter(({ added }) =>
      added.length > 0)
  if (bad.length === 0) return undefined
  return `${containersNamed(bad.map(({ name }) => name))} must not include ` +
    `${quoted(sorted(bad.flatMap(({ added }) => added)))} in securityContext.capabilities.add`
}

export const defaultCapabilities: CheckPod = pod => {
  const detail = addedBeyond(pod, DEFAULT_CAPABILITIES)
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail }
}

export const procMount: CheckPod = pod => {
  const mounts: string[] = []
  const bad = containersWhere(pod, context => {
    const { procMount: mount = 'Default' } = context ?? {}
    if (mount !== 'Default') mounts.push(mount)
    return mount !== 'Default'
  })
  return bad.length === 0
    ? undefined
    : {
        reason: 'procMount',
        detail: `${containersNamed(bad)} must not set securityContext.procMount to ${quoted(sorted(mounts))}`
      }
}

const APP_ARMOR = 'container.apparmor.security.beta.orch.io/'

export const appArmor: CheckPod = pod => appArmorAnnotations(pod) ?? appArmorFields(pod)

const appArmorFields: CheckPod = pod => {
  const offenders = securityContextsWhere(pod, ({ appArmorProfile }) => appArmorProfile?.type === 'Unconfined')
  return offenders === undefined
    ? undefined
    : {
        reason: 'forbidden AppArmor profile',
        detail: `${offenders} must not set AppArmor profile type to "Unconfined"`
      }
}

const appArmorAnnotations: CheckPod = ({ metadata }) => {
  const isAllowed = (profile: string): boolean => profile === '' || profile === 'runtime/default' ||
    profile.startsWith('localhost/')
  const offenders = Object.entries(metadata.annotations ?? {})
    .filter(([name, profile]) => name.startsWith(APP_ARMOR) && !isAllowed(profile))
    .map(([name, profile]) => `${name}=${JSON.stringify(profile)}`)
    .sort()
  return offenders.length === 0
    ? undefined
    : {
        reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', offenders.length),
        detail: offenders.join(', ')
      }
}

/** Types that every release allows. */
export const SELINUX_TYPES: readonly string[] = ['', 'container_t', 'container_init_t', 'container_kvm_t']

export const seLinuxOf = (allowed: readonly string[]): CheckPod => pod => {
  const all: SELinuxOptions[] = []
  const offenders = securityContextsWhere(pod, ({ seLinuxOptions: options }) => {
    if (options === undefined || (allowed.includes(options.type ?? '') && !options.user && !options.role)) return false
    all.push(options)
    return true
  })
  if (offenders === undefined) return undefined
  const types = sorted(all.map(({ type = '' }) => type).filter(type => !allowed.includes(type)))
  const what = [
    ...types.length > 0 ? [`${plural('type', 'types', types.length)} ${quoted(types)}`] : [],
    ...all.some(({ user }) => user) ? ['user may not be set'] : [],
    ...all.some(({ role }) => role) ? ['role may not be set'] : []
  ]
  return {
    reason: 'seLinuxOptions', detail: `${offenders} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`
  }
}
