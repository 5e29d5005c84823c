/** Compiles the rules of a schema. */
import { Problem, type Program } from '../../expressions/program.js'
import { DYN, type Type } from '../../expressions/types.js'
import { hasRule } from '../api/apiextensions/rules/expressions.js'
import { fieldPath } from '../api/apiextensions/rules/field-path.js'
import { isSchema, type JSONSchemaProps as Schema, type ValidationRule } from '../api/apiextensions/schemas.js'
import type { FieldError } from '../status.js'
import type { Steps } from '../steps.js'
import { readMessage, readRule, type Rule } from './rule.js'
import { sharedType } from './schema-types.js'

export interface CompiledRule {
  readonly text: string
  readonly message: string
  /** Or why it does not compile. */
  readonly compiled: Rule | string
  /** Makes messages. */
  readonly messages: Program | undefined
  readonly messageText: string
  readonly isOptional: boolean
  readonly reason: FieldError['type']
  /** Path of the field to blame, below the value. */
  readonly path: string
}

/** A schema with rules of its own, or with rules in its parts. */
export interface Ruled {
  readonly schema: Schema
  readonly type: Type
  readonly rules: readonly CompiledRule[]
  readonly items: Ruled | undefined
  readonly values: Ruled | undefined
  readonly properties: ReadonlyMap<string, Ruled>
}

/** Compiles the rules of a schema, in steps. Undefined if there are none. @param isObject root of an object */
export function * compileRules (
  schema: Schema, isObject = schema['x-orch-embedded-resource'] === true
): Steps<Ruled | undefined> {
  if (!hasRule(schema)) return undefined
  yield
  const { 'x-orch-validations': declared = [], items, additionalProperties } = schema
  const [rules, properties] = [[] as CompiledRule[], new Map<string, Ruled>()]
  const type = declared.length === 0 ? undefined : sharedType(schema, isObject)
  for (const rule of declared) {
    if ((rule.rule ?? '').trim() === '' || type === undefined) continue
    rules.push(compiledRule(rule, schema, type))
    yield
  }
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    const ruled = yield * compileRules(part)
    if (ruled !== undefined) properties.set(name, ruled)
  }
  return {
    schema, type: type ?? DYN, rules, properties,
    items: isSchema(items) ? yield * compileRules(items) : undefined,
    values: isSchema(additionalProperties) ? yield * compileRules(additionalProperties) : undefined
  }
}

function compiledRule (rule: ValidationRule, schema: Schema, type: Type): CompiledRule {
  const { rule: text = '', message = '', messageExpression = '', reason, fieldPath: path = '' } = rule
  const isOptional = rule.optionalOldSelf === true
  const messages = messageExpression.trim() === ''
    ? undefined
    : attempt(() => readMessage(messageExpression, type, isOptional))
  return {
    text: text.trim(), message: message.trim(), messageText: messageExpression, isOptional,
    compiled: attempt(() => readRule(text, type, isOptional)),
    messages: typeof messages === 'string' ? undefined : messages,
    reason: (reason ?? 'FieldValueInvalid') as FieldError['type'], // one of REASONS
    path: fieldPath(path, schema) ?? ''
  }
}

function attempt<T> (compile: () => T): T | string {
  try {
    return compile()
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}
