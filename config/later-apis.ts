/**
 * APIs that came after the emulated release and are served all the same: more stable versions of a beta API
 * (`--emulation-forward-compatible`), and those that `--runtime-config` names
 * (`--runtime-config-emulation-forward-compatible`). What went with a release cannot be named.
 */
import type { Gates } from '../schemas/gates.js'
import { compareVersions, stageOf } from '../schemas/groups.js'
import { SINCE } from '../schemas/meta/release.js'
import { isServed, type Representation } from '../schemas/resource.js'
import { representations } from '../schemas/resources.js'
import type { Parsed } from './command-line.js'
import { FlagError } from './flag.js'
import { gatesOf } from './gates-of.js'
import { disabledApis, isOn, keyOf } from './runtime-config.js'

const nameOf = ({ apiVersion, plural }: Representation): string => `${apiVersion}/${plural}`

/** Whether an API came after the emulated release; the gate of another one is only off. */
const isLater = ({ gate }: Representation, { enabled, knows }: Gates): boolean =>
  gate !== undefined && !enabled(gate) && !knows(gate)

/** @throws FlagError for one that is named, without the flag that allows that */
export function laterApis ({ values, given }: Parsed): string[] {
  const gates = gatesOf(values)
  const later = representations.filter(representation => isLater(representation, gates))
  const settings = new Map([...values['runtime-config']].map(([key, value]) => [keyOf(key), isOn(value)]))
  const named = later.filter(representation => settings.get(nameOf(representation)) ??
    (settings.get(representation.apiVersion) === true && isWholly(later, representation.apiVersion)))
  const [first] = named
  if (first !== undefined && !values['runtime-config-emulation-forward-compatible']) {
    throw new FlagError(
      'runtime-config', given.get('runtime-config'),
      `${settings.has(nameOf(first)) ? nameOf(first) : first.apiVersion} came after release ${gates.release}; leave ` +
        'it out, or add --runtime-config-emulation-forward-compatible'
    )
  }
  refuseGone(settings, gates, given.get('runtime-config'))
  const disabled = new Set(disabledApis(values['runtime-config'], given.get('runtime-config')))
  const isEnabled = (representation: Representation): boolean =>
    !disabled.has(representation.apiVersion) && !disabled.has(nameOf(representation))
  const stabler = values['emulation-forward-compatible']
    ? later.filter(({ group, plural, version }) => representations.some(other => other.group === group &&
      other.plural === plural && stageOf(other.apiVersion) !== 'alpha' &&
      compareVersions(group, version, other.version) < 0 &&
      isServed(other, gates) && isEnabled(other)))
    : []
  return [...new Set([...named, ...stabler].map(nameOf))]
}

/** @throws FlagError for one that the emulated release no longer has, unless it is switched off */
function refuseGone (settings: ReadonlyMap<string, boolean>, gates: Gates, text: string | undefined): void {
  const gone = representations.filter(({ deprecation: { removed } = {} }) =>
    removed !== undefined && SINCE.includes(removed) && gates.enabled(removed))
  for (const representation of gone) {
    const name = [nameOf(representation), representation.apiVersion].find(key => settings.get(key) === true)
    if (name === undefined || (name === representation.apiVersion && !isWholly(gone, name))) continue
    const release = representation.deprecation?.removed ?? ''
    throw new FlagError('runtime-config', text, `${name} went with release ${release}; leave it out`)
  }
}

/** Whether everything in a version is among those. */
const isWholly = (those: readonly Representation[], apiVersion: string): boolean =>
  representations.every(representation => representation.apiVersion !== apiVersion || those.includes(representation))
