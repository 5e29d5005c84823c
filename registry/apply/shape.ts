/**
 * The merge structure of a type in the emulated release: which fields are atomic and which are owned by parts. Lists
 * without a listType merge as in a strategic merge patch, else they are atomic; maps and structs are granular unless
 * declared atomic. Undeclared members are granular objects or atomic values.
 */
import { fieldJson } from '../../schemas/codec/json/encode.js'
import { DEFAULT_GATES, type Gates } from '../../schemas/gates.js'
import type { Message } from '../../schemas/language/declare.js'
import { planOf, type Plan, type PlannedField } from '../../schemas/language/plan.js'
import { mergesByRelease, structTypeOf, structTypeOfField } from '../../schemas/language/struct-types.js'
import type { Plain } from '../../schemas/language/types.js'
import { compareValues, fieldElement, keyElement, valueElement } from './elements.js'
import { isIdentical, isObject } from '../../schemas/language/values.js'
import { oncePer } from '../../schemas/once-per.js'

/** `leaf`: atomic; `struct`, `entries` (of a map) and `open`: by member; `items`: by keys; `set`: by value. */
export type Kind = 'leaf' | 'struct' | 'entries' | 'open' | 'items' | 'set'

const NOTHING: Plain = Object.freeze({})
/** Members of a map or struct; empty for other values. */
export const membersOf = (value: unknown): Plain => isObject(value) ? value : NOTHING
export const itemsOf = (value: unknown): readonly unknown[] => Array.isArray(value) ? value : []
/** An own member. Inherited ones are functions, which data never contains, or the prototype. */
export function memberOf (object: Plain, name: string): unknown {
  const value = object[name]
  return (typeof value !== 'function' && name !== '__proto__') || Object.hasOwn(object, name) ? value : undefined
}

interface Contents {
  readonly plan?: (() => Plan) | undefined
  readonly gates?: Gates | undefined
  /** An item of a list or map. */
  readonly isItem?: boolean
}

export class Shape {
  readonly name: string
  readonly element: string
  readonly kind: Kind
  /** Key names of list items, ascending. */
  readonly keys: readonly string[]
  /** Whether undeclared members are kept. */
  readonly open: boolean
  /** True if the decoder keeps values of another type. */
  readonly anyType: boolean
  readonly #planned: PlannedField | undefined
  readonly #plan: (() => Plan) | undefined
  readonly #gates: Gates
  /** The value of an unset field. */
  readonly #unset: unknown
  readonly #dropsZero: boolean
  /** True for an item of a list or map, which is never unset. */
  readonly #isItem: boolean
  #fields: readonly Shape[] | undefined
  #byName: ReadonlyMap<string, Shape> | undefined
  #item: Shape | undefined
  #lacking: boolean | undefined

  constructor (name: string, kind: Kind, planned: PlannedField | undefined, contents: Contents = {}) {
    const { plan, isItem = false, gates = DEFAULT_GATES } = contents
    this.name = name
    this.element = fieldElement(name)
    this.kind = kind
    this.#planned = planned
    this.anyType = planned?.anyType === true
    this.#plan = kind === 'struct' ? plan : undefined
    this.#gates = gates
    this.#isItem = isItem
    this.open = kind === 'open' || (kind === 'struct' && plan?.().message.preserveUnknown === true)
    const { field } = planned ?? {}
    this.keys = kind === 'items' ? [...field?.listMapKeys ?? [field?.patchMergeKey ?? '']].sort() : []
    this.#unset = planned === undefined || isItem ? null : unsetOf(planned)
    this.#dropsZero = planned !== undefined && !isItem && !planned.pointer && !planned.written
  }

  /** Ascending by name. */
  get fields (): readonly Shape[] {
    this.#fields ??= (this.#plan?.().fields ?? []).map(field => shapeOfField(field, this.#gates))
      .sort((a, b) => a.name < b.name ? -1 : 1)
    return this.#fields
  }

