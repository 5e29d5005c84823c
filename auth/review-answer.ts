/** What a service that reviews something answers with: the review that it was sent, with a status. */

interface Typed { readonly kind?: unknown, readonly apiVersion?: unknown }

/** What an answer does not say of its type is as it was sent: many services send a status back and no more. */
export const isReview = ({ kind, apiVersion }: Typed, sent: { readonly kind: string, readonly apiVersion: string }): boolean =>
  says(kind, sent.kind) && says(apiVersion, sent.apiVersion)

const says = (said: unknown, wanted: string): boolean => said === undefined || said === null || said === '' || said === wanted
