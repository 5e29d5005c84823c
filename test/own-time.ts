/** The time of a process without the time in which its main thread waits for a core that others use. */
import { readFileSync } from 'node:fs'

/** Milliseconds in which the thread could run and did not; 0 if the system does not tell (any but Linux). */
function waited (thread: string): number {
  try {
    return Number(readFileSync(`/proc/${thread}/schedstat`, 'latin1').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

/**
 * Milliseconds of a clock that stops while this thread, or the other process, waits for a core; it runs while they are
 * blocked.
 */
export const ownTime = (other?: number): number =>
  performance.now() - waited('thread-self') - (other === undefined ? 0 : waited(`${other}/task/${other}`))
