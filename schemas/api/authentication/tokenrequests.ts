/** TokenRequest (v1): a token for a service account. */
import { int64, one, string, list, apiPackage, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { Time } from '../../meta/scalars.js'
import { PUBLIC_TOKEN_VERSION } from '../../public-names.js'

const { kind, message } = apiPackage('authentication.orch.io', 'v1', 'io.orch.api.authentication.v1', {
  alsoAs: PUBLIC_TOKEN_VERSION
})

export type BoundObjectReference = Static<typeof BoundObjectReference>
export const BoundObjectReference = message('BoundObjectReference', 'The object a token is bound to.', {
  kind: string(1, 'Kind of the object: Pod or Secret.'),
  apiVersion: string(2, 'API version of the object.'),
  name: string(3, 'Name of the object.'),
  uid: string(4, 'UID of the object.', { protoName: 'uID' })
})

export type TokenRequestSpec = Static<typeof TokenRequestSpec>
export const TokenRequestSpec = message('TokenRequestSpec', 'The requested token.', {
  audiences: list(1, 'Who the token is meant for; by default the API server.', 'string', { required: true }),
  expirationSeconds: int64(4, 'Seconds the token should be valid, at least 600; by default 3600.', {
    written: true, pointer: true, default: 3600
  }),
  boundObjectRef: one(3, 'Object with which the token becomes invalid.', BoundObjectReference, {
    written: true, pointer: true
  })
})

export type TokenRequestStatus = Static<typeof TokenRequestStatus>
export const TokenRequestStatus = message('TokenRequestStatus', 'The token that was issued.', {
  token: string(1, 'The token itself, to be sent as bearer token.', { required: true, mayBeEmpty: true }),
  expirationTimestamp: one(2, 'When the token expires.', Time, { required: true })
})

export type TokenRequest = Static<typeof TokenRequest>
export const TokenRequest = kind('TokenRequest', 'Asks for a token of a service account.', {
  metadata,
  spec: one(2, 'The requested token.', TokenRequestSpec, { required: true }),
  status: one(3, 'The token that was issued; written by the system.', TokenRequestStatus)
})
