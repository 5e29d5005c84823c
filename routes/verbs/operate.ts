/**
 * POST of an operation: a virtual resource such as a review, or a subresource that acts. Returns the result without
 * storing it.
 */
import type { Message } from '../../schemas/language/declare.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { applyDefaults } from '../../schemas/language/defaults.js'
import type { ApiObject } from '../../schemas/resource.js'
import type { Verb, VerbRequest } from '../../answers/answer.js'
import { matchNamespace } from '../../registry/stages/identity.js'
import { admit } from '../../registry/stages/admit.js'
import { OtherWrite } from '../../registry/stages/write.js'
import type { VirtualOperation } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { decodeBody, readBody } from '../body.js'
import { contextOf, targetOf } from './write.js'
import { checkFieldManager, fieldValidation } from '../write-options.js'

export function operationVerb (store: ResourceStore, operation: VirtualOperation): Verb {
  return async request => {
    const { query, warnings } = request.orch
    checkFieldManager(query, request.method)
    const message = operation.message ?? store.representation.message
    const object = await decodeVersion(request, message, operation.otherMessages)
    applyDefaults(message, object)
    const [target, context] = [targetOf(request), contextOf(request)]
    matchNamespace(store, object, target)
    // Operations on subresources run admission themselves.
    if (store.type.virtual) {
      const named = { ...target, name: object.metadata.name ?? '' }
      await admit(new OtherWrite({ store, target: named, context }, 'CREATE', object), () => {})
    }
    const result = await operation.run(object, target, context)
    const made = { kind: 'object', object: result, code: 201, warnings } as const
    // A plain outcome, as of a binding, has no metadata.
    if (operation.answer !== undefined) return { ...made, message: operation.answer }
    return { ...made, message, forms: 'metadata' }
  }
}

/** Decodes the first version that matches; if none does, reports the error of the first. */
async function decodeVersion (
  request: VerbRequest, message: Message<ApiObject>, [next, ...others]: ReadonlyArray<Message<ApiObject>> = []
): Promise<ApiObject> {
  try {
    return await readBody(request, decodeBody(request, message, fieldValidation(request)))
  } catch (error) {
    if (next === undefined || !isDecodeError(error)) throw error
    return await decodeVersion(request, next, others)
      .catch((later: unknown) => { throw isDecodeError(later) ? error : later })
  }
}
