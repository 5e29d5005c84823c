/** What a request is about, for tests without a server. */
import { infoOfPath } from '../plugins/request-info/paths.js'
import type { RequestInfo } from '../auth/request-info.js'

export const parseRequest = (method: string, path: string, query = ''): RequestInfo =>
  infoOfPath({ method, path, query })
