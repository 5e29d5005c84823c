/** Time as far as it is a process's own: what its main thread waits for a core, because others have them all, is left out. */
import { readFileSync } from 'node:fs'

/** Milliseconds in which the thread could have run and did not; 0 where the system does not tell (any but Linux). */
function waited (thread: string): number {
  try {
    return Number(readFileSync(`/proc/${thread}/schedstat`, 'latin1').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

/** Milliseconds by a clock that stands while others have the core of this thread, or of that other process; not while either is blocked. */
export const ownTime = (other?: number): number => performance.now() - waited('thread-self') - (other === undefined ? 0 : waited(`${other}/task/${other}`))
