/** Names of credentials, by which audit events say with what a user was authenticated, and where a token is used. */

/** Key of a user's extra. */
export const CREDENTIAL_ID = 'authentication.orch.io/credential-id'
/** Keys of a user's extra: the node that its token is bound to, or that of its pod. */
export const NODE_NAME = 'authentication.orch.io/node-name'
export const NODE_UID = 'authentication.orch.io/node-uid'
/** Of a requester who impersonates the node it runs on: the keys of its `extra`, in place of their values. */
export const ASSOCIATED_KEYS = 'authentication.orch.io/associated-node-keys'

/** Of a token of a service account. @param id its claim `jti` */
export const tokenCredential = (id: string): string => `JTI=${id}`

/** @param sha256 of the DER, hexadecimal */
export const certificateCredential = (sha256: string): string => `X509SHA256=${sha256}`
