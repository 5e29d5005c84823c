/** Which request an error belongs to, for errors that nobody catches: noted where one ends a step of a request. */

/** Audit IDs. */
const requests = new WeakMap<object, string>()

/** The first step that an error ends is nearest to its cause. */
export function blame (error: unknown, auditId: string): void {
  if (typeof error === 'object' && error !== null && !requests.has(error)) requests.set(error, auditId)
}

/** The audit ID of its request, if the error has ended a step of one. */
export const blamedFor = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null ? requests.get(error) : undefined
