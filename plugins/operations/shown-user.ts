/** What reviews tell of a user. */
import type { UserInfo as Shown } from '../../schemas/api/authentication/tokenreviews.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'

export const shownUser = ({ username, uid, groups, extra }: UserInfo): Shown => ({
  username, uid, groups: [...groups],
  extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]))
})
