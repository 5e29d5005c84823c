/** 404 for paths below `/apis`, with a hint for clients that use the names of Kubernetes. */
import type { RequestInfo } from '../auth/request-info.js'
import { API_VERSIONS } from '../schemas/resources.js'
import { noSuchPath, type StatusError } from '../schemas/status.js'

const UPSTREAM_GROUP = /^\/apis\/([^/]+)\.k8s\.io(?:\/|$)/

export function unknownPath ({ path }: RequestInfo): StatusError {
  const name = UPSTREAM_GROUP.exec(path)?.[1]
  const isServed = name !== undefined && API_VERSIONS.some(apiVersion => apiVersion.startsWith(`${name}.orch.io/`))
  return noSuchPath(isServed ? `the API group ${name}.k8s.io is named ${name}.orch.io here` : '')
}
