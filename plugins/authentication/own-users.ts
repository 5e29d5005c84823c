/**
 * Users as whom this server asks itself, by requests that never leave the process. Each has a random token, so
 * that such a request passes every hook that those of clients do; hooks of a host see it, so it is worth nothing from
 * outside.
 */
import { randomBytes } from 'node:crypto'
import type { UserInfo } from '../../schemas/meta/user-info.js'

export class OwnUsers {
  readonly #users = new Map<string, UserInfo>()

  /** @returns the Authorization header of the user's requests */
  add (user: UserInfo): string {
    const header = `Bearer ${randomBytes(32).toString('base64url')}`
    this.#users.set(header, user)
    return header
  }

  find (authorization: string | undefined): UserInfo | undefined {
    return authorization === undefined || this.#users.size === 0 ? undefined : this.#users.get(authorization)
  }
}
