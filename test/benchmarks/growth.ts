/** How each figure grows with the objects of the type, on the embedded store: CPU of the server, start, memory. */
import { rmSync } from 'node:fs'
import { Ends } from './ends.js'
import { call, gets, hangUp, pool } from './http1.js'
import { CONFIGS, key, object } from './objects.js'
import { cpu, launch, memory, settle } from './process.js'
import { UNBOUNDED } from './reads.js'
import { Collected } from './report.js'
import type { Scale } from './scale.js'
import { starts } from './start.js'
import { filled } from './stored.js'

export async function growth (scale: Scale): Promise<void> {
  const found = new Collected()
  for (const size of scale.sizes) {
    // A store of its own for each size, without what smaller sizes create while they are measured.
    const folder = await filled(size)
    const label = size.toLocaleString('en')
    for (const [work, unit, ours] of await figuresOf(scale, folder, size)) {
      found.add(`${work}, by the number of objects`, unit, label, { ours })
    }
    rmSync(folder, { recursive: true, force: true })
  }
  found.report()
}

type Measured = readonly [work: string, unit: string, ours: readonly number[]]

async function figuresOf (scale: Scale, folder: string, size: number): Promise<Measured[]> {
  const started = (await starts(scale, folder)).wall
  await using ends = new Ends()
  const server = await launch(UNBOUNDED, folder)
  ends.teardown(() => server.kill())
  await settle(server, scale.pause)
  const own = memory(server, 'RssAnon')
  const resident = memory(server)
  const measure = async (units: number, work: () => Promise<void>): Promise<number[]> => {
    const costs: number[] = []
    for (let round = 0; round <= scale.rounds; round++) {
      const before = cpu(server)
      await work()
      if (round > 0) costs.push((cpu(server) - before) * 1000 / units)
    }
    return costs
  }
  const got = await measure(scale.gets, () => gets(server.port, `${CONFIGS}/${key(size >> 1)}`, scale.gets, 64))
  const pages = async (query: string): Promise<number[]> => await measure(scale.lists, async () => {
    for (let at = 0; at < scale.lists; at++) await call(server.port, 'GET', `${CONFIGS}?limit=500${query}`)
  })
  const first = await pages('')
  const { body } = await call(server.port, 'GET', `${CONFIGS}?limit=${size >> 1}`)
  const next = /"continue":"([^"]+)"/.exec(body())?.[1]
  const middle = next === undefined ? [NaN] : await pages(`&continue=${next}`)
  let round = 0
  const creates = scale.writes / 5
  const created = await measure(creates, async () => {
    const names = `${size}-${round++}`
    await pool(creates, 64, async at => {
      await call(server.port, 'POST', '/api/v1/namespaces/orch-public/configmaps', object(`${names}-${at}`))
    })
  })
  hangUp(server.port)
  const unit = 'µs of CPU a request'
  return [
    ['GET', unit, got], ['first page of 500', unit, first], ['page of 500 from the middle', unit, middle],
    ['create', unit, created], ['start', 'ms', started], ['memory', 'MB of its own', [own]],
    ['memory, mapped files included', 'MB resident', [resident]]
  ]
}
