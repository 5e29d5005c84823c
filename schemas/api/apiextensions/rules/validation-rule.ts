/** The form of a rule in CEL. `expressions.ts` compiles it, if the feature gate is on. */
import type { Report } from '../../../language/declare.js'
import { invalid, notSupported, required } from '../../../rules/findings.js'
import { REASONS, type JSONSchemaProps as Schema, type ValidationRule } from '../schemas.js'
import { fieldPath } from './field-path.js'

const BREAK = /[\n\r]/

export function validateRule (
  { rule = '', message = '', messageExpression = '', reason, fieldPath: path = '' }: ValidationRule, schema: Schema,
  at: string, report: Report
): void {
  const [text, words] = [rule.trim(), message.trim()]
  if (text === '') required(report, `${at}.rule`, 'rule is not specified')
  else if (message !== '' && words === '') {
    invalid(report, `${at}.message`, message, 'message must be non-empty if specified')
  } else if (BREAK.test(words)) invalid(report, `${at}.message`, message, 'message must not contain line breaks')
  else if (BREAK.test(text) && words === '') {
    required(report, `${at}.message`, 'message must be specified if rule contains line breaks')
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    required(report, `${at}.messageExpression`, 'messageExpression must be non-empty if specified')
  }
  if (reason !== undefined && !REASONS.includes(reason)) notSupported(report, `${at}.reason`, reason, REASONS)
  if (path === '') return
  const wrong = (detail: string): void => { invalid(report, `${at}.fieldPath`, path, detail) }
  if (path.trim() === '') wrong('fieldPath must be non-empty if specified')
  if (BREAK.test(path)) wrong('fieldPath must not contain line breaks')
  if (fieldPath(path, schema) === undefined) wrong('fieldPath must be a valid path')
}
