/** Authenticators as one function: the first that knows the user ends it. */
import type { Authenticated, Authenticator, Credentials } from '../../auth/authenticator.js'
import { StatusError } from '../../schemas/status.js'

export type Found = Authenticated | undefined
export type Authenticate = (credentials: Credentials) => Found | Promise<Found>

/**
 * Synchronous as long as the authenticators asked are. Rejects or throws with the first failure when none succeeds.
 * @param own audiences of this server
 */
export function chain (authenticators: readonly Authenticator[], own: readonly string[] = []): Authenticate {
  const methods = authenticators.map(one => one.knowsAudiences === true ? one.authenticate.bind(one) : forThisServer(one, own))
  const ask = (from: number, credentials: Credentials, before: unknown[] | undefined): Found | Promise<Found> => {
    let failures = before
    for (let at = from; at < methods.length; at++) {
      let found: Found | Promise<Found>
      try {
        found = (methods[at] as Authenticate)(credentials)
      } catch (error) {
        failures = [...failures ?? [], error]
        continue
      }
      if (found instanceof Promise) {
        const known = failures
        return found.then(user => user ?? ask(at + 1, credentials, known), error => ask(at + 1, credentials, [...known ?? [], error]))
      }
      if (found !== undefined) return found
    }
    if (failures !== undefined) throw new StatusError('Unauthorized', 'Unauthorized', { cause: failures[0] })
    return undefined
  }
  return credentials => ask(0, credentials, undefined)
}

/** Credentials that say nothing about audiences are for this server: who asks for others alone is not answered. */
function forThisServer (authenticator: Authenticator, own: readonly string[]): Authenticate {
  return credentials => {
    const { audiences } = credentials
    if (audiences === undefined) return authenticator.authenticate(credentials)
    const shared = own.filter(audience => audiences.includes(audience))
    if (shared.length === 0) return undefined
    const named = (user: Found): Found => user === undefined ? undefined : { ...user, audiences: shared }
    const found = authenticator.authenticate(credentials)
    return found instanceof Promise ? found.then(named) : named(found)
  }
}
