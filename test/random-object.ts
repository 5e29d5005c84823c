/** Objects of any declared message with every kind of value, the same for the same seed. */
import { planOf, type Plan, type PlannedField } from '../schemas/language/plan.js'
import type { Message, Plain } from '../schemas/language/types.js'

const TEXTS = [
  '', 'a', 'web-1', 'kubernetes', 'kube-system', 'orch-system', 'orch.io/os', 'kubernetes.io/os', 'apps/v1',
  'storage.orch.io/v1', 'node-agent', 'x <b> & "q" \\ \n',
  'é€😀', `${'long '.repeat(30)}`, 'system:node:n', 'rbac.authorization.orch.io', 'node.orch.io/not-ready',
  'orch-api-access-x', 'orch-root-ca.crt', '__proto__'
]
const KEYS = [
  'a', 'b.example.com/c', 'orch.io/os', 'kubernetes.io/metadata.name', 'orch.io/metadata.name', 'app.orch.io/name', 'é',
  '10', '9', 'f"q\\'
]
const SPECIAL: Readonly<Record<string, readonly unknown[]>> = {
  Time: ['2021-03-04T05:06:07Z', '1999-12-31T23:59:59Z', '0099-01-01T00:00:00Z'],
  MicroTime: ['2021-03-04T05:06:07.000001Z', '1960-02-29T05:06:07.123456Z'],
  Quantity: ['0', '100m', '1Gi', '5e3'],
  Duration: ['1h0m0s', '-5s'],
  IntOrString: [80, 'http', -1, 2147483647],
  FieldsV1: [
    { 'f:metadata': { 'f:labels': { '.': {}, 'f:orch.io/os': {}, 'f:a': {} } }, 'f:spec': { 'f:tolerations': {} } },
    { 'f:a': {} }
  ]
}
const LISTS: readonly unknown[] = [['get'], ['a', 'b"'], []]
const ANYTHING: readonly unknown[] = [{ a: [1, 'x', null, { 'orch.io/b': true }] }, 'orch.io', 7, true, [], {}]

export class RandomObjects {
  #seed: number

  constructor (seed: number) { this.#seed = seed }

  #below (bound: number): number {
    this.#seed = Math.imul(this.#seed ^ this.#seed >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0
    return (this.#seed >>> 4) % bound
  }

  #of<T> (values: readonly T[]): T { return values[this.#below(values.length)] as T }

  of (message: Message): Plain {
    const { type } = planOf(message).message
    return {
      ...(type === undefined ? {} : { kind: type.kind, apiVersion: type.apiVersion }),
      ...this.#object(planOf(message), 0)
    }
  }

  #object (plan: Plan, depth: number): Plain {
    const made: Plain = {}
    for (const field of plan.fields) {
      if (field.name === 'kind' || field.name === 'apiVersion' ? depth === 0 : false) continue
      if (!field.embedded && this.#below(depth > 3 ? 5 : 3) === 0) continue
      const value = this.#value(field, depth)
      if (value !== undefined) {
        Object.defineProperty(made, field.name, { value, enumerable: true, writable: true, configurable: true })
      }
    }
    return made
  }

  #value (field: PlannedField, depth: number): unknown {
    const inner = field.element ?? field
    if (depth > 7 && inner.message !== undefined && !field.embedded) return undefined
    const one = (): unknown => field.element === undefined ? this.#one(field, depth) : this.#value(field.element, depth)
    if (field.shape === 'list') return Array.from({ length: this.#below(3) }, one)
    if (field.shape === 'map') {
      return Object.fromEntries(Array.from({ length: this.#below(4) }, () => [this.#of(KEYS), one()]))
    }
    return one()
  }

  #one (field: PlannedField, depth: number): unknown {
    switch (field.scalar) {
      case 'string': return this.#of(TEXTS)
      case 'bool': return this.#below(2) === 1
      case 'int32': return this.#of([0, 1, -1, 2147483647, 300])
      case 'int64': return this.#of([0, 7, -7, 9007199254740991, 9223372036854775807n, 1234567890])
      case 'double': return this.#of([0, 1.5, -2])
      case 'bytes': return this.#of(['', 'aGVsbG8=', 'AAEC'])
    }
    if (field.special !== undefined) {
      return this.#of(
        SPECIAL[field.message?.name.replace(/^.*\./, '') ?? ''] ??
          (field.special.openapi['type'] === 'array' ? LISTS : ANYTHING)
      )
    }
    if (!field.alternatives) return this.#object(field.plan, depth + 1)
    const chosen = this.#of(field.plan.fields)
    return this.#value(chosen, depth + 1)
  }
}
