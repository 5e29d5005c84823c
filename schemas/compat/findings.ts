/** What a client with public names may not write, because this server would take it for something else. */
import type { ApiObject } from '../resource.js'
import type { FieldError } from '../status.js'
import { ambiguousNames } from './text.js'

type Rule = Readonly<Partial<Record<'apiGroups' | 'resources' | 'resourceNames', readonly string[]>>>

/**
 * @param object as it would be stored, under our names @param old what is stored: what a request leaves as it was is
 * not its fault
 */
export function publicFindings (object: ApiObject, old: ApiObject | undefined): FieldError[] {
  if (object.apiVersion?.startsWith('rbac.authorization.orch.io/') !== true || !('rules' in object)) return []
  return ofRules(object.rules, old !== undefined && 'rules' in old ? old.rules : undefined)
}

function ofRules (rules: unknown, old: unknown): FieldError[] {
  if (!Array.isArray(rules)) return []
  const known = new Set(Array.isArray(old) ? old.map(rule => JSON.stringify(rule)) : [])
  return rules.flatMap((rule: Rule, at) => {
    const { apiGroups = [], resources = [], resourceNames = [] } = rule
    if (resourceNames.length === 0 || known.has(JSON.stringify(rule))) return []
    return ambiguousNames(apiGroups, resources, resourceNames).map((value): FieldError => ({
      type: 'FieldValueInvalid',
      field: `rules[${at}].resourceNames`,
      value,
      detail: 'the resources of the rule do not agree about what has this name; write a rule for each resource'
    }))
  })
}
