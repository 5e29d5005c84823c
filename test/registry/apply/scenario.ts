/** Scenarios of field ownership: writes to one object, its state afterwards, and the owners of its fields. */
import { toJson } from '../../../schemas/codec/json/encode.js'
import { decode } from '../../../schemas/language/decode.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import { clone } from '../../../schemas/language/values.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import { apiPackage, int32, list, map, one, string, type Message } from '../../../schemas/language/declare.js'
import { metadata } from '../../../schemas/meta/object.js'
import { apply, type Application } from '../../../registry/apply/apply.js'
import { fieldElement, pathText } from '../../../registry/apply/elements.js'
import { paths, setOf } from '../../../registry/apply/field-set.js'
import { appliedValue } from '../../../registry/apply/config.js'
import type { Manager } from '../../../registry/apply/managers.js'
import { shapesOf } from '../../../registry/apply/shape.js'
import { update } from '../../../registry/apply/update.js'
import { finish } from '../../../schemas/steps.js'
import type { Versions } from '../../../registry/apply/versions.js'

const { message, kind } = apiPackage('toys', 'v1', 'io.orch.toys.v1')

const Port = message('Port', 'Of a box.', {
  port: int32(1, 'Number.', { required: true }),
  protocol: string(2, 'TCP or UDP.', { default: 'TCP' }),
  name: string(3, 'What it is called.')
})
const Item = message('Item', 'In a box.', {
  name: string(1, 'Key.', { required: true }),
  value: string(2, 'Any.'),
  more: map(3, 'Any.', 'string'),
  ports: list(4, 'By number and protocol.', Port, { listType: 'map', listMapKeys: ['port', 'protocol'] })
})
const Pair = message(
  'Pair', 'Owned as one.', { left: string(1, 'One.', { default: 'left' }), right: string(2, 'Other.') },
  { structType: 'atomic' }
)
const Probe = message('Probe', 'There or not.', {
  path: string(1, 'Where.'), seconds: int32(2, 'How often.', { default: 10 })
})

export const Box = kind('Box', 'A toy.', {
  metadata,
  count: int32(2, 'A number.', { pointer: true, default: 1 }),
  text: string(3, 'A text.'),
  probe: one(4, 'A struct.', Probe, { pointer: true }),
  pair: one(5, 'An atomic struct.', Pair, { pointer: true }),
  entries: map(6, 'A granular map.', 'string'),
  whole: map(7, 'An atomic map.', 'string', { mapType: 'atomic' }),
  items: list(8, 'A list by name.', Item, { patchStrategy: 'merge', patchMergeKey: 'name' }),
  tags: list(9, 'A set.', 'string', { listType: 'set' }),
  lines: list(10, 'An atomic list.', 'string'),
  status: string(11, 'What is found.'),
  named: map(12, 'A granular map of structs.', Item)
})
/** The same type with another name for its text. */
export const BoxV2 = apiPackage('toys', 'v2', 'io.orch.toys.v2').kind('Box', 'A toy.', {
  metadata,
  count: int32(2, 'A number.', { pointer: true, default: 1 }),
  words: string(3, 'A text.'),
  entries: map(6, 'A granular map.', 'string')
})

/** The same type with few of its fields. */
const BoxV3 = apiPackage('toys', 'v3', 'io.orch.toys.v3').kind('Box', 'A toy.', {
  metadata,
  count: int32(2, 'A number.', { pointer: true, default: 1 })
})

const MESSAGES: Record<string, Message<ApiObject>> = { 'toys/v1': Box, 'toys/v2': BoxV2, 'toys/v3': BoxV3 }
const messageOf = (apiVersion: string): Message<ApiObject> => MESSAGES[apiVersion] ?? Box

