/** Advice for clients that ask for a group of this server by the name that Kubernetes has for it. */
import { ownGroupFor } from './public-names.js'
import { API_VERSIONS } from './resources.js'

/** The name here of a group that Kubernetes names otherwise. */
export function ownGroupOf (group: string): string | undefined {
  const own = ownGroupFor(group)
  return API_VERSIONS.some(apiVersion => apiVersion.startsWith(`${own}/`)) ? own : undefined
}

/** Empty for a group that is not served under another name. */
export function adviceOnGroup (group: string): string {
  const own = ownGroupOf(group)
  return own === undefined
    ? ''
    : `the API group ${group} is named ${own} here; start the server with --compat-names to serve it under both names`
}
