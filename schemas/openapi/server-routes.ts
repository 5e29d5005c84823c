/** Paths of discovery, version and token issuer, grouped as in OpenAPI 3. */
import { APIGroup, APIGroupList, APIResourceList, APIVersions } from '../meta/discovery.js'
import { JSON_TYPE } from '../media-types.js'
import { Info } from '../meta/version.js'
import { groupName, capitalize, tagOf, rootOf, type GroupVersion } from './naming.js'
import { DOCUMENTS, type Content, type Route } from './operations.js'

function document (
  path: string, { id, tag, description }: Record<'id' | 'tag' | 'description', string>, content: Content,
  forms: readonly string[] = DOCUMENTS
): Route {
  return {
    path, scope: [], operations: {
      get: { id, description, tag, query: [], consumes: forms, produces: forms, answers: { 200: content } }
    }
  }
}

export const RELEASE_ROUTE = document(
  '/version/', { id: 'getCodeVersion', tag: 'version', description: 'The release of the server.' }, Info, [JSON_TYPE]
)
export const CORE_ROUTE = document(
  '/api/', { id: 'getCoreAPIVersions', tag: 'core', description: 'The versions of the core group.' }, APIVersions
)
export const GROUPS_ROUTE = document(
  '/apis/', { id: 'getAPIVersions', tag: 'apis', description: 'The groups.' }, APIGroupList
)

/** OpenID discovery of the service account issuer. */
export const ISSUER_ROUTES: readonly Route[] = [
  document(
    '/.well-known/openid-configuration/', {
      id: 'getServiceAccountIssuerOpenIDConfiguration', tag: 'WellKnown',
      description: 'Who issues tokens of service accounts.'
    }, 'text', [JSON_TYPE]
  ),
  document(
    '/openid/v1/jwks/', {
      id: 'getServiceAccountIssuerOpenIDKeyset', tag: 'openid',
      description: 'The keys that tokens of service accounts are verified by.'
    }, 'text', ['application/jwk-set+json']
  )
]

export const groupRoute = (group: string): Route =>
  document(
    `/apis/${group}/`, {
      id: `get${capitalize(groupName(group))}APIGroup`, tag: groupName(group),
      description: 'The versions of the group.'
    }, APIGroup
  )

export const versionRoute = ({ group, version }: GroupVersion): Route =>
  document(
    `${rootOf(group, version)}/`, {
      id: `get${capitalize(groupName(group))}${capitalize(version)}APIResources`, tag: tagOf({ group, version }),
      description: 'The resources of the version.'
    }, APIResourceList
  )
