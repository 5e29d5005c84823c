/** Start to the first 200 of /readyz, and resident memory, on an empty embedded store. */
import { launch, memory } from './process.js'
import { report } from './report.js'

export async function start (): Promise<void> {
  const times: number[] = []
  const sizes: number[] = []
  for (let round = 0; round < 7; round++) {
    const server = await launch()
    times.push(server.startMs)
    await new Promise(resolve => { setTimeout(resolve, 1500) })
    sizes.push(memory(server))
    await server.stop()
  }
  report({ work: 'process start to first 200 from /readyz, embedded, empty', unit: 'ms', ours: times, bound: 450 })
  report({ work: 'resident memory, idle', unit: 'MB', ours: sizes, bound: 110 })
}