  /** A copy of a struct with other or fewer fields. */
  withFields (change: (field: Shape) => Shape | undefined): Shape {
    const contents = { plan: this.#plan, isItem: this.#isItem, gates: this.#gates }
    const changed = new Shape(this.name, this.kind, this.#planned, contents)
    changed.#fields = this.fields.map(change).filter(field => field !== undefined)
    return changed
  }

  /** @param name in JSON */
  declared (name: string): Shape | undefined {
    this.#byName ??= new Map(this.fields.map(field => [field.#planned?.jsonName ?? field.name, field]))
    return this.#byName.get(name)
  }

  /** A declared or open field. */
  field (name: string): Shape | undefined {
    return this.declared(name) ?? (this.open && !isType(name) ? OPEN : undefined)
  }

  /** The shape of list items, map values or open members. */
  get item (): Shape {
    this.#item ??= this.kind === 'open' || this.#planned === undefined
      ? OPEN
      : shapeOfItem(this.#planned, this.#gates)
    return this.#item
  }

  /** The value as JSON encodes it; undefined if JSON omits it. */
  present (value: unknown): unknown {
    if (value === undefined || value === null) {
      return value === null && this.#planned?.nullable === true ? null : this.#unset
    }
    if (!this.#dropsZero) return value
    if (typeof value !== 'object') {
      return value === this.#planned?.zero && this.#planned.shape === 'one' ? undefined : value
    }
    if (this.#planned?.shape === 'list') return itemsOf(value).length === 0 ? undefined : value
    return this.#planned?.shape === 'map' && Object.keys(value).length === 0 ? undefined : value
  }

  /** The element of an item in field sets, by its keys or value. */
  elementOf (item: unknown): string {
    if (this.kind === 'set') return valueElement(item)
    const keys = this.#mayLackKeys ? this.keys.filter(name => this.keyOf(item, name) !== undefined) : this.keys
    return keyElement(keys, name => this.keyOf(item, name) ?? null)
  }

  /** Whether having this key distinguishes an item from others. */
  mayLack (key: string): boolean { return this.item.field(key)?.isPointer === true }

  get #mayLackKeys (): boolean { return this.#lacking ??= this.keys.some(key => this.mayLack(key)) }
  /** The release since which a key is empty when unset. Of atomic items too, which have no fields here. */
  emptySince (key: string): string | undefined {
    const { message, plan } = this.#planned?.innermost ?? {}
    return message === undefined ? undefined : plan?.byName.get(key)?.field.emptySince
  }

  get isPointer (): boolean { return this.#planned?.pointer === true }

  /** Whether a part of it merges otherwise in another release. */
  get variesByRelease (): boolean {
    if (this.#planned === undefined) return this.#plan !== undefined && mergesByRelease(this.#plan())
    const { innermost } = this.#planned
    return innermost.message !== undefined && innermost.special === undefined && mergesByRelease(innermost.plan)
  }

  /** Whether two items have the same element. */
  sameItem (a: unknown, b: unknown): boolean {
    if (this.kind === 'set') return a === b
    for (const name of this.keys) {
      if (memberOf(membersOf(a), name) !== memberOf(membersOf(b), name) &&
        this.keyOf(a, name) !== this.keyOf(b, name)) return false
    }
    return true
  }

  /** Orders items like their elements. */
  compareItems (a: unknown, b: unknown): number {
    if (this.kind === 'set') return compareValues(a, b)
    for (const name of this.keys) {
      const order = compareValues(this.keyOf(a, name) ?? null, this.keyOf(b, name) ?? null)
      if (order !== 0) return order
    }
    return 0
  }

  /** A key of an item, or its default. */
  keyOf (item: unknown, name: string): unknown {
    const members = membersOf(item)
    const key = this.item.field(name)
    const value = memberOf(members, name)
    const present = key === undefined ? value : key.present(value) ?? key.default
    return present ?? (this.emptySince(name) === undefined ? undefined : '')
  }

  get default (): unknown { return this.#planned?.field.default }

  /** Compares two leaves that are both set. */
  same (a: unknown, b: unknown): boolean {
    if (isIdentical(a, b)) return true
    // Unset members may differ in memory but not in JSON.
    return this.#planned !== undefined && !this.#isItem && typeof a === 'object' &&
      fieldJson(this.#planned, a) === fieldJson(this.#planned, b)
  }
}

const isType = (name: string): boolean => name === 'kind' || name === 'apiVersion'

/** The shape of undeclared data. */
const OPEN = new Shape('', 'open', undefined)

function unsetOf ({ shape, embedded, written, pointer, scalar, special, zero }: PlannedField): unknown {
  if (embedded) return NOTHING
  if (shape === 'one' && scalar !== undefined) {
    return written ? (pointer || scalar === 'bytes' ? null : zero) : undefined
  }
  if (shape === 'one' && special !== undefined && !pointer && special.nullable !== true) return null
  return written ? null : undefined
}

const shapeOfField = (planned: PlannedField, gates: Gates): Shape =>
  new Shape(planned.name, kindOf(planned, gates), planned, { plan: () => planned.plan, gates })

function kindOf (planned: PlannedField, gates: Gates): Kind {
  const { field, shape } = planned
  if (shape === 'list') {
    if (field.listType !== undefined) {
      return field.listType === 'atomic' ? 'leaf' : field.listType === 'map' ? 'items' : 'set'
    }
    if (field.patchStrategy?.split(',').includes('merge') !== true) return 'leaf'
    return field.patchMergeKey === undefined ? 'set' : 'items'
  }
  if (field.mapType === 'atomic') return 'leaf'
  return shape === 'map' ? 'entries' : kindOfOne(planned, gates)
}

function kindOfOne ({ field, message, special }: PlannedField, gates: Gates): Kind {
  if (message === undefined) return 'leaf'
  if (special !== undefined) return special.open === true ? 'open' : 'leaf'
  return (structTypeOfField(field, gates) ?? structTypeOf(message, gates)) === 'atomic' ? 'leaf' : 'struct'
}

/** Items of lists and maps are never unset. */
function shapeOfItem (planned: PlannedField, gates: Gates): Shape {
  const { element } = planned
  const of = element ?? planned
  const kind = element === undefined ? kindOfOne(planned, gates) : kindOf(element, gates)
  return new Shape('', kind, of, { plan: () => of.plan, isItem: true, gates })
}

/** The shape at an element of a field set. */
export function childOf (shape: Shape, element: string): Shape | undefined {
  switch (shape.kind) {
    case 'leaf': return undefined
    case 'struct': return shape.field(element.slice(2))
    default: return shape.item
  }
}

/** Metadata that has no owner: the server sets it, or it identifies the object. */
const NEVER_OWNED: ReadonlySet<string> = new Set([
  'name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp',
  'deletionGracePeriodSeconds', 'selfLink', 'clusterName', 'managedFields'
])

export interface Shapes {
  /** All fields, except kind and apiVersion. */
  readonly whole: Shape
  /** The fields that managers can own. */
  readonly owned: Shape
}

const shapesUnder = oncePer((gates: Gates) => oncePer((message: Message): Shapes => {
  const whole = new Shape('', 'struct', undefined, { plan: () => planOf(message), gates })
  const metadata = (field: Shape): Shape => field.withFields(part => NEVER_OWNED.has(part.name) ? undefined : part)
  return { whole, owned: whole.withFields(field => field.name === 'metadata' ? metadata(field) : field) }
}))

/** Types whose structures merge alike in every release have the same shapes under all gates. */
export const shapesOf = (message: Message, gates: Gates = DEFAULT_GATES): Shapes =>
  shapesUnder(mergesByRelease(planOf(message)) ? gates : DEFAULT_GATES)(message)
