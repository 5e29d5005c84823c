/** Which parts of the API are there, and what is done to a change on its way in. */
import { admissionProblem } from '../admission-plugins.js'
import { gateProblem } from '../feature-gates.js'
import { bool, choice, int, list, pairs, path } from '../flag.js'

const boolean = (key: string, value: string): string | undefined =>
  /^(?:true|false)$/i.test(value) ? undefined : `${key} must be true or false`

export const features = {
  'enable-admission-plugins': list([], 'admission plugins that are on beside the default ones', admissionProblem),
  'disable-admission-plugins': list([], 'default admission plugins that are off', admissionProblem),
  'admission-control-config-file': path('file with the configuration of admission plugins'),
  'feature-gates': pairs('features that are on or off against their default', { type: 'Name=true|false,...', check: gateProblem }),
  'runtime-config': pairs('built-in API versions that are on or off: GROUP/VERSION=true|false (v1 for the core), api/all, api/ga, api/beta, api/alpha', { bareValue: 'true', check: boolean }),
  'enable-aggregator-routing': bool(false, 'send requests for extension servers to the addresses of endpoints, not to that of the service'),
  'endpoint-reconciler-type': choice(['lease', 'master-count', 'none'], 'lease', 'how this server keeps its address in the endpoints of the orch service'),
  'apiserver-count': int(1, 'number of servers, for the master-count reconciler', { min: 1 }),
  'identity-lease-duration-seconds': int(3600, 'seconds for which the lease of this server holds', { min: 1 }),
  'identity-lease-renew-interval-seconds': int(10, 'seconds between its renewals', { min: 1 })
}
