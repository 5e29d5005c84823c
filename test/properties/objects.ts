/** Random objects of any declared type, and random damage to bytes. */
import { Facts, type Declaration, type Message, type Plain } from '../../schemas/language/types.js'
import { planFor, type PlannedField } from '../../schemas/language/plan.js'

export interface Dice { int: (below: number) => number }

const TEXTS = [
  '', 'a', 'ü', '<&>', '\u{1f600}', '\uffee', '__proto__', 'constructor', '10', '9', 'x'.repeat(70), 'é'.repeat(40),
  '"\\\n', '\u2028', 'rbac.authorization.orch.io'
]
const INTEGERS = [0, 1, -1, 127, 128, 255, 300, 2 ** 31 - 1, -(2 ** 31)]
const QUANTITIES = [
  null, '0', '1', '100m', '1.5Gi', '12e6', '0.5', '1000', '1024Ki', '-1', '1n', '3u', '0.1m', 7, 0.25, '1e3',
  '9223372036854775807', '8Ei', '123456789012345678901234567890'
]
const LARGE = [
  ...INTEGERS, 2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n, -9007199254740993n, 2 ** 31, 2 ** 32, -(2 ** 32) - 1,
  Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER
]

// the index is within bounds
const pick = <T>(dice: Dice, values: readonly T[]): T => values[dice.int(values.length)] as T

export function text (dice: Dice): string {
  return dice.int(4) === 0 ? Array.from({ length: dice.int(4) }, () => pick(dice, TEXTS)).join('') : pick(dice, TEXTS)
}

/** A JSON value of the message, as a client might send it. */
export const value = (dice: Dice, message: Message): unknown => valueOf(dice, message[Facts], 0)

function valueOf (dice: Dice, message: Declaration, depth: number): unknown {
  if (message.special !== undefined) return special(dice, message)
  if (message.alternatives !== undefined) {
    return depth > 4 ? null : member(dice, pick(dice, planFor(message).fields), depth)
  }
  const object: Plain = {}
  for (const field of planFor(message).fields) {
    const chance = dice.int(10)
    if (chance < 3 || depth > 6) continue
    Object.defineProperty(object, field.name, {
      value: chance === 3 ? null : member(dice, field, depth), enumerable: true, configurable: true, writable: true
    })
  }
  return object
}

function member (dice: Dice, field: PlannedField, depth: number): unknown {
  // A field that keeps an empty value needs an entry: protobuf would not write an empty one, so that the object read
  // would differ.
  const least = field.keepsEmpty ? 1 : 0
  if (field.shape === 'list') {
    return Array.from({ length: Math.max(least, dice.int(4)) }, () => element(dice, field, depth))
  }
  if (field.shape === 'map') {
    const map: Plain = {}
    for (let left = dice.int(5); left > 0; left--) {
      Object.defineProperty(map, text(dice), {
        value: element(dice, field, depth), enumerable: true, configurable: true, writable: true
      })
    }
    return map
  }
  return element(dice, field, depth)
}

function element (dice: Dice, field: PlannedField, depth: number): unknown {
  switch (field.scalar) {
    case undefined: return field.special === undefined
      ? valueOf(dice, field.plan.message, depth + 1)
      : special(dice, field.plan.message)
    case 'string': return text(dice)
    case 'bool': return dice.int(2) === 1
    case 'bytes': return Buffer.from(text(dice)).toString('base64')
    case 'double': return dice.int(1000) / 8
    case 'int32': return pick(dice, INTEGERS)
    case 'int64': return pick(dice, LARGE)
  }
}

function special (dice: Dice, message: Declaration): unknown {
  switch (message.name) {
    case 'meta.v1.Time': return pick(dice, [
      null, '2021-03-04T05:06:07Z', '1969-12-31T23:59:59.5-07:00', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z',
      '0099-02-28T00:00:00Z'
    ])
    case 'meta.v1.MicroTime': return pick(dice, [null, '2021-03-04T05:06:07.123456Z'])
    case 'resource.Quantity': return pick<unknown>(dice, QUANTITIES)
    case 'intstr.IntOrString': return pick<unknown>(dice, ['', '25%', 'http', 'ü', ...INTEGERS])
    case 'meta.v1.Duration': return pick(dice, ['0s', '1h15m30.5s', '1ns', '-3ms'])
    case 'authentication.v1.ExtraValue': case 'authorization.v1.ExtraValue': case 'certificates.v1.ExtraValue':
    case 'meta.v1.Verbs': return Array.from({ length: dice.int(3) }, () => text(dice))
    default: return pick<unknown>(dice, [
      {},
      { 'f:metadata': { 'f:labels': { '.': {}, 'f:<x>': {} } } },
      { a: [1, null, 'ü', true] },
      { b: [2n ** 70n, -9007199254740993n] }
    ])
  }
}

/** A copy with bytes changed, dropped, doubled or truncated. */
export function damage (dice: Dice, bytes: Uint8Array): Buffer {
  let copy = Buffer.from(bytes)
  for (let times = 1 + dice.int(4); times > 0; times--) {
    const at = dice.int(copy.length || 1)
    switch (dice.int(5)) {
      case 0: copy = copy.subarray(0, at); break
      case 1: copy = Buffer.concat([copy.subarray(0, at), copy.subarray(at + 1 + dice.int(8))]); break
      case 2: copy = Buffer.concat([copy.subarray(0, at), copy.subarray(at, at + 20), copy.subarray(at)]); break
      default: if (copy.length > 0) copy[at] = dice.int(256)
    }
  }
  return copy
}
