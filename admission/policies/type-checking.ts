/**
 * Warnings about expressions of a validating policy that do not suit the types that its rules name. They influence no
 * request. @see the public project's type checking of 1.36
 */
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { Problem } from '../../expressions/problem.js'
import type { Type } from '../../expressions/types.js'
import type { NamedRuleWithOperations } from '../../schemas/api/admissionregistration/policies.js'
import {
  addVariable, policyEnvironment, type OwnVariable, type PolicyVariables
} from '../../schemas/api/admissionregistration/policy-expressions.js'
import type {
  ExpressionWarning, ValidatingAdmissionPolicySpec
} from '../../schemas/api/admissionregistration/validating-policies.js'
import { celTypeOf } from '../../schemas/language/cel-types.js'
import type { Representation } from '../../schemas/resource.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { representationOf } from './parameters.js'

/** Of one rule. */
const MOST_TYPES = 10

/** @param named a group as clients know it */
export async function expressionWarnings (
  { paramKind, matchConstraints, variables = [], validations = [] }: ValidatingAdmissionPolicySpec,
  resources: ResourceRegistry, named = (group: string): string => group
): Promise<ExpressionWarning[]> {
  const params = paramKind === undefined ? undefined : representationOf({ paramKind }, resources)
  const checks: Array<{ readonly of: string, readonly given: PolicyVariables }> = []
  for (const { group, version, kind, message } of typesIn(matchConstraints?.resourceRules ?? [], resources)) {
    const types = new Map<string, OwnVariable>()
    const given = {
      params: params === undefined ? false : celTypeOf(params.message), authorizer: true, object: celTypeOf(message),
      variables: types
    }
    for (const { name, expression } of variables) {
      addVariable(types, name, check(expression, given).type)
      if (turnIsOver()) await nextTurn()
    }
    checks.push({ of: `${named(group)}/${version}, Kind=${kind}`, given })
  }
  const warnings: ExpressionWarning[] = []
  for (const [index, { expression, messageExpression = '' }] of validations.entries()) {
    for (const [field, text] of Object.entries({ expression, messageExpression })) {
      const problems: string[] = []
      for (const { of, given } of text === '' ? [] : checks) {
        const { problem } = check(text, given)
        if (problem !== undefined) problems.push(`${of}: ${problem}\n`)
        if (turnIsOver()) await nextTurn()
      }
      if (problems.length > 0) {
        warnings.push({ fieldRef: `spec.validations[${index}].${field}`, warning: problems.join('\n') })
      }
    }
  }
  return warnings
}

function check (expression: string, given: PolicyVariables): { readonly type: Type, readonly problem?: string } {
  try {
    return { type: policyEnvironment(given).compile(expression).type }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { type: { kind: 'dyn' }, problem: error.message }
  }
}

const hasWildcard = (names: readonly string[]): boolean => names.some(name => name.includes('*'))

/** The served types that rules name, without wildcards and subresources. */
function typesIn (rules: readonly NamedRuleWithOperations[], resources: ResourceRegistry): Representation[] {
  const matching = new Set<Representation>()
  for (const { apiGroups = [], apiVersions = [], resources: plurals = [] } of rules) {
    if (hasWildcard(apiGroups) || hasWildcard(apiVersions)) continue
    let count = 0
    for (const group of apiGroups.toSorted()) {
      for (const version of apiVersions.toSorted()) {
        for (const resource of plurals.filter(plural => !/[*/]/.test(plural)).toSorted()) {
          const store = resources.lookup({ group, version, resource })
          if (store === undefined) continue
          matching.add(store.representation)
          if (++count === MOST_TYPES) return inOrder(matching)
        }
      }
    }
  }
  return inOrder(matching)
}

const inOrder = (matching: ReadonlySet<Representation>): Representation[] => [...matching].sort((a, b) =>
  compare(a.group, b.group) || compare(a.version, b.version) || compare(a.kind, b.kind))
const compare = (a: string, b: string): number => a < b ? -1 : Number(a > b)
