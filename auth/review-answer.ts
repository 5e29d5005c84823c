/** Checks responses of review services: the review that was sent, with a status. */

interface Typed { readonly kind?: unknown, readonly apiVersion?: unknown }

/** A missing kind or apiVersion counts as that of the request: many services return only a status. */
export const isReview = (
  { kind, apiVersion }: Typed, sent: { readonly kind: string, readonly apiVersion: string }
): boolean =>
  matchesType(kind, sent.kind) && matchesType(apiVersion, sent.apiVersion)

const matchesType = (received: unknown, sentValue: string): boolean => received === undefined || received === null ||
  received === '' || received === sentValue
