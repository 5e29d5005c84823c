/** Asks for rights that a request does not need, but that decide how much its answer tells. */
import type { VerbRequest } from '../answers/answer.js'
import { resourceRequest } from '../auth/request-info.js'

export async function mayAlso (
  { isOwn, server, orch: { user } }: VerbRequest, asked: Parameters<typeof resourceRequest>[0]
): Promise<boolean> {
  if (isOwn === true) return true
  if (user === undefined) return false
  const { decision } = await server.orchAuthorization.authorizer.authorize({ user, info: resourceRequest(asked) })
  return decision === 'Allow'
}
