/** `--serving-processes`: its values. */
import { availableParallelism } from 'node:os'

const MAX_PROCESSES = 64
const AUTOMATIC = 'auto'

/** The number of serving processes; `auto` leaves one core for the store and everything else. */
export const servingProcesses = (
  { 'serving-processes': given }: { readonly 'serving-processes': string }, cores = availableParallelism()
): number =>
  given === AUTOMATIC ? Math.min(MAX_PROCESSES, Math.max(1, cores - 1)) : Number(given)

export const processesProblem = (value: string): string | undefined =>
  value === AUTOMATIC || (/^[1-9]\d?$/.test(value) && Number(value) <= MAX_PROCESSES)
    ? undefined
    : `must be ${AUTOMATIC} or a number from 1 to ${MAX_PROCESSES}`
