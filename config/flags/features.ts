/** Flags for admission, feature gates and API versions. */
import { PUBLIC_EXAMPLES } from '../../schemas/public-names.js'
import { admissionProblem, NAMES_ON, NAMES_OFF } from '../admission-plugins.js'
import { emulatedRelease, readingRelease } from '../emulated-release.js'
import { flagProblem, GATE_LINES } from '../feature-gates.js'
import { bool, choice, int, list, pairs, path, until } from '../flag.js'

const boolean = (key: string, value: string): string | undefined =>
  /^(?:true|false)$/i.test(value) ? undefined : `${key} must be true or false`

export const features = {
  'enable-admission-plugins': list(
    [], `admission plugins to enable in addition to the default ones; off by default are ${NAMES_OFF}`, admissionProblem
  ),
  'disable-admission-plugins': list(
    [], `default admission plugins to disable; on by default are ${NAMES_ON}`, admissionProblem
  ),
  'admission-control-config-file': path('configuration file of admission plugins'),
  'emulated-version': emulatedRelease('release whose APIs, feature gates and defaults the server has'),
  'min-compatibility-version': readingRelease(
    'oldest release that has to read what the server stores, not above the emulated one; by default the one before it'
  ),
  'emulation-forward-compatible': bool(
    false, 'while an earlier release is emulated, serve more stable versions too that its beta APIs got later'
  ),
  'runtime-config-emulation-forward-compatible': bool(
    false, 'while an earlier release is emulated, let --runtime-config enable APIs that came later'
  ),
  'feature-gates':
    pairs('feature gates to enable or disable. A gate\'s own setting has precedence over AllAlpha and ' +
      `AllBeta:\n${GATE_LINES.join('\n')}`, {
      type: 'Name=true|false,...', check: flagProblem
    }),
  'runtime-config':
    pairs('API versions to enable or disable: GROUP/VERSION=true|false (v1 for the core group), api/all, api/ga, ' +
      'api/beta, api/alpha', {
      bareValue: 'true', check: boolean
    }),
  'compat-names': bool(
    false,
    'serve clients that use the public project\'s names of groups, labels, namespaces, media types and so on, such ' +
      `as ${PUBLIC_EXAMPLES}; unless --emulated-version says otherwise, release 1.36 is emulated`
  ),
  'enable-aggregator-routing': bool(
    false, 'call webhooks and aggregated API servers at endpoint IPs instead of the service IP'
  ),
  'endpoint-reconciler-type': choice(
    ['lease', 'master-count', 'none'], 'lease', 'endpoint reconciler of the orch service'
  ),
  'apiserver-count': int(1, 'number of API servers in the cluster, for the master-count reconciler', { min: 1 }),
  'identity-lease-duration-seconds': until('1.26', int(
    3600, 'duration of the identity lease of this server in seconds', { min: 1 }
  )),
  'identity-lease-renew-interval-seconds': until('1.26', int(
    10, 'interval between renewals of the identity lease in seconds', { min: 1 }
  ))
}
