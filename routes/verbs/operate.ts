/**
 * POST of an operation: a virtual resource such as a review, or a subresource that acts. Returns the result without
 * storing it.
 */
import type { Message } from '../../schemas/language/declare.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { applyDefaults } from '../../schemas/language/defaults.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { WaitingSteps } from '../../schemas/steps.js'
import type { Verb, VerbRequest } from '../../answers/answer.js'
import { operate } from '../../registry/verbs/operate.js'
import type { VirtualOperation } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { decodeBody } from '../body.js'
import { contextOf, targetOf } from './write.js'
import { checkFieldManager, fieldValidation, type FieldValidation } from '../write-options.js'

export function operationVerb (store: ResourceStore, operation: VirtualOperation): Verb {
  return async request => {
    const { warnings } = request.orch
    checkFieldManager(request)
    const message = operation.message ?? store.representation.message
    const validation = fieldValidation(request)
    const write = { store, target: targetOf(request), context: contextOf(request) }
    const result = await operate(write, operation.run, function * () {
      const object = yield * decodeVersion(request, validation, message, operation.otherMessages)
      applyDefaults(message, object)
      return object
    })
    const omitsUnsetTimes = store.gates.enabled('UnsetTimesAreOmitted')
    const answer = { kind: 'object', object: result, code: 201, warnings, omitsUnsetTimes } as const
    // A plain outcome, as of a binding, has no metadata.
    if (operation.answer !== undefined) return { ...answer, message: operation.answer }
    return { ...answer, message, forms: 'metadata' }
  }
}

/** Decodes the first version that matches; if none does, reports the error of the first. */
function * decodeVersion (
  request: VerbRequest, validation: FieldValidation, message: Message<ApiObject>,
  others: ReadonlyArray<Message<ApiObject>> = []
): WaitingSteps<ApiObject> {
  let first: unknown
  for (const candidate of [message, ...others]) {
    try {
      return yield * decodeBody(request, candidate, validation)
    } catch (error) {
      if (!isDecodeError(error)) throw error
      first ??= error
    }
  }
  throw first
}
