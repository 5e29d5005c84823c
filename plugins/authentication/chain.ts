/** Combines authenticators: the first that identifies a user ends the chain. */
import type { Authenticated, Authenticator, Credentials } from '../../auth/authenticator.js'
import { StatusError } from '../../schemas/status.js'

export type Found = Authenticated | undefined
export type Authenticate = (credentials: Credentials) => Found | Promise<Found>

/**
 * Synchronous if all authenticators it calls are. If none succeeds, throws or rejects with the first failure.
 * @param own audiences of this server
 */
export function chain (authenticators: readonly Authenticator[], own: readonly string[] = []): Authenticate {
  const methods = authenticators
    .map(authenticator => authenticator.knowsAudiences === true
      ? authenticator.authenticate.bind(authenticator)
      : forThisServer(authenticator, own))
  const ask = (from: number, credentials: Credentials, before: unknown[] | undefined): Found | Promise<Found> => {
    let failures = before
    for (let at = from; at < methods.length; at++) {
      let result: Found | Promise<Found>
      try {
        result = (methods[at] as Authenticate)(credentials)
      } catch (error) {
        failures = [...failures ?? [], error]
        continue
      }
      if (result instanceof Promise) {
        const known = failures
        return result.then(user =>
          user ?? ask(at + 1, credentials, known), error => ask(at + 1, credentials, [...known ?? [], error]))
      }
      if (result !== undefined) return result
    }
    if (failures !== undefined) throw new StatusError('Unauthorized', 'Unauthorized', { cause: failures[0] })
    return undefined
  }
  return credentials => ask(0, credentials, undefined)
}

/** For authenticators that ignore audiences: their credentials are valid for this server only. */
function forThisServer (authenticator: Authenticator, own: readonly string[]): Authenticate {
  return credentials => {
    const { audiences } = credentials
    if (audiences === undefined) return authenticator.authenticate(credentials)
    const shared = own.filter(audience => audiences.includes(audience))
    if (shared.length === 0) return undefined
    const named = (user: Found): Found => user === undefined ? undefined : { ...user, audiences: shared }
    const result = authenticator.authenticate(credentials)
    return result instanceof Promise ? result.then(named) : named(result)
  }
}
