/** The settings of --feature-gates. */
import { GATES, GATE_GROUPS, gatesOf, unmetNeed, type Gate } from '../schemas/gates.js'
import { RELEASE_NAME, type Release } from '../schemas/meta/release.js'
import { printable } from './flag.js'
import { didYouMean } from './suggestions.js'

const isOn = (value: string): boolean => /^(?:true|t|1)$/i.test(value)

/** Describes an invalid setting: an unknown gate, an invalid value, or a disabled GA gate. */
export function gateProblem (name: string, value: string): string | undefined {
  if (!/^(?:true|false|t|f|1|0)$/i.test(value)) return `${printable(name)} must be true or false`
  const gate = GATES.get(name)
  if (gate === undefined) {
    return GATE_GROUPS.has(name)
      ? undefined
      : `"${printable(name)}" is not a feature gate of release ${RELEASE_NAME}; leave it ` +
        `out${didYouMean(name, [...GATES.keys(), ...GATE_GROUPS.keys()])}`
  }
  return gate.stage === 'GA' && !isOn(value) ? LOCKED(name) : undefined
}

const LOCKED = (name: string): string => `cannot set ${name} to false, it is GA and locked to true; leave it out`

/**
 * Describes settings that the emulated release does not allow: a gate is off although the release has it for good, or
 * on without one that it needs.
 */
export function settingsProblem (settings: Readonly<Record<string, boolean>>, release: Release): string | undefined {
  const gates = gatesOf(release)
  const off = Object.keys(settings).find(name => settings[name] === false && gates.get(name)?.stage === 'GA')
  if (off !== undefined) return `${LOCKED(off)}, or emulate release ${RELEASE_NAME}`
  const [name, missing] = unmetNeed(settings, release) ?? []
  return name && `${name} needs ${missing}: switch both on, or both off`
}

/** Warnings about GA and deprecated gates, and about a stage of which this server does not have every gate. */
export function gateWarnings (settings: ReadonlyMap<string, string>, release: Release): string[] {
  const gates = gatesOf(release)
  return [...settings].flatMap(([name, value]) => {
    if (GATE_GROUPS.has(name) && isOn(value) && release !== RELEASE_NAME) {
      return [`--feature-gates=${name}: gates of release ${release} that this server does not have stay off`]
    }
    const stage = gates.get(name)?.stage
    if (stage === 'GA') return [`--feature-gates=${name}: the gate is GA and non-operational, it will be removed`]
    return stage === 'Deprecated' ? [`--feature-gates=${name}: the gate is deprecated, it will be removed`] : []
  })
}

/** Converts --feature-gates to the server option. */
export const gateSettings = (settings: ReadonlyMap<string, string>): Record<string, boolean> =>
  Object.fromEntries([...settings].map(([name, value]) => [name, isOn(value)]))

const described = (name: string, { stage, default: initial }: Gate): string =>
  `${name}=true|false (${stage.toUpperCase()} - default=${initial})`

/** A line for each gate, in order. */
export const GATE_LINES: readonly string[] = [
  ...[...GATE_GROUPS].map(([name, stage]) => described(name, { stage, default: false })),
  ...[...GATES].map(([name, gate]) => described(name, gate))
].sort()
