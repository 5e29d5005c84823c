/** Checks of the baseline standard: isolation from the node. */
import { sorted, plural, containersNamed, quoted, containersOf, securityContextsWhere, type CheckPod } from './check.js'

export const hostNamespaces: CheckPod = ({ spec }) => {
  const offenders = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter(name => spec[name] === true)
  return offenders.length === 0
    ? undefined
    : { reason: 'host namespaces', detail: offenders.map(name => `${name}=true`).join(', ') }
}

export const hostPathVolumes: CheckPod = ({ spec: { volumes = [] } }) => {
  const offenders = volumes.filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name)
  return offenders.length === 0
    ? undefined
    : { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', offenders.length)} ${quoted(offenders)}` }
}

export const hostPorts: CheckPod = pod => {
  const bad = containersOf(pod)
    .map(({ name, ports = [] }) =>
      ({ name, ports: ports.filter(({ hostPort = 0 }) => hostPort !== 0).map(({ hostPort }) => String(hostPort)) }))
    .filter(({ ports }) =>
      ports.length > 0)
  if (bad.length === 0) return undefined
  const ports = sorted(bad.flatMap(({ ports }) => ports))
  return {
    reason: 'hostPort',
    detail: `${containersNamed(bad.map(({ name }) => name))} ${plural('uses', 'use', bad.length)} ` +
      `${plural('hostPort', 'hostPorts', ports.length)} ${ports.join(', ')}`
  }
}

/** Probes and lifecycle hooks may only connect to the pod itself. */
export const hostProbes: CheckPod = pod => {
  const bad = containersOf(pod).map(({ name, livenessProbe, readinessProbe, startupProbe, lifecycle }) => {
    const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop]
    const hosts = handlers.flatMap(handler => [handler?.httpGet?.host, handler?.tcpSocket?.host])
    return { name, hosts: hosts.filter(host => host !== undefined && host !== '') as string[] }
  }).filter(({ hosts }) => hosts.length > 0)
  if (bad.length === 0) return undefined
  const hosts = sorted(bad.flatMap(container => container.hosts))
  return {
    reason: 'probe or lifecycle host',
    detail: `${containersNamed(bad.map(({ name }) => name))} ${plural('uses', 'use', bad.length)} probe or lifecycle ` +
      `${plural('host', 'hosts', hosts.length)} ${quoted(hosts)}`
  }
}

export const windowsHostProcess: CheckPod = pod => {
  const offenders = securityContextsWhere(pod, ({ windowsOptions }) => windowsOptions?.hostProcess === true)
  return offenders === undefined
    ? undefined
    : { reason: 'hostProcess', detail: `${offenders} must not set securityContext.windowsOptions.hostProcess=true` }
}

/** Those that are safe in every release. */
export const SAFE_SYSCTLS: readonly string[] = [
  'kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies', 'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start'
]

export const sysctlsOf = (safe: ReadonlySet<string>): CheckPod => ({ spec }) => {
  const offenders = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter(name => !safe.has(name))
  return offenders.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: offenders.join(', ') }
}
