/**
 * TokenReview: authenticates a token for the review's audiences, or else the server's. A token for none of them is
 * invalid.
 */
import type { TokenReview, TokenReviewStatus } from '../../schemas/api/authentication/tokenreviews.js'
import { tokenCredentials, type Authenticator } from '../../auth/authenticator.js'
import { badRequest, isStatusError } from '../../schemas/status.js'
import { reasonOf } from '../../storage/errors.js'
import type { VirtualOperation } from '../../registry/resource-registry.js'
import { shownUser } from './shown-user.js'

/** Error for unknown tokens, and prefix of an authenticator's error. */
const INVALID = 'invalid bearer token'

/** @param own audiences of this server */
export const tokenReview = (authenticator: Authenticator, own: readonly string[] = []): VirtualOperation => {
  const answer = async ({ token = '', audiences = [] }: TokenReview['spec']): Promise<TokenReviewStatus> => {
    const requested = audiences.length === 0 ? own : audiences
    try {
      const user = await authenticator
        .authenticate(tokenCredentials(token, requested.length === 0 ? undefined : requested))
      if (user === undefined) return { user: {}, error: INVALID }
      const { audiences: known = [] } = user
      const shared = requested.filter(audience => known.includes(audience))
      if (requested.length > 0 && shared.length === 0) {
        return { user: {}, error: 'the token is for none of the audiences' }
      }
      return {
        authenticated: true,
        user: shownUser(user),
        ...(shared.length === 0 ? {} : { audiences: shared })
      }
    } catch (error) {
      return { user: {}, error: `[${INVALID}, ${reasonOf(isStatusError(error) ? error.cause ?? error : error)}]` }
    }
  }
  return {
    run: async object => {
      const review = object as TokenReview // registered for this kind only
      if ((review.spec.token ?? '') === '') throw badRequest('token is required for TokenReview in authentication')
      return { ...review, status: await answer(review.spec) }
    }
  }
}
