/** Features of the interface that are not implemented. A flag that asks for one makes the start fail, so that none is silently ignored. */
import { gateSettings, unsupportedGate } from './feature-gates.js'
import { FlagError } from './flag.js'
import { FLAGS, type FlagName } from './flags/index.js'
import type { Parsed } from './command-line.js'

/** Unimplemented flags. Each accepts its default and the listed values, which request nothing or the existing behaviour. */
const UNBUILT: Partial<Record<FlagName, readonly unknown[]>> = {
  // storage
  'encryption-provider-config': [],
  // cluster
  'cloud-provider': [],
  'cloud-config': [],
  'cloud-provider-gce-l7lb-src-cidrs': [],
  'azure-container-registry-config': [],
  'egress-selector-config-file': []
}

/** Unimplemented values of other flags. */
const UNBUILT_VALUES: Partial<Record<FlagName, ReadonlyArray<string | number>>> = {
  'storage-media-type': ['application/yaml']
}

/** @throws FlagError naming the first unimplemented flag */
export function refuseUnbuilt ({ values, given }: Parsed): void {
  for (const [name, text] of given) {
    const accepted = UNBUILT[name]
    if (accepted !== undefined && ![FLAGS[name].default, ...accepted].some(value => same(value, values[name]))) {
      throw new FlagError(name, text, 'is not supported by this version yet; leave it out')
    }
    const value = values[name]
    const missing = UNBUILT_VALUES[name]?.find(one => Array.isArray(value) ? value.includes(one) : value === one)
    if (missing !== undefined) throw new FlagError(name, text, `${missing} is not supported by this version yet; leave it out`)
  }
  const gate = unsupportedGate(gateSettings(values['feature-gates']))
  if (gate !== undefined) throw new FlagError('feature-gates', given.get('feature-gates'), gate)
}

const same = (left: unknown, right: unknown): boolean => comparable(left) === comparable(right)
const comparable = (value: unknown): string => JSON.stringify(value instanceof Map ? [...value] : value)
