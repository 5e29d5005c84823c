/**
 * What clients send under their names, made ours: paths, queries, Accept headers and impersonated users. Which names a
 * client has is chosen once a request, by its path and media types, where the server has public names.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { RequestContext } from '../../answers/request-context.js'
import { PUBLIC_NAMES } from '../../schemas/compat/naming.js'
import { usesPublicNames } from '../../schemas/compat/requests.js'
import { OWN_NAMES } from '../../schemas/naming.js'

type Names = RequestContext['naming']

export interface Arrived {
  readonly naming: Names
  /** The query, with selectors under own names. */
  readonly search: string
  /** A path under own names, decoded. Undefined: the same. */
  readonly ownPath: ((path: string) => string) | undefined
}

/** Of requests whose client has own names, those of this process among them. */
export const OWN: Names = OWN_NAMES

export const arrivals = (hasPublicNames: boolean) =>
  (path: string, query: string, headers: IncomingHttpHeaders): Arrived =>
    hasPublicNames && usesPublicNames(path, headers)
      ? { naming: PUBLIC_NAMES, search: PUBLIC_NAMES.query(query, path), ownPath: PUBLIC_NAMES.path }
      : { naming: OWN, search: query, ownPath: undefined }

/** The Accept header, with own media types. */
export const acceptOf = ({ orch, headers }: FastifyRequest): string | undefined =>
  (orch?.naming ?? OWN).accepted(headers.accept)

/** With which headers of the project begin, for the client. */
export const headerPrefixOf = ({ naming }: Pick<RequestContext, 'naming'>): string => naming.headerPrefix

interface Users {
  readonly users: readonly string[], readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

/** As whom the client wants to act, under own names. */
export const ownUsers = <T extends Users>(sent: T, { naming: { user, key } }: Pick<RequestContext, 'naming'>): T => ({
  ...sent,
  users: sent.users.map(user),
  groups: sent.groups.map(user),
  extra: new Map([...sent.extra].map(([name, values]) => [key(name), values]))
})
