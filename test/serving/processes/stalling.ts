/** A process whose event loop stalls as it is told, and then says so. */
import { StallWatch } from '../../../serving/processes/stall-watch.js'
import { workFor } from '../../../event-loop/worked-for.js'

const watch = new StallWatch(500)
process.on('message', ({ verb, milliseconds }: { verb: string, milliseconds: number }) => {
  if (verb !== '') workFor(watch.numberOf({ user: 'ann', verb, what: 'configmaps', namespace: 'team' }))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds) // takes no CPU meanwhile
  process.send?.('done')
})
process.on('disconnect', () => { process.exit() })
