/**
 * Properties of any patch of any kind: it has the effect of the difference it was made from, and repeating it changes
 * nothing.
 */
import t from 'tap'
import { clone, sameValue } from '../../../schemas/language/values.js'
import { planOf, alternativeOf, type Plan, type PlannedField } from '../../../schemas/language/plan.js'
import { isStatusError } from '../../../schemas/status.js'
import { representations } from '../../../schemas/resources.js'
import type { Json } from '../../build.js'
import { value, type Dice } from '../../properties/objects.js'
import { random } from '../../random.js'
import { merged } from './scenarios.js'

const KINDS = representations.filter(one => !one.type.virtual)
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const put = (object: Json, name: string, value: unknown): void => {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}

/** What a difference must know about a value; undefined for arbitrary JSON. */
type Known = { readonly plan: Plan } | { readonly field: PlannedField, readonly entry: boolean } | undefined

function memberOf (known: Known, name: string): Known {
  if (known === undefined) return undefined
  if ('plan' in known) {
    const field = known.plan.byName.get(name)
    return field === undefined ? undefined : { field, entry: false }
  }
  return known.field.element === undefined
    ? { field: known.field, entry: true }
    : { field: known.field.element, entry: false }
}

/** The same for the members of an object, or of the objects in a list. */
function within (known: Known, value: unknown): Known {
  if (known === undefined || 'plan' in known) return known
  const { field, entry } = known
  if (field.shape === 'map' && !entry) return known
  if (field.element !== undefined || field.message === undefined || field.special !== undefined) return undefined
  if (!field.alternatives) return { plan: field.plan }
  const alternative = alternativeOf(field.plan, value)
  return alternative === undefined ? undefined : within({ field: alternative, entry: false }, value)
}

const factsOf = (known: Known): { merges: boolean, replaces: boolean, key: string | undefined } => {
  const facts = known !== undefined && 'field' in known && !known.entry ? known.field.field : undefined
  return {
    merges: facts?.patchStrategy?.includes('merge') === true,
    replaces: facts?.patchStrategy === 'replace',
    key: facts?.patchMergeKey
  }
}

/** Removes nulls, and repeated items of merged lists. */
function tidy (known: Known, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { merges, key } = factsOf(known)
    const items = value.filter(item => item !== null).map(item =>
      isObject(item) ? tidy(within(known, item), item) : item as unknown)
    if (!merges) return items
    const keys = items.map(item => key === undefined ? item : isObject(item) ? item[key] as unknown : undefined)
    return items.filter((_, index) => keys[index] !== undefined && keys.indexOf(keys[index]) === index)
  }
  if (!isObject(value)) return value
  const inner = within(known, value)
  const made: Json = {}
  for (const name of Object.keys(value)) {
    if (value[name] !== null) put(made, name, tidy(memberOf(inner, name), value[name]))
  }
  return made
}

/** The patch that turns `before` into `after`, in the form that clients write. */
function difference (dice: Dice, known: Known, before: Json, after: Json): Json {
  const patch: Json = {}
  const retain = dice.int(4) === 0
  if (retain) patch['$retainKeys'] = Object.keys(after)
  for (const name of Object.keys(before)) if (!retain && !Object.hasOwn(after, name)) put(patch, name, null)
  for (const name of Object.keys(after)) {
    const member = memberOf(known, name)
    const [old, next] = [Object.hasOwn(before, name) ? before[name] as unknown : undefined, after[name] as unknown]
    const { merges, replaces, key } = factsOf(member)
    if (isObject(old) && isObject(next) && !replaces) {
      put(
        patch, name,
        dice.int(6) === 0 ? { $patch: 'replace', ...next } : difference(dice, within(member, next), old, next)
      )
    } else if (!Array.isArray(old) || !Array.isArray(next) || !merges) put(patch, name, next)
    else if (key === undefined) {
      patch[name] = next.filter(item => !old.includes(item))
      patch[`$deleteFromPrimitiveList/${name}`] = old.filter(item => !next.includes(item))
      patch[`$setElementOrder/${name}`] = next
    } else {
      const find = (items: unknown[], item: Json): Json | undefined =>
        (items as Json[]).find(one => one[key] === item[key])
      const inner = within(member, next[0])
      const changed = (next as Json[]).flatMap(item => {
        const there = find(old, item)
        return there === undefined
          ? [item]
          : sameValue(there, item) ? [] : [{ ...difference(dice, inner, there, item), [key]: item[key] as unknown }]
      })
      const gone = (old as Json[]).filter(item =>
        find(next, item) === undefined).map(item => ({ $patch: 'delete', [key]: item[key] as unknown }))
      patch[name] = [...gone, ...changed]
      patch[`$setElementOrder/${name}`] = (next as Json[]).map(item => ({ [key]: item[key] as unknown }))
    }
  }
  return patch
}

