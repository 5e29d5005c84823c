/**
 * What mutations do to an object: an apply configuration is merged as server-side apply would, without ownership; a
 * patch is followed. Both under the names of clients, in the version that the rules of the policy match.
 */
import { toJson } from '../../expressions/from-json.js'
import { Entries, Items, type Value } from '../../expressions/values.js'
import { nextTurn, runStepsWithinBudget, turnIsOver } from '../../event-loop/turns.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { undeclaredIn } from '../../schemas/language/decode.js'
import { Facts, type Message } from '../../schemas/language/types.js'
import { clone } from '../../schemas/language/values.js'
import { isStatusError, StatusError } from '../../schemas/status.js'
import { atomicsIn } from '../../registry/apply/atomics.js'
import { compare, UNCHANGED } from '../../registry/apply/compare.js'
import { appliedValue, validateConfig } from '../../registry/apply/config.js'
import { merge } from '../../registry/apply/merge.js'
import { shapesOf, type Shape } from '../../registry/apply/shape.js'
import { applyJsonPatch, isFailedTest, parseJsonPatch } from '../../registry/patch/json-patch.js'
import type { AdmissionNames } from '../names.js'
import { internal } from '../webhooks/refusals.js'
import type { RequestedVersion } from '../webhooks/requested-version.js'
import type { Mutation } from './policy.js'
import { mistyped } from './scalars.js'

type Members = Readonly<Record<string, unknown>>

export interface Change {
  /** What the expression made. */
  readonly made: Value
  readonly names: AdmissionNames
  /** Others have changed the object in this round, so that it need not be compared. */
  readonly isChanged: boolean
}

/**
 * Changes the object of the request. Rejects with an Error that the failure policy judges, or a StatusError 500 or 503
 * that it does not.
 * @returns whether it is another one now
 */
export async function mutate (
  { applies }: Mutation, object: Record<string, unknown>, version: RequestedVersion,
  { made, names, isChanged }: Change
): Promise<boolean> {
  const { message, shown: typed, json, gates } = version
  if (applies && message !== undefined && typed !== undefined && !names.renames) {
    // Without writing and parsing JSON. What is written replaces members.
    const before = { ...typed(object) }
    const live = clone(before)
    await endOfTurn()
    const after = configured(version, live, made, names)
    await endOfTurn()
    await put(version, object, after, names)
    if (isChanged) return true
    await endOfTurn()
    return compare(shapesOf(message, gates).whole, before, typed(object)) !== UNCHANGED
  }
  const before = json(object)
  await endOfTurn()
  const document = names.object(before)
  await endOfTurn()
  const after = applies ? configured(version, document, made, names) : await patched(document, made)
  if (after === undefined) return false
  await endOfTurn()
  await put(version, object, after, names)
  if (isChanged) return true
  await endOfTurn()
  return json(object) !== before
}

async function endOfTurn (): Promise<void> {
  if (turnIsOver()) await nextTurn()
}

/** @throws StatusError 500 */
async function put (
  version: RequestedVersion, object: Record<string, unknown>, after: unknown, names: AdmissionNames
): Promise<void> {
  let unknown: readonly string[]
  try {
    const putting = version.put(object, after, names.decode)
    unknown = putting instanceof Promise ? await putting : putting
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw internal(error.message, error)
  }
  // As upstream, objects of custom types are pruned.
  if (unknown.length > 0 && version.message?.[Facts].given === undefined) {
    throw internal(`strict decoding error: ${unknown.map(path => `unknown field ${JSON.stringify(path)}`).join(', ')}`)
  }
}

/** Undefined if a test of the patch failed. */
async function patched (document: unknown, patch: Value): Promise<unknown> {
  const operations = patch instanceof Items ? [...patch].map(operation) : []
  try {
    return await runStepsWithinBudget(applyJsonPatch(document, parseJsonPatch(operations)))
  } catch (error) {
    if (!isStatusError(error)) throw error
    if (isFailedTest(error)) return undefined
    throw new Error(`JSON Patch: ${error.message}`, { cause: error })
  }
}

function operation (entry: Value): Members {
  const value = entry instanceof Entries ? entry.get('value') : undefined
  if (value !== undefined) checkTypes(value)
  const { from = '', ...rest } = toJson(entry) as Members & { readonly from?: string } // as its type is
  return { op: '', path: '', ...rest, ...(from === '' ? {} : { from }) }
}

/**
 * @param live is changed; JSON under other names, otherwise typed
 * @throws Error for a configuration that cannot be applied
 */
function configured (
  { message, gates, kind: { group, version, kind } }: RequestedVersion, live: unknown, configuration: Value,
  names: AdmissionNames
): unknown {
  if (message === undefined) {
    throw new StatusError('ServiceUnavailable', `Resource kind ${group}/${version}, Kind=${kind} not found. There ` +
      'can be a delay between when CustomResourceDefinitions are created and when they are available.')
  }
  checkTypes(configuration)
  const { apiVersion, kind: shownKind } = live as Members
  const config = { ...toJson(configuration) as Members, apiVersion, kind: shownKind }
  const { whole } = shapesOf(names.message(message), gates)
  const decoded = decodedConfig([message, whole], config, names)
  const atomics = atomicsIn(whole, config)
  if (atomics.length > 0) {
    throw refused(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`)
  }
  const applied = names.renames ? config : appliedValue(whole, config, decoded)
  return merge(whole, live, applied, { ofLive: false, moved: false })
}

const refused = (why: string): Error => new Error(`error applying patch: ${why}`)

/** @throws Error for values that do not fit the type */
function decodedConfig ([message, whole]: readonly [Message, Shape], config: object, names: AdmissionNames): unknown {
  const findings: string[] = []
  let object: unknown
  try {
    const read = names.decode(message, clone(config))
    object = read.object
    findings.push(...undeclaredIn(read))
  } catch (error) {
    if (!isDecodeError(error)) throw error
    findings.push(error.message)
  }
  if (findings.length === 0) {
    validateConfig(whole, config, ({ field, detail }) => {
      findings.push(`.${field}: ${detail === '' ? 'duplicate entries' : detail}`)
    })
    findings.push(...mistyped(message[Facts].given ?? {}, config))
  }
  if (findings.length === 0) return object
  const all = findings.length === 1 ? findings.join('') : `errors:\n${findings.map(text => `  ${text}`).join('\n')}`
  throw refused(`failed to convert patch object to typed object: ${all}`)
}

/** Objects are named by their place: that of `Object.spec.x` is a value of `x`. @throws Error */
function checkTypes (object: Value): void {
  if (!(object instanceof Entries) || object.struct === undefined) return
  const wrong: string[] = []
  mismatches(object, object.struct, wrong)
  if (wrong.length > 0) throw new Error(`type mismatch: ${wrong.join('\n')}`)
}

function mismatches (value: Value | undefined, place: string, wrong: string[]): void {
  if (value instanceof Items) for (const item of value) mismatches(item, place, wrong)
  if (!(value instanceof Entries)) return
  const { struct, entries } = value
  if (struct !== undefined && struct !== place) {
    wrong.push(`unexpected type name ${JSON.stringify(struct)}, expected ${JSON.stringify(place)}, which matches ` +
      'field name path from root Object type')
  }
  for (const [key, member] of entries) {
    mismatches(member, struct === undefined ? place : `${place}.${String(key)}`, wrong)
  }
}
