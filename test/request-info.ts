/** What a request is about, for tests without a server. */
import { OWN_NAMES } from '../schemas/naming.js'
import { infoOfPath } from '../plugins/request-info/paths.js'
import type { RequestInfo } from '../auth/request-info.js'

export const parseRequest = (method: string, path: string, query = ''): RequestInfo =>
  infoOfPath({ method, path, query, naming: OWN_NAMES })
