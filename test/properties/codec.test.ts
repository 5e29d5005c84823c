import t from 'tap'
import { toJson, joinJson, splitJson } from '../../schemas/codec/json/encode.js'
import { finish } from '../../schemas/steps.js'
import { parseExactly, stringify } from '../../schemas/codec/json/exact.js'
import { parseJson } from '../../schemas/codec/json/parse.js'
import { decodeProtobuf } from '../../schemas/codec/protobuf/decode.js'
import { encodeProtobuf } from '../../schemas/codec/protobuf/encode.js'
import { toYaml } from '../../schemas/codec/yaml/yaml-write.js'
import { parseYaml } from '../../schemas/codec/yaml/yaml.js'
import type { Message } from '../../schemas/language/declare.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { decode } from '../../schemas/language/decode.js'
import { applyDefaults } from '../../schemas/language/defaults.js'
import { validateSubresource, validateObject, validateUpdate } from '../../schemas/language/validation.js'
import { clone, sameValue } from '../../schemas/language/values.js'
import { parseFieldSelector } from '../../schemas/selectors/fields.js'
import { parseLabelSelector } from '../../schemas/selectors/labels.js'
import { Facts } from '../../schemas/language/types.js'
import {
  APIGroup, APIResourceList, DeleteOptions, ListOptions, PartialObjectMetadata, Status
} from '../../schemas/meta/v1.js'
import { configMaps } from '../../schemas/api/core/configmaps.js'
import { pods } from '../../schemas/api/core/pods.js'
import { representations as resources } from '../../schemas/resources.js'
import { random } from '../random.js'
import { damage, text, value } from './objects.js'

const dice = random()
t.comment(`seed ${dice.seed}`)
const messages: Message[] = [
  ...resources.map(({ message }) => message), APIGroup, APIResourceList, DeleteOptions, ListOptions,
  PartialObjectMetadata, Status
]

/** Runs for each type; there are about eighty. */
const RUNS = 12

/** True if it succeeds or throws a DecodeError; anything else fails the test. */
function decodes (t: { fail: (message: string) => unknown }, what: string, run: () => unknown): boolean {
  try {
    run()
    return true
  } catch (error) {
    if (!isDecodeError(error)) t.fail(`${what} threw ${String(error)}`)
    return false
  }
}

t.test('an object survives JSON, YAML and protobuf, and its bytes are always the same', async t => {
  for (const message of messages) {
    let agreed = 0
    for (let run = 0; run < RUNS; run++) {
      const { object, unknown } = decode(message as Message<object>, value(dice, message))
      const json = toJson(message as Message<object>, object)
      const again = decode(message as Message<object>, parseJson(Buffer.from(json)).value)
      const bytes = encodeProtobuf(message as Message<object>, object)
      const back = decodeProtobuf(message as Message<object>, bytes)
      const yaml = parseYaml(Buffer.from(toYaml(parseExactly(Buffer.from(json))))).value
      const checks: Record<string, () => boolean> = {
        'nothing is unknown or repeated': () =>
          unknown.length + again.unknown.length + parseJson(Buffer.from(json)).duplicates.length === 0,
        JSON: () => toJson(message as Message<object>, again.object) === json,
        protobuf: () => sameValue(back.object, object),
        'protobuf bytes': () => encodeProtobuf(message as Message<object>, back.object).equals(bytes),
        YAML: () => stringify(yaml) === stringify(parseExactly(Buffer.from(json))),
        copy: () => toJson(message as Message<object>, clone(object)) === json
      }
      const failed = Object.entries(checks).find(([, holds]) => !holds())?.[0]
      if (failed === undefined) agreed++
      else if (agreed === run) t.fail(`${message[Facts].name}: ${failed}: ${json}`)
    }
    t.equal(agreed, RUNS, message[Facts].name)
  }
})

/** Some members of these names are maps; the others are messages, which are never null. */
const emptyMaps = (json: string): string => json.replaceAll(/"(resources|counters)":\{\}/g, '"$1":null')

t.test('lists and maps whose emptiness protobuf cannot encode come back unset; all else equals JSON', async t => {
  for (const message of messages) {
    // The verbs of discovery are a message of their own, whose presence protobuf encodes.
    const verbs = message === APIResourceList ? '' : 'verbs|'
    const untold =
      new RegExp(`"(rules|${verbs}versions|serverAddressByClientCIDRs|resources|requestMappings)":\\[\\]`, 'g')
    for (let run = 0; run < RUNS; run++) {
      const { object } = decode(message as Message<object>, value(dice, message))
      const json = emptyMaps(toJson(
        message as Message<object>,
        decodeProtobuf(message as Message<object>, encodeProtobuf(message as Message<object>, object)).object
      ))
      const expected = emptyMaps(toJson(message as Message<object>, object).replaceAll(untold, '"$1":null'))
      if (json !== expected) {
        t.equal(json, expected, message[Facts].name)
        break
      }
    }
  }
  t.pass('all alike')
})