export const versions: Versions = {
  shapes: apiVersion => MESSAGES[apiVersion] === undefined ? undefined : shapesOf(messageOf(apiVersion)),
  convert: (objects, from, to) => objects.map(object => {
    const { text, words, ...rest } = clone(object) as Record<string, unknown>
    const word = from === 'toys/v1' ? text : words
    return settled(messageOf(to), {
      ...rest, apiVersion: to, ...(word === undefined ? {} : { [to === 'toys/v1' ? 'text' : 'words']: word })
    })
  })
}

/** The object as it is stored. */
function settled (spoken: Message<ApiObject>, object: object): object {
  const { object: made } = decode(spoken, object)
  applyDefaults(spoken, made)
  return JSON.parse(toJson(spoken, made)) as object
}

const completionIn = (spoken: Message<ApiObject>): Pick<Application, 'decode' | 'complete'> => ({
  decode: function * (made) { return JSON.parse(toJson(spoken, decode(spoken, made).object)) as object },
  complete: object => {
    const whole = settled(spoken, object)
    for (const name of Object.keys(object)) Reflect.deleteProperty(object, name)
    Object.assign(object, whole)
  }
})

export interface Step {
  readonly by: string
  /** The applied configuration; without it, `update` is the new object. */
  readonly apply?: object
  readonly update?: object
  readonly version?: string
  readonly force?: boolean
  readonly subresource?: string
  readonly ignored?: readonly string[]
  /** Conflicting fields with their owners; the object then stays unchanged. */
  readonly conflicts?: readonly string[]
}

/** Fields by owner: `Apply a` or `Update a`, with a version other than toys/v1. */
export type Owners = Readonly<Record<string, readonly string[]>>

export class Play {
  object: object = {}
  managers: readonly Manager[] = []
  conflicts: string[] = []
  #clock = 0

  get now (): string { return new Date(this.#clock * 1000).toISOString().replace('.000', '') }

  do (step: Step): void {
    this.#clock++
    const version = step.version ?? 'toys/v1'
    const spoken = messageOf(version)
    // it waits for nothing
    const to = (object: object, from: string, version: string): object =>
      from === version ? object : (versions.convert([object], from, version) as object[])[0] as object
    const identity = {
      manager: step.by,
      operation: step.apply === undefined ? 'Update' : 'Apply',
      apiVersion: version,
      subresource: step.subresource ?? ''
    } as const
    const before = to(this.object, 'toys/v1', version)
    const common = {
      versions,
      managers: this.managers,
      identity,
      now: () => this.now,
      ignored: setOf((step.ignored ?? []).map(path => path.split('.').map(fieldElement)))
    }
    const body = { metadata: { name: 'box' }, ...step.apply ?? step.update }
    const { object: decoded } = decode(spoken, body)
    if (step.apply !== undefined) {
      const { object, managers, conflicts } = finish(apply({
        ...common, ...completionIn(spoken), live: before,
        config: appliedValue(shapesOf(spoken).whole, body, decoded) as object, force: step.force === true
      }))
      this.conflicts = conflicts.flatMap(({ with: { manager, operation }, fields }) =>
        [...paths(fields)].map(path => `${operation} ${manager} ${pathText(path)}`))
      this.managers = managers
      if (conflicts.length === 0) this.object = to(object, version, 'toys/v1')
      return
    }
    const after = settled(spoken, decoded)
    this.managers = finish(update({ ...common, before, after }))
    this.object = to(after, version, 'toys/v1')
  }

  get owners (): Owners {
    return Object.fromEntries(this.managers.map(({ operation, manager, apiVersion, subresource, fields }) => [
      `${operation} ${manager}${apiVersion === 'toys/v1' ? '' : ` ${apiVersion}`}` +
      `${subresource === '' ? '' : ` ${subresource}`}`,
      [...paths(fields)].map(pathText)
    ]))
  }

  /** The object without its name and kind. */
  get content (): object {
    const { metadata, kind, apiVersion, ...rest } = this.object as Record<string, unknown> // any object
    const { name, creationTimestamp, ...more } = metadata as Record<string, unknown>
    return Object.keys(more).length === 0 ? rest : { ...rest, metadata: more }
  }
}
