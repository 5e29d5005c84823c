import t from 'tap'
import { applyDefaults, clone, decode, decodeProtobuf, encodeProtobuf, isDecodeError, joinJson, parseFieldSelector, parseJson, parseLabelSelector, parseYaml, sameValue, splitJson, toJson, toYaml, validateObject, validateUpdate } from '../../schemas/index.js'
import type { Message } from '../../schemas/index.js'
import { APIGroup, APIResourceList, DeleteOptions, ListOptions, PartialObjectMetadata, Status } from '../../schemas/meta/v1.js'
import { resources } from '../../schemas/resources.js'
import { random } from '../random.js'
import { damage, text, value } from './objects.js'

const dice = random()
t.comment(`seed ${dice.seed}`)
const messages: Message[] = [...resources.map(({ message }) => message), APIGroup, APIResourceList, DeleteOptions, ListOptions, PartialObjectMetadata, Status]

const RUNS = 150

/** True when it ended well or with a DecodeError; anything else fails the test. */
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
      const yaml = parseYaml(Buffer.from(toYaml(JSON.parse(json)))).value
      const checks: Record<string, () => boolean> = {
        'nothing is unknown or repeated': () => unknown.length + again.unknown.length + parseJson(Buffer.from(json)).duplicates.length === 0,
        JSON: () => toJson(message as Message<object>, again.object) === json,
        protobuf: () => sameValue(back.object, object),
        'protobuf bytes': () => encodeProtobuf(message as Message<object>, back.object).equals(bytes),
        YAML: () => JSON.stringify(yaml) === JSON.stringify(JSON.parse(json)),
        copy: () => toJson(message as Message<object>, clone(object)) === json
      }
      const failed = Object.entries(checks).find(([, holds]) => !holds())?.[0]
      if (failed === undefined) agreed++
      else if (agreed === run) t.fail(`${message.name}: ${failed}: ${json}`)
    }
    t.equal(agreed, RUNS, message.name)
  }
})

t.test('lists and maps that protobuf can\'t tell from unset ones come back unset, all else as JSON has it', async t => {
  for (const message of messages) {
    // Verbs of discovery are a message of their own, whose presence protobuf tells.
    const untold = new RegExp(`"(rules|${message === APIResourceList ? '' : 'verbs|'}versions|serverAddressByClientCIDRs|resources)":\\[\\]`, 'g')
    for (let run = 0; run < RUNS; run++) {
      const { object } = decode(message as Message<object>, value(dice, message))
      const json = toJson(message as Message<object>, decodeProtobuf(message as Message<object>, encodeProtobuf(message as Message<object>, object)).object)
      if (json !== toJson(message as Message<object>, object).replaceAll(untold, '"$1":null')) {
        t.fail(`${message.name}: ${json}\n${toJson(message as Message<object>, object)}`)
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
      if (joinJson(splitJson(resource.message, object), '77').toString() !== toJson(resource.message, object, '77')) t.fail(`split: ${once}`)
      validateUpdate(resource, object, decode(resource.message, value(dice, resource.message)).object)
      if (validateObject(resource, object).some(({ type, field }) => !type.startsWith('FieldValue') || typeof field !== 'string')) t.fail('a finding without type or field')
    }
  }
  t.pass('none differed')
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
  const PARTS = ['a', 'in', 'notin', ' ', ',', '(', ')', '=', '==', '!=', '!', '<', '>', '1', 'metadata.name', 'status.phase', '\\', '\\,']
  for (let run = 0; run < 5000; run++) {
    const selector = Array.from({ length: dice.int(10) }, () => dice.int(8) === 0 ? text(dice) : PARTS[dice.int(PARTS.length)]).join('')
    decodes(t, `label selector ${selector}`, () => {
      const parsed = parseLabelSelector(selector)
      const again = parseLabelSelector(parsed.text)
      for (const labels of [{}, { a: '1' }, { a: '', in: 'in' }]) if (parsed.matches(labels) !== again.matches(labels)) t.fail(`${selector} is not ${parsed.text}`)
    })
    for (const resource of resources) {
      decodes(t, `field selector ${selector}`, () => {
        const parsed = parseFieldSelector(selector, resource)
        const again = parseFieldSelector(parsed.text, resource)
        if (again.text !== parsed.text) t.fail(`${selector} is not ${parsed.text}`)
      })
    }
  }
  t.pass('none threw anything else')
})
