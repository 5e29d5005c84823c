/** How each figure grows with the objects of the type, on the embedded store: CPU of the server, start, memory. */
import { rmSync } from 'node:fs'
import { Ends } from './ends.js'
import { call, gets, hangUp, pool } from './http1.js'
import { CONFIGS, key, object } from './objects.js'
import { cpu, launch, memory, settle } from './process.js'
import { UNBOUNDED } from './reads.js'
import { figure, median, out, table } from './report.js'
import type { Scale } from './scale.js'
import { starts } from './start.js'
import { filled } from './stored.js'

export async function growth (scale: Scale): Promise<void> {
  const rows: string[][] = []
  for (const size of scale.sizes) {
    // A store of its own for each size, without what smaller sizes create while they are measured.
    const folder = await filled(size)
    rows.push([size.toLocaleString('en'), ...(await figuresOf(scale, folder, size)).map(figure)])
    rmSync(folder, { recursive: true, force: true })
  }
  out.print(table(
    [
      'Objects', 'GET, µs', 'page of 500, µs', 'page from the middle, µs', 'create, µs', 'start, ms', 'own memory, MB',
      'resident, MB'
    ],
    rows
  ))
}

async function figuresOf (scale: Scale, folder: string, size: number): Promise<number[]> {
  const started = median((await starts(scale, folder)).wall)
  await using ends = new Ends()
  const server = await launch(UNBOUNDED, folder)
  ends.teardown(() => server.kill())
  await settle(server, scale.pause)
  const own = memory(server, 'RssAnon')
  const resident = memory(server)
  const measure = async (units: number, work: () => Promise<void>): Promise<number> => {
    const costs: number[] = []
    for (let round = 0; round <= scale.rounds; round++) {
      const before = cpu(server)
      await work()
      if (round > 0) costs.push((cpu(server) - before) * 1000 / units)
    }
    return median(costs)
  }
  const got = await measure(scale.gets, () => gets(server.port, `${CONFIGS}/${key(size >> 1)}`, scale.gets, 64))
  const pages = async (query: string): Promise<number> => await measure(scale.lists, async () => {
    for (let at = 0; at < scale.lists; at++) await call(server.port, 'GET', `${CONFIGS}?limit=500${query}`)
  })
  const first = await pages('')
  const { body } = await call(server.port, 'GET', `${CONFIGS}?limit=${size >> 1}`)
  const next = /"continue":"([^"]+)"/.exec(body())?.[1]
  const middle = next === undefined ? NaN : await pages(`&continue=${next}`)
  let round = 0
  const creates = scale.writes / 5
  const created = await measure(creates, async () => {
    const names = `${size}-${round++}`
    await pool(creates, 64, async at => {
      await call(server.port, 'POST', '/api/v1/namespaces/orch-public/configmaps', object(`${names}-${at}`))
    })
  })
  hangUp(server.port)
  return [got, first, middle, created, started, own, resident]
}