t.test('the difference between two objects of any kind makes the second of the first, once and twice', async t => {
  const dice = random()
  t.comment(`seed ${dice.seed}`)
  for (const { kind, apiVersion, message } of KINDS) {
    for (let round = 0; round < 6; round++) {
      const known = { plan: planOf(message) }
      const [before, after] = [tidy(known, value(dice, message)), tidy(known, value(dice, message))] as [Json, Json]
      const patch = difference(dice, known, before, after)
      const made = await merged(message, before, patch)
      const again = await merged(message, made, patch)
      if (sameValue(made, after) && sameValue(again, after)) continue
      t.strictSame(made, after, `${apiVersion} ${kind}`)
      t.strictSame(again, after, `${apiVersion} ${kind} again`)
      return
    }
  }
  t.pass('for all')
})

t.test('a random patch is never modified, and yields an object or a refusal', async t => {
  const dice = random()
  t.comment(`seed ${dice.seed}`)
  const directives: Json[] = [
    { $patch: 'delete' },
    { $patch: 'replace' },
    { $patch: 'merge' },
    { $patch: 1 },
    { $retainKeys: ['metadata', 'name'] },
    { $retainKeys: 'x' },
    { '$setElementOrder/containers': [{}] },
    { $setElementOrder: [] },
    { '$deleteFromPrimitiveList/finalizers': ['a', null, {}] }
  ]
  const strew = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strew)
    if (!isObject(value)) return dice.int(20) === 0 ? [null, [], {}, 'x', 7][dice.int(5)] : value
    const made: Json = {}
    for (const name of Object.keys(value)) put(made, name, strew(value[name]))
    return dice.int(6) === 0 ? Object.assign(made, directives[dice.int(directives.length)]) : made
  }
  const outcomes = new Set<number>()
  for (const { kind, apiVersion, message } of KINDS) {
    for (let round = 0; round < 8; round++) {
      const object = value(dice, message) as Json
      const patch = strew(value(dice, message)) as Json
      const sent = clone(patch)
      const error: unknown = await merged(message, object, patch).then(() => undefined, (error: unknown) => error)
      outcomes.add(isStatusError(error) ? error.status.code : 200)
      if (error !== undefined && !isStatusError(error)) t.error(error, `${apiVersion} ${kind}`)
      if (!sameValue(patch, sent)) t.strictSame(patch, sent, `${apiVersion} ${kind}`)
    }
  }
  t.strictSame([...outcomes].sort(), [200, 400, 422])
})

t.test('the merged list keeps the order of the patch and of the other items, and loses none', async t => {
  const dice = random()
  t.comment(`seed ${dice.seed}`)
  const [pod] = KINDS.filter(({ kind }) => kind === 'Pod')
  if (pod === undefined) throw new Error('there are no pods')
  const letters = (): string[] => [...'abcdefgh'].filter(() => dice.int(2) === 0)
    .map(letter => ({ letter, at: dice.int(100) }))
    .sort((a, b) => a.at - b.at)
    .map(({ letter }) => letter)
  const list = (letters: string[]): Json => ({ spec: { containers: letters.map(name => ({ name })) } })
  for (let round = 0; round < 2000; round++) {
    const [there, wanted, gone] = [letters(), letters(), letters()]
    const patch = list(wanted)
    patch['spec'].containers.push(...gone.filter(name =>
      !wanted.includes(name)).map(name => ({ name, $patch: 'delete' })))
    const made: string[] = (await merged(pod.message, list(there), patch))['spec'].containers
      .map(({ name }: Json) => name as string)
    const kept = there.filter(name => !gone.includes(name) || wanted.includes(name))
    const others = kept.filter(name => !wanted.includes(name))
    const right = made.length === new Set([...kept, ...wanted]).size &&
      sameValue(made.filter(name => wanted.includes(name)), wanted) &&
        sameValue(made.filter(name => !wanted.includes(name)), others)
    if (!right) t.fail(JSON.stringify({ there, wanted, gone, made }))
    // One of the items that preceded the first one of the patch still does.
    const first = wanted.find(name => kept.includes(name))
    if (first !== undefined && wanted[0] === first) {
      for (const name of others) {
        if (kept.indexOf(name) < kept.indexOf(first) && made.indexOf(name) > made.indexOf(first)) {
          t.fail(JSON.stringify({ there, wanted, gone, made }))
        }
      }
    }
  }
  t.pass('for all')
})
