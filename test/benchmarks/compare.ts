/** Alternates rounds of several parties, so that other load on the machine affects all of them alike. */
import { cpu, type Child } from './process.js'

/** The number of the first round: 0 is not counted. */
export const firstRound = (rounds: number): number => rounds > 1 ? 0 : 1

/**
 * The results of `measure` for each party, by round; the first round warms up and is not counted, unless there is one
 * alone, whose figures mean nothing. Every other round has the reverse order, so that no party profits from its
 * position.
 */
export async function inTurns<Party, Value = number> (
  parties: readonly Party[], rounds: number, measure: (party: Party) => Promise<Value>
): Promise<Map<Party, Value[]>> {
  const found = new Map(parties.map(party => [party, [] as Value[]]))
  for (let round = firstRound(rounds); round <= rounds; round++) {
    for (const party of round % 2 === 0 ? parties : parties.toReversed()) {
      const value = await measure(party)
      if (round > 0) found.get(party)?.push(value)
    }
  }
  return found
}

/** Microseconds of CPU per unit, for each server. */
export async function cpuInTurns<Party extends Child> (
  parties: readonly Party[], rounds: number, units: number, work: (party: Party) => Promise<void>
): Promise<Map<Party, number[]>> {
  return await inTurns(parties, rounds, async party => {
    const before = cpu(party)
    await work(party)
    return (cpu(party) - before) * 1000 / units
  })
}
