/** ConversionReview (v1): the request to a conversion webhook, and its response. */
import { string, one, list, type Static } from '../../language/declare.js'
import { Status } from '../../meta/v1.js'
import { RawExtension } from '../../meta/runtime.js'
import { kind, message } from './package.js'

export type ConversionRequest = Static<typeof ConversionRequest>
export const ConversionRequest = message('ConversionRequest', 'Asks a webhook to convert objects to another version.', {
  uid: string(1, 'UID of the request, to be repeated in the response.', { required: true }),
  desiredAPIVersion: string(2, 'API version to convert to, such as stable.example.com/v1.', { required: true }),
  objects: list(3, 'Objects to convert.', RawExtension, { required: true })
})

export type ConversionResponse = Static<typeof ConversionResponse>
export const ConversionResponse = message('ConversionResponse', 'Answer of a conversion webhook.', {
  uid: string(1, 'UID of the request that is answered.', { required: true }),
  convertedObjects: list(2, 'Converted objects, in the order of the request.', RawExtension, { required: true }),
  result: one(3, 'Whether the conversion succeeded, or why not.', Status, { required: true })
})

export type ConversionReview = Static<typeof ConversionReview>
export const ConversionReview =
  kind('ConversionReview', 'A conversion of objects by a webhook, request and response.', {
    request: one(1, 'Objects to convert.', ConversionRequest, { pointer: true }),
    response: one(2, 'What the webhook answers.', ConversionResponse, { pointer: true })
  })
