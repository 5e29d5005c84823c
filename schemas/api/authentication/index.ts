/** The resources of authentication.orch.io. */
import { tokenReviews } from './tokenreviews.js'

export const authentication = [tokenReviews]
