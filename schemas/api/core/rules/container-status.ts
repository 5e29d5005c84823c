/** Validation of what node agents say of the users and devices of containers. */
import type { Report } from '../../../language/declare.js'
import { duplicate, forbidden, invalid, notSupported, required, tooLong } from '../../../rules/findings.js'
import type { Container } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'
import type { ContainerStatus, PodStatus } from '../pod-status.js'
import type { ResourceStatus } from '../restarts.js'
import { checkId } from './security.js'

export function checkContainerStatuses (spec: PodSpec, status: PodStatus, report: Report): void {
  const { containers = [], initContainers = [], os } = spec
  for (const [list, all] of [
    ['containerStatuses', containers], ['initContainerStatuses', initContainers], ['ephemeralContainerStatuses', []]
  ] as const) {
    status[list]?.forEach((reported, index) => {
      const path = `status.${list}[${index}]`
      checkUser(reported, os?.name === 'windows', path, report)
      const { allocatedResourcesStatus: devices = [] } = reported
      const field = `${path}.allocatedResourcesStatus`
      if (list === 'ephemeralContainerStatuses') {
        if (devices.length > 0) forbidden(report, field, 'must not be specified in container status')
        return
      }
      const container = all.find(({ name }) => name === reported.name)
      devices.forEach((device, place) => { checkDevices(device, container, `${field}[${place}]`, report) })
    })
  }
}

function checkUser ({ user }: ContainerStatus, onWindows: boolean, at: string, report: Report): void {
  const path = `${at}.user.linux`
  if (user?.linux === undefined) return
  if (onWindows) return forbidden(report, path, 'cannot be set for a windows pod')
  const { uid, gid, supplementalGroups = [] } = user.linux
  checkId(uid, `${path}.uid`, report)
  checkId(gid, `${path}.gid`, report)
  supplementalGroups.forEach((id, index) => { checkId(id, `${path}.supplementalGroups[${index}]`, report) })
}

const HEALTH = ['Healthy', 'Unhealthy', 'Unknown']
const MAX_MESSAGE = 1024

/** @param container undefined for one that the pod does not have, which is no fault */
function checkDevices (
  { name, resources = [] }: ResourceStatus, container: Container | undefined, at: string, report: Report
): void {
  if (container !== undefined && !usedBy(container).has(name)) {
    invalid(report, `${at}.name`, name, 'must match a resource request or a claim (claim:NAME) of the container')
  }
  const seen = new Set<string>()
  resources.forEach(({ resourceID, health = '', message }, index) => {
    const path = `${at}.resources[${index}]`
    if (!HEALTH.includes(health)) notSupported(report, `${path}.health`, health, HEALTH)
    if (message === '') required(report, `${path}.message`, 'must be non-empty if specified')
    else if (message !== undefined && Buffer.byteLength(message) > MAX_MESSAGE) {
      tooLong(report, `${path}.message`, MAX_MESSAGE)
    }
    if (seen.has(resourceID)) duplicate(report, `${path}.resourceID`, resourceID)
    seen.add(resourceID)
  })
}

/** The resources and claims of a container, under the names that node agents give them. */
const usedBy = ({ resources: { requests = {}, claims = [] } }: Container): ReadonlySet<string> => new Set([
  ...Object.keys(requests).filter(name => !name.startsWith('claim:')),
  ...claims.map(({ name, request = '' }) => request === '' ? `claim:${name}` : `claim:${name}/${request}`)
])