t.test('defaults may run any number of times, and validation of anything returns findings', async t => {
  for (const resource of resources) {
    for (let run = 0; run < RUNS; run++) {
      const { object } = decode(resource.message, value(dice, resource.message))
      applyDefaults(resource.message, object)
      const once = toJson(resource.message, object)
      applyDefaults(resource.message, object)
      if (toJson(resource.message, object) !== once) t.fail(`${resource.kind}: ${once}`)
      if (joinJson(finish(splitJson(resource.message, object)), '77').toString() !== toJson(
        resource.message, object, '77'
      )) {
        t.fail(`split: ${once}`)
      }
      validateUpdate(resource, object, decode(resource.message, value(dice, resource.message)).object)
      for (const subresource of resource.subresources) {
        const old = decode(resource.message, value(dice, resource.message)).object
        validateSubresource(resource, { object, old }, subresource)
      }
      if (validateObject(resource, object).some(({ type, field }) =>
        !type.startsWith('FieldValue') || typeof field !== 'string')) {
        t.fail('a finding without type or field')
      }
      if (toJson(resource.message, object) !== once) t.fail(`${resource.kind} was changed by its validation: ${once}`)
    }
  }
  t.pass('none differed')
})

t.test('an object that is read in another version and written back as it is stays the same in the store', async t => {
  const differing: string[] = []
  for (const { message, conversion, type: { stored }, apiVersion, kind } of resources) {
    if (conversion === undefined) continue
    for (let run = 0; run < RUNS; run++) {
      const sent = decode(message, { ...value(dice, message) as object, kind, apiVersion }).object
      applyDefaults(message, sent)
      const written = decode(
        stored.message, parseExactly(Buffer.from(toJson(stored.message, conversion.toStored(sent))))
      ).object
      applyDefaults(stored.message, written)
      const once = toJson(stored.message, written)
      const shown = decode(
        message, parseJson(Buffer.from(toJson(message, conversion.fromStored(clone(written))))).value
      )
      if (shown.unknown.length > 0) differing.push(`${apiVersion} ${kind}: unknown ${shown.unknown.join()}`)
      applyDefaults(message, shown.object)
      const again = conversion.toStored(shown.object)
      applyDefaults(stored.message, again)
      if (toJson(stored.message, again) !== once) {
        differing.push(`${apiVersion} ${kind}: ${once} became ${toJson(stored.message, again)}`)
      }
    }
  }
  t.strictSame(differing.slice(0, 3), [])
})

t.test('damaged bytes end in an object or a DecodeError', async t => {
  let refused = 0
  let taken = 0
  for (const message of messages) {
    for (let run = 0; run < RUNS; run++) {
      const { object } = decode(message as Message<object>, value(dice, message))
      const json = damage(dice, Buffer.from(toJson(message as Message<object>, object)))
      const bytes = damage(dice, encodeProtobuf(message as Message<object>, object))
      for (const ok of [
        decodes(t, `JSON ${json.toString('base64')}`, () => decode(message, parseJson(json).value)),
        decodes(t, `YAML ${json.toString('base64')}`, () => decode(message, parseYaml(json).value)),
        decodes(t, `protobuf ${bytes.toString('base64')}`, () => {
          const { object } = decodeProtobuf(message as Message<object>, bytes)
          toJson(message as Message<object>, object)
        })
      ]) if (ok) taken++; else refused++
    }
  }
  t.comment(`${taken} taken, ${refused} refused`)
  t.ok(taken > 100 && refused > 100, 'both happen')
})

t.test('any text as a selector is taken or refused with a DecodeError', async t => {
  const PARTS = [
    'a', 'in', 'notin', ' ', ',', '(', ')', '=', '==', '!=', '!', '<', '>', '1', 'metadata.name', 'status.phase', '\\',
    '\\,'
  ]
  for (let run = 0; run < 5000; run++) {
    const selector = Array.from(
      { length: dice.int(10) }, () => dice.int(8) === 0 ? text(dice) : PARTS[dice.int(PARTS.length)]
    ).join('')
    decodes(t, `label selector ${selector}`, () => {
      const parsed = parseLabelSelector(selector)
      const again = parseLabelSelector(parsed.text)
      for (const labels of [{}, { a: '1' }, { a: '', in: 'in' }]) {
        if (parsed.matches(labels) !== again.matches(labels)) t.fail(`${selector} is not ${parsed.text}`)
      }
    })
    for (const { stored: resource } of [configMaps, pods]) {
      decodes(t, `field selector ${selector}`, () => {
        const parsed = parseFieldSelector(selector, resource)
        const again = parseFieldSelector(parsed.text, resource)
        if (again.text !== parsed.text) t.fail(`${selector} is not ${parsed.text}`)
      })
    }
  }
  t.pass('none threw anything else')
})
