/** Checks of the restricted standard only. */
import type { Volume } from '../../schemas/api/core/pod-volumes.js'
import {
  sorted, plural, containersNamed, quoted, containersWhere, securityContextsWhere, type CheckPod
} from './check.js'
import { addedBeyond } from './privilege-checks.js'

export const noEscalation: CheckPod = pod => {
  const bad = containersWhere(pod, context => context?.allowPrivilegeEscalation !== false)
  return bad.length === 0
    ? undefined
    : {
        reason: 'allowPrivilegeEscalation != false',
        detail: `${containersNamed(bad)} must set securityContext.allowPrivilegeEscalation=false`
      }
}

const BINDING: ReadonlySet<string> = new Set(['NET_BIND_SERVICE'])

export const fewCapabilities: CheckPod = pod => {
  const kept = containersWhere(pod, context => context?.capabilities?.drop?.includes('ALL') !== true)
  const added = addedBeyond(pod, BINDING)
  const offenders = [
    ...kept.length > 0 ? [`${containersNamed(kept)} must set securityContext.capabilities.drop=["ALL"]`] : [],
    ...added === undefined ? [] : [added]
  ]
  return offenders.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: offenders.join('; ') }
}

const VOLUMES: ReadonlySet<string> = new Set([
  'configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim', 'projected', 'secret'
])

/** The type of its source. */
const typeOf = ({ name, ...source }: Volume): string =>
  Object.keys(source).find(member => (source as Record<string, unknown>)[member] != null) ?? 'unknown'

export const fewVolumes: CheckPod = ({ spec: { volumes = [] } }) => {
  const bad = volumes.filter(volume => !VOLUMES.has(typeOf(volume)))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map(typeOf))
  return {
    reason: 'restricted volume types',
    detail: `${plural('volume', 'volumes', bad.length)} ${quoted(bad.map(({ name }) => name))} ` +
      `${plural('uses', 'use', bad.length)} ` +
      `${plural('restricted volume type', 'restricted volume types', types.length)} ${quoted(types)}`
  }
}

export const notRoot: CheckPod = pod => {
  const reason = 'runAsNonRoot != true'
  const offenders = securityContextsWhere(pod, ({ runAsNonRoot }) => runAsNonRoot === false)
  if (offenders !== undefined) return { reason, detail: `${offenders} must not set securityContext.runAsNonRoot=false` }
  if (pod.spec.securityContext?.runAsNonRoot === true) return undefined
  const silent = containersWhere(pod, context => context?.runAsNonRoot === undefined)
  return silent.length === 0
    ? undefined
    : { reason, detail: `pod or ${containersNamed(silent)} must set securityContext.runAsNonRoot=true` }
}

export const notRootsUser: CheckPod = pod => {
  const offenders = securityContextsWhere(pod, ({ runAsUser }) => runAsUser === 0)
  return offenders === undefined
    ? undefined
    : { reason: 'runAsUser=0', detail: `${offenders} must not set runAsUser=0` }
}
