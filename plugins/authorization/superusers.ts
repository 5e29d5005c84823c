/** Members of system:masters, who may do everything, whatever the modes say; they are allowed before any is asked. */
import type { Authorizer, Ruling } from '../../auth/authorizer.js'

const ALLOW: Ruling = { decision: 'Allow' }
const NO_OPINION: Ruling = { decision: 'NoOpinion', reason: '' }

export const SUPERUSERS: Authorizer = {
  name: 'system:masters',
  authorize: ({ user }) => user.groups.includes('system:masters') ? ALLOW : NO_OPINION,
  explain: () => 'allowed, as its members may do everything',
  rules: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false })
}
