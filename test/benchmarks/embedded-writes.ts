/**
 * Creates of 2 KiB by 64 concurrent writers on the embedded store, beside the bare `lmdb` package doing
 * compare-and-puts of the same values with the same durability in the same process. Medians of several
 * runs, taken in turns.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { open } from 'lmdb'
import { openBackend } from '../../storage/open.js'

const RUNS = 5
const WRITES = 20_000
const WRITERS = 64
const value = Buffer.alloc(2048, 'value')

export interface Rate {
  readonly perSecond: number
  /** Microseconds of CPU, all threads of this process, per write. */
  readonly cpu: number
}

async function measure (write: (key: string) => Promise<unknown>): Promise<Rate> {
  const cpu = process.cpuUsage()
  const began = performance.now()
  let next = 0
  await Promise.all(Array.from({ length: WRITERS }, async () => {
    while (next < WRITES) await write(`/registry/configmaps/default/benchmark-${String(next++).padStart(8, '0')}`)
  }))
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: WRITES / seconds, cpu: (user + system) / WRITES }
}

async function bare (directory: string): Promise<Rate> {
  const table = open<Uint8Array, string>({ path: path.join(directory, 'data.mdb'), noSubdir: true, encoding: 'binary', overlappingSync: false })
  const rate = await measure(async key => {
    const added = await table.ifNoExists(key, () => { table.put(key, value).catch(() => {}) })
    if (!added) throw new Error(`${key} was there`)
  })
  await table.close()
  return rate
}

async function embedded (directory: string): Promise<Rate> {
  const backend = await openBackend({ kind: 'embedded', directory })
  const rate = await measure(async key => {
    const result = await backend.create(key, value)
    if (!result.succeeded) throw new Error(`${key} was there`)
  })
  await backend.close()
  return rate
}

function median (numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN
}

/** Both rates and their ratio, printed. */
export async function run (): Promise<void> {
  const rates: { bare: Rate[], embedded: Rate[] } = { bare: [], embedded: [] }
  for (let i = 0; i < RUNS; i++) {
    for (const [name, take] of [['bare', bare], ['embedded', embedded]] as const) {
      const directory = await mkdtemp(path.join(tmpdir(), 'orch-benchmark-'))
      try {
        rates[name].push(await take(directory))
      } finally {
        await rm(directory, { recursive: true, force: true })
      }
    }
  }
  const of = (name: 'bare' | 'embedded') => ({ perSecond: median(rates[name].map(rate => rate.perSecond)), cpu: median(rates[name].map(rate => rate.cpu)) })
  const limit = of('bare')
  const ours = of('embedded')
  console.log(`create, ${WRITERS} writers, ${value.length} bytes, medians of ${RUNS} runs of ${WRITES}`)
  console.log(`  lmdb alone, durable compare-and-put  ${limit.perSecond.toFixed(0)}/s  ${limit.cpu.toFixed(1)} µs CPU`)
  console.log(`  embedded store                       ${ours.perSecond.toFixed(0)}/s  ${ours.cpu.toFixed(1)} µs CPU`)
  console.log(`  ratio of rates ${(ours.perSecond / limit.perSecond).toFixed(2)} (goal: at least 0.33)`)
}

if (process.argv[1] === import.meta.filename) await run()
