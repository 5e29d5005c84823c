/** Ten thousand dependents of one object are deleted while others are served. */
import t from 'tap'
import { openSync, closeSync, readSync } from 'node:fs'
import { slowness } from '../../bad-input/refusal.js'
import { collectingServer, owner, CONFIGS, until } from './server.js'

const DEPENDENTS = 10_000
const AT_ONCE = 100
/** On a machine of the reference's speed: milliseconds of CPU in one turn, and for all. */
const MAX_TURN_MS = 25
const MAX_MS = 30_000

/** Measures the CPU time of this thread in each event loop turn, until it is stopped. */
function turns (): { readonly stop: () => { longest: number, all: number } } {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const buffer = Buffer.alloc(64)
  const used = (): number => Number(buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0)).split(' ', 1)[0]) / 1e6
  const first = used()
  let [longest, before, running] = [0, first, true]
  const turn = (): void => {
    if (!running) return
    const now = used()
    longest = Math.max(longest, now - before)
    before = now
    setImmediate(turn)
  }
  setImmediate(turn)
  return {
    stop: () => {
      running = false
      const all = used() - first
      closeSync(file)
      return { longest, all }
    }
  }
}

t.test('ten thousand dependents are deleted in short turns', async t => {
  const server = await collectingServer(t)
  const top = await server.make('top')
  const owners = [owner(top, { blockOwnerDeletion: true })]
  for (let at = 0; at < DEPENDENTS; at += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => server.make(`child-${at + more}`, owners)))
  const measured = turns()
  await server.remove('top', 'Background')
  await until(async () => (await server.get(`${CONFIGS}?limit=2`)).json['items'].length === 0 && await server.config('top') === undefined)
  const { longest, all } = measured.stop()
  t.comment(`${longest.toFixed(1)} ms in the longest turn, ${all.toFixed(0)} ms in all`)
  const times = slowness()
  t.ok(longest < MAX_TURN_MS * times, `${longest.toFixed(1)} ms in the longest turn`)
  t.ok(all < MAX_MS * times, `${all.toFixed(0)} ms in all`)
})
