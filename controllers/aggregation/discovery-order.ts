/** Groups and their versions in the order of discovery: by the priorities of their APIServices. */
import { byStage, prioritiesOf } from '../../schemas/groups.js'
import { GROUP, nameOf } from './local-services.js'
import type { RegisteredService } from './registered-services.js'

type Listed = Pick<RegisteredService, 'name' | 'group' | 'version' | 'groupPriority' | 'versionPriority'>

const byName = (one: Listed, other: Listed): number => one.name < other.name ? -1 : Number(one.name > other.name)

/** @param own what this server serves; until its APIServices exist, a local group has upstream's priorities */
export function discoveryOrder (
  own: Iterable<{ readonly group: string, readonly version: string }>,
  registered: ReadonlyMap<string, RegisteredService>
): Map<string, string[]> {
  const listed = new Map<string, Listed>()
  for (const { group, version } of own) {
    const name = nameOf(group, version)
    if (listed.has(name)) continue
    const { group: groupPriority, version: versionPriority } = prioritiesOf(group, version)
    listed.set(name, registered.get(name) ?? { name, group, version, groupPriority, versionPriority })
  }
  for (const service of registered.values()) {
    if (service.remote !== undefined && service.group !== GROUP) listed.set(service.name, service)
  }
  const inOrder = [...listed.values()].sort((one, other) => other.groupPriority - one.groupPriority ||
    byName(one, other))
  const groups = new Map<string, Listed[]>()
  // its own group comes first, whatever priorities others request
  if (inOrder.some(({ group }) => group === GROUP)) groups.set(GROUP, [])
  for (const service of inOrder) groups.set(service.group, [...groups.get(service.group) ?? [], service])
  return new Map([...groups].map(([group, versions]) => [group, versions.sort((one, other) =>
    other.versionPriority - one.versionPriority || byStage(one.version, other.version)).map(({ version }) => version)]))
}
