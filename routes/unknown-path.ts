/** 404 for paths below `/apis`, with a hint for clients that use the names of Kubernetes. */
import type { RequestInfo } from '../auth/request-info.js'
import { noSuchPath, type StatusError } from '../schemas/status.js'
import { adviceOnGroup } from '../schemas/upstream-groups.js'

const GROUP = /^\/apis\/([^/]+)/

export const unknownPath = ({ path }: RequestInfo): StatusError =>
  noSuchPath(adviceOnGroup(GROUP.exec(path)?.[1] ?? ''))
