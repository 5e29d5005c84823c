/** What this server would take for something else than its writer means, in objects under our names. */
import type { ApiObject } from '../meta/api-object.js'
import { mayHavePublicNames } from '../public-names.js'
import type { FieldError } from '../status.js'
import { misnamed } from './acted.js'
import { ambiguousNames } from './text.js'

/**
 * What a client with public names may not write.
 * @param object as it would be stored, under our names
 * @param old what is stored: what a request leaves as it was is not its fault
 */
export function publicFindings (object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const own = misnamed(object, old).map(({ field, partner }): FieldError => {
    const detail = `this server acts upon "${partner}", but not upon its own name of that: use "${partner}"`
    return { type: 'FieldValueForbidden', field, detail }
  })
  if (object.apiVersion?.startsWith('rbac.authorization.orch.io/') !== true || !('rules' in object)) return own
  return [...own, ...ofRules(object.rules, old !== undefined && 'rules' in old ? old.rules : undefined)]
}

/** Warnings about names of the public project, which do nothing here. */
export const misnamedWarnings = (object: ApiObject, old: ApiObject | undefined): string[] =>
  misnamed(object, old).map(({ field, name, partner }) =>
    `${field}: "${name}" has no effect on this server, which acts upon "${partner}"`)

/** Whether a body may have names of the public project. */
export function mayBeMisnamed (body: Uint8Array): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return mayHavePublicNames(bytes) || bytes.includes('\\') // letters may be escaped
}

type Rule = Readonly<Partial<Record<'apiGroups' | 'resources' | 'resourceNames', readonly string[]>>>

function ofRules (rules: unknown, old: unknown): FieldError[] {
  if (!Array.isArray(rules)) return []
  let known: ReadonlySet<string> | undefined
  return rules.flatMap((rule: Rule, at) => {
    const ambiguous = ambiguousNames(rule.apiGroups ?? [], rule.resources ?? [], rule.resourceNames ?? [])
    if (ambiguous.length === 0) return []
    known ??= new Set(Array.isArray(old) ? old.map(item => JSON.stringify(item)) : [])
    return known.has(JSON.stringify(rule)) ? [] : ambiguous.map(value => finding(at, value))
  })
}

const finding = (at: number, value: string): FieldError => ({
  type: 'FieldValueInvalid',
  field: `rules[${at}].resourceNames`,
  value,
  detail: 'the resources of the rule do not agree about what has this name; write a rule for each resource'
})
