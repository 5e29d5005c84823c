/** The default roles and bindings of a server. */
import type { Gates } from '../../../schemas/gates.js'
import { BINDINGS } from './bindings.js'
import { COMPONENT_ROLES } from './component-roles.js'
import { CONTROLLER_ROLES } from './controller-roles.js'
import { LATER_BINDINGS, LATER_NAMESPACED_RULES, LATER_ROLES } from './later-roles.js'
import { LATER_RULES } from './later-rules.js'
import { NAMESPACED_ROLES } from './namespaced-roles.js'
import type { DefaultBinding, DefaultRole } from './types.js'
import { USER_ROLES } from './user-roles.js'

/** The release whose rules `later-rules.ts` has. */
const LATER = '1.36'

type Enabled = Pick<Gates, 'enabled'>
const isOn = (gates: Enabled, { gates: needed = [] }: { readonly gates?: readonly string[] }): boolean =>
  needed.every(gate => gates.enabled(gate))

/** The roles with the rules of the emulated release whose gates are on. */
function rolesOf<R extends DefaultRole> (
  roles: readonly R[], later: Readonly<Record<string, readonly string[]>>, gates: Enabled
): R[] {
  return roles.filter(role => isOn(gates, role)).map(role => ({
    ...role, rules: ((gates.enabled(LATER) ? later[role.name] : undefined) ?? role.rules).flatMap(text => {
      const [rule = '', needed] = text.split(' @')
      return isOn(gates, { gates: needed?.split(',') ?? [] }) ? [rule] : []
    })
  }))
}

export const clusterRolesOf = (gates: Enabled): DefaultRole[] =>
  rolesOf([...USER_ROLES, ...COMPONENT_ROLES, ...CONTROLLER_ROLES, ...LATER_ROLES], LATER_RULES, gates)
export const namespacedRolesOf = (gates: Enabled): Array<typeof NAMESPACED_ROLES[number]> =>
  rolesOf(NAMESPACED_ROLES, LATER_NAMESPACED_RULES, gates)

/** Bindings of one name are one. */
export function bindingsOf (gates: Enabled): DefaultBinding[] {
  const all = new Map<string, DefaultBinding>()
  for (const binding of [...BINDINGS, ...LATER_BINDINGS].filter(binding => isOn(gates, binding))) {
    const key = `${binding.namespace ?? ''}/${binding.name}`
    const known = all.get(key)
    all.set(key, known === undefined ? binding : { ...known, subjects: [...known.subjects, ...binding.subjects] })
  }
  return [...all.values()]
}
