/** What expressions of an authentication configuration may read. */
import { Environment } from '../../../expressions/program.js'
import { DYN, listOf, mapOf, objectOf, STRING } from '../../../expressions/types.js'

/** The claims of a token, before there is a user. */
export const CLAIMS = new Environment({ claims: mapOf(STRING, DYN) })

/** The user that the claims make. */
export const USER = new Environment({
  user: objectOf({
    username: STRING, uid: STRING, groups: listOf(STRING), extra: mapOf(STRING, listOf(STRING))
  }, 'orch.UserInfo')
})
