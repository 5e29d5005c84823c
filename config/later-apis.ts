/**
 * APIs that came after the emulated release and are served all the same: more stable versions of a beta API
 * (`--emulation-forward-compatible`), and those that `--runtime-config` names
 * (`--runtime-config-emulation-forward-compatible`).
 */
import type { Gates } from '../schemas/gates.js'
import { compareVersions, stageOf } from '../schemas/groups.js'
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
  const named = later.filter(one => settings.get(nameOf(one)) ??
    (settings.get(one.apiVersion) === true && isWholly(later, one.apiVersion)))
  const [first] = named
  if (first !== undefined && !values['runtime-config-emulation-forward-compatible']) {
    throw new FlagError(
      'runtime-config', given.get('runtime-config'),
      `${settings.has(nameOf(first)) ? nameOf(first) : first.apiVersion} came after release ${gates.release}; leave ` +
        'it out, or add --runtime-config-emulation-forward-compatible'
    )
  }
  const disabled = new Set(disabledApis(values['runtime-config'], given.get('runtime-config')))
  const isEnabled = (one: Representation): boolean => !disabled.has(one.apiVersion) && !disabled.has(nameOf(one))
  const stabler = values['emulation-forward-compatible']
    ? later.filter(one => representations.some(other => other.group === one.group && other.plural === one.plural &&
      stageOf(other.apiVersion) !== 'alpha' && compareVersions(one.group, one.version, other.version) < 0 &&
      isServed(other, gates) && isEnabled(other)))
    : []
  return [...new Set([...named, ...stabler].map(nameOf))]
}

/** Whether everything in a version is later. */
const isWholly = (later: readonly Representation[], apiVersion: string): boolean =>
  representations.every(one => one.apiVersion !== apiVersion || later.includes(one))
