/** Role (v1): rules that can be granted within its namespace. */
import type { Report, Static } from '../../language/declare.js'
import { resource } from '../../resource.js'
import { metadata } from '../../meta/object.js'
import { common, kind } from './package.js'
import { rules, validateRule } from './rules.js'

export type Role = Static<typeof Role>
export const Role = kind('Role', 'Rules that can be granted within its namespace.', { metadata, rules }, {
  validate: (role, at, report) => validateRole(role, report)
})

function validateRole (role: Role, report: Report): void {
  role.rules?.forEach((rule, index) => validateRule(rule, true, `rules[${index}]`, report))
}

export const roles = resource(Role, { ...common, plural: 'roles', namespaced: true })
