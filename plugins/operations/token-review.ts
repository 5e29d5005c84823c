/**
 * TokenReview: whose token is this? The chain of the server is asked, for the audiences of the review or else for those of
 * the server; a token that is for none of them is nobody's.
 */
import type { TokenReview, TokenReviewStatus } from '../../schemas/api/authentication/tokenreviews.js'
import { tokenCredentials } from '../../auth/authenticator.js'
import type { Authenticator } from '../../auth/authenticator.js'
import { badRequest, isStatusError } from '../../schemas/status.js'
import { reasonOf } from '../../storage/errors.js'
import type { Operation } from '../../registry/resource-registry.js'

/** Of a token that nobody knows, and before the reason of whoever refused it. */
const INVALID = 'invalid bearer token'

/** @param own audiences of this server */
export const tokenReview = (authenticator: Authenticator, own: readonly string[] = []): Operation => {
  const answer = async ({ token = '', audiences = [] }: TokenReview['spec']): Promise<TokenReviewStatus> => {
    const asked = audiences.length === 0 ? own : audiences
    try {
      const user = await authenticator.authenticate(tokenCredentials(token, asked.length === 0 ? undefined : asked))
      if (user === undefined) return { user: {}, error: INVALID }
      const { username, uid, groups, extra, audiences: known = [] } = user
      const shared = asked.filter(audience => known.includes(audience))
      if (asked.length > 0 && shared.length === 0) return { user: {}, error: 'the token is for none of the audiences' }
      return {
        authenticated: true,
        user: { username, uid, groups: [...groups], extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) },
        ...(shared.length === 0 ? {} : { audiences: shared })
      }
    } catch (error) {
      return { user: {}, error: `[${INVALID}, ${reasonOf(isStatusError(error) ? error.cause ?? error : error)}]` }
    }
  }
  return {
    run: async object => {
      const review = object as TokenReview // performed for this kind alone
      if ((review.spec.token ?? '') === '') throw badRequest('token is required for TokenReview in authentication')
      return { ...review, status: await answer(review.spec) }
    }
  }
}
