/** Commands that copy a whole store, in processes of their own: CPU of all their threads, and elapsed time. */
import { spawnSync } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EtcdProcess, startEtcd } from '../etcd-process.js'
import { launch } from './process.js'
import { report } from './report.js'
import type { Scale } from './scale.js'
import { filled } from './stored.js'

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const BARE = fileURLToPath(new URL('bare-copy.js', import.meta.url))

/** etcd keeps everything that was restored until it is compacted. */
const MAX_ROUNDS = 3

interface Used { readonly cpu: number, readonly wall: number }

/** Milliseconds, measured by the shell. */
function used (program: string, ...args: string[]): Used {
  const { status, stdout, stderr } = spawnSync(
    'bash', ['-c', 'TIMEFORMAT="%U %S %R"; time "$@" 2>&1', '-', process.execPath, program, ...args],
    { encoding: 'utf8' }
  )
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`)
  const [user = NaN, system = NaN, wall = NaN] = stderr.trim().split(' ').map(Number)
  return { cpu: (user + system) * 1000, wall: wall * 1000 }
}

interface Case {
  readonly work: string
  readonly run: () => Used
  /** The cheapest program that does the same; limits the CPU of ours. */
  readonly bare?: () => Used
  readonly most?: number
  /** Maximum elapsed milliseconds. */
  readonly bound?: number
}

export async function backup (scale: Scale): Promise<void> {
  const count = scale.sizes.at(-1) ?? 0
  const folder = await filled(count)
  const server = await launch([], folder)
  const ended: Array<() => unknown> = [() => server.kill()]
  try {
    const etcd = await startEtcd({ teardown: callback => { ended.push(callback) } })
    for (const { work, run, bare, most, bound } of cases(folder, etcd, count)) {
      const [ours, limits]: [Used[], Used[]] = [[], []]
      // The first of several fills the caches of the disk.
      for (let round = scale.starts > 1 ? 0 : 1; round <= Math.min(scale.starts, MAX_ROUNDS); round++) {
        const [own, limit] = [run(), bare?.()]
        if (round === 0) continue
        ours.push(own)
        if (limit !== undefined) limits.push(limit)
      }
      const cpu = ours.map(each => each.cpu)
      report({
        work,
        unit: 'ms of CPU',
        ours: cpu,
        ...(limits.length === 0 ? {} : { limit: limits.map(each => each.cpu) }),
        ...(most === undefined ? {} : { most })
      })
      report({
        work: `${work}, on the clock`,
        unit: 'ms',
        ours: ours.map(each => each.wall),
        ...(limits.length === 0 ? {} : { limit: limits.map(each => each.wall) }),
        ...(bound === undefined ? {} : { bound })
      })
    }
    report({ work: 'size of the snapshot', unit: 'MB', ours: [statSync(join(folder, 'one')).size / 1e6] })
  } finally {
    for (const end of ended) await end()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** In order: each uses what earlier ones created. */
function cases (folder: string, etcd: EtcdProcess, count: number): Case[] {
  const at = (name: string): string => join(folder, name)
  const without = (name: string): void => {
    for (const each of [at(name), `${at(name)}-lock`]) rmSync(each, { recursive: true, force: true })
  }
  const objects = `${count.toLocaleString('en')} objects`
  const command = (...args: string[]) => (): Used => used(CLI, ...args)
  const copy = (): Used => used(BARE, 'copy', at('one'), at('copy'))
  let prefixes = 0
  return [
    {
      work: `snapshot of ${objects}, embedded, beside its server`,
      run: command('snapshot', at('one'), `--data-dir=${at('data')}`, '--force'),
      bare: copy,
      most: 4,
      bound: 5_000
    },
    {
      work: `restore of ${objects}, embedded`,
      run: () => { without('restored'); return used(CLI, 'restore', at('one'), `--data-dir=${at('restored')}`) },
      bare: () => { without('bare'); return used(BARE, 'store', at('one'), at('bare')) },
      most: 2,
      bound: 10_000
    },
    { work: `compact of ${objects}, embedded`, run: command('compact', `--data-dir=${at('restored')}`), bound: 15_000 },
    { work: `restore of ${objects}, etcd`, run: () => restoredInto(etcd, at('one'), prefixes++), bound: 60_000 },
    {
      work: `snapshot of ${objects}, etcd`,
      run: command('snapshot', at('two'), `--etcd-servers=${etcd.url}`, '--force'),
      bare: copy,
      most: 6,
      bound: 15_000
    },
    {
      work: `migration of ${objects} from etcd`,
      run: () => { without('migrated'); return used(CLI, 'migrate', `--from=${etcd.url}`, `--to=${at('migrated')}`) },
      bound: 20_000
    }
  ]
}

/** Restores into an etcd, after deleting what the previous round restored. */
function restoredInto (etcd: EtcdProcess, file: string, round: number): Used {
  if (round > 0) used(fileURLToPath(new URL('empty-etcd.js', import.meta.url)), etcd.url)
  return used(CLI, 'restore', file, `--etcd-servers=${etcd.url}`)
}
