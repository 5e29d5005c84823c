/** Advice for clients that ask for a group of this server by the name that Kubernetes has for it. */
import { API_VERSIONS } from './resources.js'

const UPSTREAM = /^(.+)\.k8s\.io$/

/** Empty for a group that is not served under another name. */
export function adviceOnGroup (group: string): string {
  const name = UPSTREAM.exec(group)?.[1]
  return name !== undefined && API_VERSIONS.some(apiVersion => apiVersion.startsWith(`${name}.orch.io/`))
    ? `the API group ${group} is named ${name}.orch.io here; start the server with --compat-names to serve it under ` +
      'both names'
    : ''
}
