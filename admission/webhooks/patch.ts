/** Applies a webhook's JSON patch to the object in the version that the hook received. */
import { parseInSteps, UNBOUNDED } from '../../schemas/codec/json/parse.js'
import { saidOf, isDecodeError } from '../../schemas/language/decode-error.js'
import { isStatusError } from '../../schemas/status.js'
import type { Steps } from '../../schemas/steps.js'
import { runSteps, runStepsWithinBudget } from '../../event-loop/turns.js'
import { applyJsonPatch, parseJsonPatch } from '../../registry/patch/json-patch.js'
import type { AdmissionRequest, Pass } from '../../registry/admission.js'
import { JSON_PATCH, type HookPatch } from './answer.js'
import type { RequestedVersion } from './requested-version.js'
import { internal } from './refusals.js'
import { HookFailure, withoutValue } from './target.js'

export interface Patched {
  /** The operations as sent by the hook. */
  readonly patch: unknown
  readonly changed: boolean
}

/**
 * Changes the object in place.
 * @returns undefined for an empty patch
 * @throws HookFailure for a malformed patch or another type, StatusError 500 if it does not fit the object
 */
export async function applyHookPatch (
  hook: string, { text, type }: HookPatch, version: RequestedVersion,
  { object, pass }: Pick<AdmissionRequest, 'object'> & { readonly pass: Pick<Pass, 'beforeForeign'> }
): Promise<Patched | undefined> {
  const patch = await runSteps(parseOperations(text), text.length)
  if (patch.length === 0) return undefined
  if (object === undefined) {
    throw internal(`admission webhook ${JSON.stringify(hook)} attempted to modify the object, which is not supported ` +
      'for this operation')
  }
  if (type !== JSON_PATCH) {
    throw new HookFailure(`unsupported patch type ${JSON.stringify(type.slice(0, MAX_QUOTED))}`, 400)
  }
  const before = version.json(object)
  let done: (() => void) | undefined
  let putting: unknown
  try {
    const { value: document } = await runSteps(parseInSteps(Buffer.from(before), UNBOUNDED), before.length)
    const patched = await runStepsWithinBudget(applyJsonPatch(document, parseJsonPatch(patch)))
    done = pass.beforeForeign(object)
    putting = version.put(object, patched)
  } catch (error) {
    if (!isStatusError(error) && !isDecodeError(error)) throw error
    const describe = (why: string): string =>
      `the patch of admission webhook ${JSON.stringify(hook)} cannot be followed: ${why}`
    // Logged without the value, which may be a secret.
    throw internal(
      describe(error.message), new Error(describe(isStatusError(error) ? error.message : withoutValue(error)))
    )
  }
  if (putting instanceof Promise) await putting
  done?.()
  return { patch, changed: version.json(object) !== before }
}

const MAX_QUOTED = 200

function * parseOperations (text: string): Steps<unknown[]> {
  let value: unknown
  try {
    ({ value } = yield * parseInSteps(Buffer.from(text)))
  } catch (cause) {
    throw undecodable(isDecodeError(cause) ? saidOf(cause, 'it') : String(cause))
  }
  if (!Array.isArray(value)) throw undecodable('it is no list of operations')
  return value
}

const undecodable = (why: string): HookFailure =>
  new HookFailure(`received undecodable patch in webhook response: ${why}`, 503)
