/** Validation of what requests and classes have in common: selectors, settings and tolerations. */
import { rawJson } from '../../../codec/json/escape.js'
import { Environment, Problem } from '../../../../expressions/program.js'
import { BOOL, DYN, mapOf, objectOf, STRING, type Type } from '../../../../expressions/types.js'
import type { Gates } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { qualifiedName } from '../../../names.js'
import { checkName, forbidden, invalid, notSupported, required, tooLong } from '../../../rules/findings.js'
import type { Steps } from '../../../steps.js'
import type { DeviceConfiguration, DeviceSelector, DeviceToleration } from '../v1.js'
import { checkDriver, checkValue, isShort } from './names.js'

/** Of selectors of a request or class, of requests, constraints and settings of a claim. */
export const MOST = 32
const MAX_EXPRESSION = 10 * 1024
const MAX_COST = 1_000_000
const MAX_SETTINGS = 10 * 1024
const [MAX_DOMAIN, MAX_ID] = [63, 32]

const text = (most: number): Type => ({ ...STRING, most })
const byName = (of: Type): Type =>
  ({ ...mapOf(text(MAX_DOMAIN), { ...mapOf(text(MAX_ID), of), most: MOST }), most: MOST })
const COMMON = { driver: text(MAX_DOMAIN), attributes: byName(DYN), capacity: byName({ kind: 'quantity' }) }
const NAME = 'orch.DRADevice'
const DEVICE = objectOf(COMMON, NAME)
const SHARED_DEVICE = objectOf({ ...COMMON, allowMultipleAllocations: BOOL }, NAME)

/** One for each list: everybody may write claims, whose programs are of no use afterwards. */
function environmentOf (gates: Pick<Gates, 'enabled'>): Environment {
  const root = gates.enabled('DRAConsumableCapacity') ? SHARED_DEVICE : DEVICE
  const functions = gates.enabled('DRAListTypeAttributes') ? ['cel.bind', 'includes'] as const : ['cel.bind'] as const
  return new Environment({ device: root }, { functions, root })
}

/** Compiles each selector, in a step of its own. */
export function * validateSelectors (
  selectors: readonly DeviceSelector[], at: string, report: Report, gates: Pick<Gates, 'enabled'>
): Steps<void> {
  if (!isShort(selectors, MOST, at, report)) return
  const environment = environmentOf(gates)
  for (const [index, { cel }] of selectors.entries()) {
    const path = `${at}[${index}].cel`
    if (cel === undefined) required(report, path)
    else checkExpression(cel.expression, `${path}.expression`, report, environment)
    yield
  }
}

function checkExpression (expression: string, at: string, report: Report, environment: Environment): void {
  if (Buffer.byteLength(expression) > MAX_EXPRESSION) return tooLong(report, at, MAX_EXPRESSION)
  try {
    const { type, most } = environment.compile(expression)
    if (type.kind !== 'bool' && type.kind !== 'dyn') {
      return invalid(report, at, expression, 'must evaluate to bool or the unknown type')
    }
    if (most > MAX_COST) forbidden(report, at, 'too complex, exceeds cost limit')
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    invalid(report, at, expression, `compilation failed: ${error.message}`)
  }
}

export function validateConfiguration ({ opaque }: DeviceConfiguration, at: string, report: Report): void {
  if (opaque === undefined) return required(report, `${at}.opaque`)
  checkDriver(opaque.driver, `${at}.opaque.driver`, report)
  validateSettings(opaque.parameters, `${at}.opaque.parameters`, report)
}

/** An object of any form. */
export function validateSettings (value: unknown, at: string, report: Report): void {
  if (value === undefined || value === null) return required(report, at)
  if (typeof value !== 'object' || Array.isArray(value)) {
    return invalid(report, at, '<value omitted>', 'must be a valid JSON object')
  }
  if (Buffer.byteLength(rawJson(value)) > MAX_SETTINGS) tooLong(report, at, MAX_SETTINGS)
}

/** Tolerations that one step checks. */
const PER_STEP = 256
const OPERATORS = ['Equal', 'Exists']
const EFFECTS = ['NoExecute', 'NoSchedule', 'None']

/** There may be any number of them. */
export function * validateTolerations (
  tolerations: readonly DeviceToleration[] | undefined, at: string, report: Report
): Steps<void> {
  for (const [index, { key = '', operator = '', value = '', effect = '' }] of (tolerations ?? []).entries()) {
    const path = `${at}[${index}]`
    if (index % PER_STEP === PER_STEP - 1) yield
    if (key !== '') checkName(report, `${path}.key`, key, qualifiedName)
    if (operator === 'Exists') {
      if (value !== '') invalid(report, `${path}.value`, value, 'must be empty for operator `Exists`')
    } else if (operator === 'Equal') checkValue(value, `${path}.value`, report)
    else if (operator === '') required(report, `${path}.operator`)
    else notSupported(report, `${path}.operator`, operator, OPERATORS)
    if (effect !== '') checkEffect(effect, `${path}.effect`, report)
  }
}

export function checkEffect (effect: string, at: string, report: Report): void {
  if (effect === '') required(report, at)
  else if (!EFFECTS.includes(effect)) notSupported(report, at, effect, EFFECTS)
}
