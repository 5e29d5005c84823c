/** The settings of --feature-gates. */
import { ABSENT, GATES, GATE_GROUPS, gatesOf, unmetNeed, type Gate } from '../schemas/gates.js'
import { GATES_CAME, GATES_WENT, hasStayed } from '../schemas/gates-1.36.js'
import { RELEASE_NAME, RELEASES, type Release } from '../schemas/meta/release.js'
import { COMPONENTS } from './emulated-release.js'
import { printable } from './flag.js'
import { didYouMean } from './suggestions.js'

/** Gates of any release, and names of stages. */
const NAMES: ReadonlySet<string> = new Set([
  ...GATE_GROUPS.keys(), ...GATES_WENT.keys(), ...RELEASES.flatMap(release => [...gatesOf(release).keys()])
])

const isOn = (value: string): boolean => /^(?:true|t|1)$/i.test(value)

/** The component in `orch:WatchList`, if there is one, and the gate. */
function parts (key: string): [component: string | undefined, gate: string] {
  const component = COMPONENTS.find(name => key.startsWith(`${name}:`))
  return [component, component === undefined ? key : key.slice(component.length + 1)]
}

/** Describes an item of the flag, `Gate=bool` or `orch:Gate=bool`. */
export const flagProblem = (key: string, value: string): string | undefined => gateProblem(parts(key)[1], value)

/** Which of two settings counts is open where one names this server and the other does not. */
export function mixedForms (settings: ReadonlyMap<string, string>): string | undefined {
  const named = [...settings.keys()].find(key => parts(key)[0] !== undefined)
  const bare = [...settings.keys()].find(key => parts(key)[0] === undefined)
  return named !== undefined && bare !== undefined
    ? `${named} names its component and ${bare} does not; write all gates in one of the two forms`
    : undefined
}

/** Describes a setting that no release allows: a gate that none has, or an invalid value. */
export function gateProblem (name: string, value: string): string | undefined {
  if (!/^(?:true|false|t|f|1|0)$/i.test(value)) return `${printable(name)} must be true or false`
  return NAMES.has(name) ? undefined : unknownGate(name, RELEASES.join(' or '))
}

const unknownGate = (name: string, release: string): string =>
  `"${printable(name)}" is not a feature gate of release ${release}; leave it out${didYouMean(name, [...NAMES])}`

/**
 * Describes settings that the emulated release does not allow: it does not have a gate, or has it for good, or one is
 * on without another that it needs.
 */
export function settingsProblem (settings: Readonly<Record<string, boolean>>, release: Release): string | undefined {
  const gates = gatesOf(release)
  for (const [name, value] of Object.entries(settings)) {
    if (GATE_GROUPS.has(name)) continue
    const gate = gates.get(name)
    if (gate === undefined) return absence(name, release)
    if (gate.locked === true && value !== gate.default) {
      return `cannot set ${name} to ${value}, it is ${stageName(gate)} and locked to ${gate.default}; leave it out` +
        (release === RELEASE_NAME || !GATES.has(name) ? '' : `, or emulate release ${RELEASE_NAME}`)
    }
  }
  const [name, missing] = unmetNeed(settings, release) ?? []
  return name && `${name} needs ${missing}: switch both on, or both off`
}

function absence (name: string, release: Release): string {
  const [came, went] = [GATES_CAME.get(name), GATES_WENT.get(name)]
  if (release === RELEASE_NAME && came !== undefined) {
    return `${name} came with release ${came}; leave it out` +
      (went === undefined ? ', or emulate release 1.36' : ` (it went with release ${went})`)
  }
  return went === undefined
    ? unknownGate(name, release)
    : `${name} went with release ${went}; leave it out, what it brought is ${hasStayed(name) ? 'always on' : 'gone'}`
}

const stageName = ({ stage }: Gate): string => stage === 'GA' ? stage : stage.toLowerCase()

/** Warnings about gates that are on for good or soon gone, and about what this server does not have. */
export function gateWarnings (settings: ReadonlyMap<string, string>, release: Release): string[] {
  const gates = gatesOf(release)
  return [...settings].flatMap(([key, value]) => {
    const [, name] = parts(key)
    const warning = (text: string): string[] => [`--feature-gates=${key}: ${text}`]
    if (GATE_GROUPS.has(name) && isOn(value) && release !== RELEASE_NAME) {
      return warning(`gates of release ${release} that this server does not have stay off`)
    }
    if (ABSENT.has(name) && isOn(value)) {
      return warning('this server does not have what the gate brings; nothing changes')
    }
    const stage = gates.get(name)?.stage
    if (stage === 'GA') return warning('the gate is GA and non-operational, it will be removed')
    return stage === 'Deprecated' ? warning('the gate is deprecated, it will be removed') : []
  })
}

/** Converts --feature-gates to the server option. */
export const gateSettings = (settings: ReadonlyMap<string, string>): Record<string, boolean> =>
  Object.fromEntries([...settings].map(([key, value]) => [parts(key)[1], isOn(value)]))

const described = (name: string, { stage, default: initial }: Gate): string =>
  `${name}=true|false (${stage.toUpperCase()} - default=${initial})`

const lines = (gates: ReadonlyMap<string, Gate>): string[] =>
  [...gates].map(([name, gate]) => described(name, gate)).sort()

/** A line for each gate, in order, and those that another release has otherwise. */
export const GATE_LINES: readonly string[] = [
  ...lines(new Map([
    ...[...GATE_GROUPS].map(([name, stage]): [string, Gate] => [name, { stage, default: false }]), ...GATES
  ])),
  ...RELEASES.slice(1).flatMap(release => [
    `With --emulated-version=${release}:`,
    ...lines(new Map([...gatesOf(release)].filter(([name, { stage, default: initial }]) =>
      GATES.get(name)?.stage !== stage || GATES.get(name)?.default !== initial)))
  ])
]
