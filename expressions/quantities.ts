/** Quantities and versions. */
import {
  amountOf, canonicalQuantity, compareQuantities, isWhole, sumQuantities, wholeUnits
} from '../schemas/meta/quantity.js'
import { Fault, Opaque, type Apply, type Library, type Value } from './values.js'

export class Quantity extends Opaque {
  readonly type = 'quantity'
  constructor (readonly text: string) { super() }
  override toString (): string { return this.text }
  override equals (other: Opaque): boolean { return compareQuantities(this.text, String(other)) === 0 }
  compare (other: Quantity): number { return compareQuantities(this.text, other.text) }
}

interface Identifiers { readonly pre: readonly string[], readonly build: readonly string[] }
export class Semver extends Opaque {
  readonly type = 'semver'
  constructor (readonly numbers: readonly bigint[], readonly more: Identifiers) { super() }
  override equals (other: Opaque): boolean { return other instanceof Semver && this.compare(other) === 0 }
  override toString (): string {
    const { numbers, more: { pre, build } } = this
    return `${numbers.join('.')}${pre.length === 0 ? '' : `-${pre.join('.')}`}` +
      (build.length === 0 ? '' : `+${build.join('.')}`)
  }

  compare ({ numbers, more: { pre } }: Semver): number {
    for (const [index, number] of this.numbers.entries()) {
      const other = numbers[index] ?? 0n
      if (number !== other) return number < other ? -1 : 1
    }
    const own = this.more.pre
    if (own.length === 0 || pre.length === 0) return Math.sign(pre.length - own.length)
    for (const [index, part] of own.entries()) {
      const other = pre[index]
      if (other === undefined) return 1
      if (part !== other) return comparePart(part, other)
    }
    return own.length < pre.length ? -1 : 0
  }
}

const NUMBER = /^(?:0|[1-9]\d*)$/
/** Numbers come before other identifiers. */
function comparePart (one: string, other: string): number {
  const numbers = [one, other].map(part => NUMBER.test(part))
  if (numbers[0] === true && numbers[1] === true) return BigInt(one) < BigInt(other) ? -1 : 1
  if (numbers[0] !== numbers[1]) return numbers[0] === true ? -1 : 1
  return one < other ? -1 : 1
}

const VERSION = /^(\d{1,20})\.(\d{1,20})\.(\d{1,20})(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/
const MAX_VERSION = 256

function semverOf (text: string): Semver | undefined {
  const match = text.length > MAX_VERSION ? null : VERSION.exec(text)
  if (match === null) return undefined
  const [, major = '', minor = '', patch = '', pre, build] = match
  const numbers = [major, minor, patch]
  const identifiers = { pre: pre?.split('.') ?? [], build: build?.split('.') ?? [] }
  const isValid = numbers.every(number => NUMBER.test(number) && BigInt(number) < 2n ** 64n) &&
    identifiers.pre.every(part => part !== '' && !/^0\d+$/.test(part)) && identifiers.build.every(part => part !== '')
  return isValid ? new Semver(numbers.map(BigInt), identifiers) : undefined
}

/** `v1.02` becomes `1.2.0`. */
function normalized (text: string): string {
  const [, numbers = '', rest = ''] = /^v?([^+-]*)([^]*)$/.exec(text) ?? []
  const parts = numbers.split('.').map(part => /^\d+$/.test(part) ? part.replace(/^0+(?=\d)/, '') : part)
  // With a pre-release or build, all parts have to be there.
  const missing = rest === '' ? Math.max(0, 3 - parts.length) : 0
  return [...parts, ...Array<string>(missing).fill('0')].join('.') + rest
}

const read = ([text, normalizes = false]: readonly Value[]): Semver | undefined | false =>
  typeof text === 'string' && typeof normalizes === 'boolean'
    ? semverOf(normalizes ? normalized(text) : text)
    : false

const INTEGER = 2n ** 63n
const asQuantity = (value: Value | undefined): string | undefined =>
  value instanceof Quantity ? value.text : typeof value === 'bigint' ? String(value) : undefined
const summed = (sign: 1 | -1): Apply => ([one, other]) => {
  const text = asQuantity(other)
  return one instanceof Quantity && text !== undefined ? new Quantity(sumQuantities(one.text, text, sign)) : undefined
}
const ofQuantity = (apply: (text: string) => Value): Apply => ([of]) =>
  of instanceof Quantity ? apply(of.text) : undefined
const compared = (holds: (order: number) => Value): Apply => ([one, other]) => {
  if (one instanceof Quantity && other instanceof Quantity) return holds(one.compare(other))
  return one instanceof Semver && other instanceof Semver ? holds(one.compare(other)) : undefined
}
const fits = (text: string): boolean => isWhole(text) && wholeUnits(text) < INTEGER && wholeUnits(text) >= -INTEGER
const sign: Apply = ofQuantity(text => BigInt(compareQuantities(text, '0')))

export const ofQuantities: Library = [
  ['quantity', ([text]) => {
    if (typeof text !== 'string') return undefined
    const canonical = canonicalQuantity(text)
    return canonical === undefined
      ? new Fault('quantities must match the regular expression \'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$\'')
      : new Quantity(canonical)
  }],
  ['isQuantity', ([text]) => typeof text === 'string' ? canonicalQuantity(text) !== undefined : undefined],
  ['sign', sign], ['.sign', sign], ['.add', summed(1)], ['.sub', summed(-1)],
  ['.isGreaterThan', compared(order => order > 0)], ['.isLessThan', compared(order => order < 0)],
  ['.compareTo', compared(order => BigInt(order))], ['.isInteger', ofQuantity(fits)],
  ['.asInteger', ofQuantity(text => fits(text) ? wholeUnits(text) : new Fault('cannot convert value to integer'))],
  ['.asApproximateFloat', ofQuantity(text => {
    const { value, scale } = amountOf(text)
    return Number(`${value}e${scale}`)
  })],
  ['semver', values => {
    const version = read(values)
    return version === false ? undefined : version ?? new Fault('No Major.Minor.Patch elements found')
  }],
  ['isSemver', values => {
    const version = read(values)
    return version === false ? undefined : version !== undefined
  }],
  ...['major', 'minor', 'patch'].map((name, index): [string, Apply] =>
    [`.${name}`, ([of]) => of instanceof Semver ? of.numbers[index] : undefined])
]
