/** What should be flat as objects grow from 1,000 to 100,000, on the embedded store: server CPU per request. */
import { call, gets, pool } from './http1.js'
import { cpu, launch, memory } from './process.js'
import { CONFIGS, key, object } from './objects.js'

const SIZES = [1_000, 10_000, 100_000]

export async function growth (): Promise<boolean> {
  const server = await launch(['--max-mutating-requests-inflight=0', '--max-requests-inflight=0'])
  const rows: string[][] = []
  let there = 0
  const measure = async (units: number, work: () => Promise<void>): Promise<number> => {
    const costs: number[] = []
    for (let round = 0; round < 4; round++) {
      const before = cpu(server)
      await work()
      if (round > 0) costs.push((cpu(server) - before) * 1000 / units)
    }
    return Math.min(...costs) // other programs on the machine only ever add
  }
  /** Until the collector has done with what the fill left. */
  const settle = async (): Promise<void> => {
    for (let before = -1; cpu(server) - before > 20;) {
      before = cpu(server)
      await new Promise(resolve => { setTimeout(resolve, 1000) })
    }
  }
  try {
    for (const size of SIZES) {
      await pool(size - there, 64, async at => { await call(server.port, 'POST', CONFIGS, object(key(there + at))) })
      there = size
      await settle()
      const got = await measure(20_000, () => gets(server.port, `${CONFIGS}/${key(size >> 1)}`, 20_000, 64))
      const { body } = await call(server.port, 'GET', `${CONFIGS}?limit=${size >> 1}`)
      const next = /"continue":"([^"]+)"/.exec(body())?.[1]
      const paged = await measure(50, async () => { for (let at = 0; at < 50; at++) await call(server.port, 'GET', `${CONFIGS}?limit=500`) })
      const deep = next === undefined ? NaN : await measure(50, async () => { for (let at = 0; at < 50; at++) await call(server.port, 'GET', `${CONFIGS}?limit=500&continue=${next}`) })
      let extra = 0
      const created = await measure(1000, async () => {
        const from = extra
        extra += 1000
        await pool(1000, 64, async at => { await call(server.port, 'POST', '/api/v1/namespaces/orch-public/configmaps', object(`${size}-${from + at}`)) })
      })
      rows.push([size.toLocaleString('en'), got.toFixed(1), paged.toFixed(0), deep.toFixed(0), created.toFixed(0), memory(server, 'RssAnon').toFixed(0)])
    }
  } finally {
    await server.stop()
  }
  console.log('\ngrowth, embedded: µs of server CPU\nobjects       GET   LIST page of 500   page from the middle   create   own MB')
  for (const [size = '', got = '', paged = '', deep = '', created = '', resident = ''] of rows) {
    console.log([size.padEnd(10), got.padStart(6), paged.padStart(18), deep.padStart(22), created.padStart(8), resident.padStart(8)].join(' '))
  }
  return true
}
