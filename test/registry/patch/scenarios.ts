/** Scenarios of strategic merge patches: an object, a patch, and the result or the refusal. */
import type { Test as Tap } from 'tap'
import { runStepsWithinBudget } from '../../../event-loop/turns.js'
import type { Message } from '../../../schemas/language/declare.js'
import { clone } from '../../../schemas/language/values.js'
import { representations } from '../../../schemas/resources.js'
import { isStatusError } from '../../../schemas/status.js'
import { strategicMerge } from '../../../registry/patch/strategic.js'
import type { Json } from '../../build.js'

export type Scenario = { readonly title: string, readonly object: Json, readonly patch: Json } & (
  { readonly gives: Json, readonly twice?: Json } | { readonly code: 400 | 413 | 422, readonly says: RegExp }
)

export function messageOf (apiVersion: string, kind: string): Message {
  const found = representations.find(one => one.apiVersion === apiVersion && one.kind === kind)
  if (found === undefined) throw new Error(`there is no ${kind} in ${apiVersion}`)
  return found.message
}

export const merged = async (message: Message, object: Json, patch: Json): Promise<Json> =>
  await runStepsWithinBudget(strategicMerge(message, clone(object), patch)) as Json

/**
 * Runs each scenario. The result must not share parts with the patch, which must stay unchanged. Patching again must
 * change nothing, or give `twice`. Members of objects are compared in any order, items of lists in order.
 */
export function run (t: Tap, apiVersion: string, kind: string, scenarios: readonly Scenario[]): void {
  const message = messageOf(apiVersion, kind)
  for (const scenario of scenarios) {
    t.test(`${kind}: ${scenario.title}`, async t => {
      const { object, patch } = scenario
      const before = clone(patch)
      if ('gives' in scenario) {
        const made = await merged(message, object, patch)
        t.strictSame(made, scenario.gives)
        t.strictSame(
          await merged(message, made, patch), scenario.twice ?? scenario.gives,
          scenario.twice === undefined ? 'twice is once' : 'twice is another matter'
        )
      } else {
        const error = await merged(message, object, patch).then(() => undefined, (error: unknown) => error)
        t.ok(isStatusError(error), 'it is refused')
        t.match(error, { status: { code: scenario.code, message: scenario.says } })
      }
      t.strictSame(patch, before, 'the patch is as it was')
    })
  }
}
