/** Feature gates that are not implemented. Changing one makes the start fail, so that none is silently ignored. */
import { changedGates } from './feature-gates.js'
import { FlagError } from './flag.js'
import type { Parsed } from './command-line.js'

/** Gates that can be set. */
const BUILT: ReadonlySet<string> = new Set(['APIServerIdentity', 'APIPriorityAndFairness', 'APIServerTracing'])

/** @throws FlagError naming the first unimplemented gate */
export function refuseUnbuilt ({ values, given }: Parsed): void {
  const gates = new Map([...values['feature-gates']].filter(([name]) => !BUILT.has(name)))
  const [changed] = changedGates(gates)
  if (changed !== undefined) throw new FlagError('feature-gates', given.get('feature-gates'), `${changed} is not supported by this version yet; leave it out`)
}
