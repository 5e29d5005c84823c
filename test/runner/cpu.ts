/** CPU of processes. */
import { readFileSync } from 'node:fs'

/** Clock ticks per second in /proc. */
const TICKS = 100

/** Seconds of CPU of this process's children that have ended; 0 if the system does not say. */
export function cpuOfChildren (): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [] // from the third on
    return (Number(fields[13]) + Number(fields[14])) / TICKS // cutime and cstime
  } catch {
    return 0
  }
}

/** Of this process, too. */
export const cpuSpent = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 1e6 + cpuOfChildren()
