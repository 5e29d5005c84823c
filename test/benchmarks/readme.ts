/**
 * `npm run bench -- readme`: the tables of README and the reader's table of docs/performance.md, each cell measured in
 * this run but for those of kube-apiserver 1.36, which was measured on another machine. What the same bare servers took
 * there says how fast it was. `BENCH_NODE=/one,/another` gives each Node a column.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { program } from './process.js'
import { figure, table, type Figure, type Line } from './report.js'

/** The parts that measure them. */
export const SOURCES = ['forms', 'production', 'start', 'idle', 'reads', 'lists', 'watch', 'structured'] as const

interface Shown {
  readonly what: string
  /** How the line begins that measures it, and which figure of the line it is. */
  readonly work: string
  readonly label?: string
  /** The line of the same work when it is done for the first time. */
  readonly first?: string
  /** What is measured beside it is a bare server; in the run of kube-apiserver that took so many of the unit. */
  readonly bare?: number | 'not measured'
}

const pods = (what: string, form: string, label: string): Shown => ({
  what, work: `LIST pods, ${form}, public names`, label, first: `first LIST of pods, ${form}, public names`
})
const user = (what: string, work: string): Shown => ({ what, work: `${work}, etcd`, label: 'later' })

/** As an ordinary user of a server with all checks. */
const USER: readonly Shown[] = [
  pods('LIST of 4,000 pods, protobuf', 'protobuf', '4,000'),
  pods('the same as JSON', 'JSON', '4,000'),
  pods('1,500 pods as a Table, for `kubectl get`', 'Table', '1,500'),
  pods('metadata of 1,500 pods', 'metadata', '1,500'),
  { what: 'GET of a pod, protobuf', work: 'GET a pod, protobuf, public names', label: '4,000' },
  { what: 'the 80 pods of a node, protobuf', work: 'pods of one node, protobuf, public names', label: '4,000' },
  user('create a ConfigMap over etcd', 'create ConfigMap, 2 KB'),
  user('create a pod', 'create Pod, 8 KB'),
  user('status of a pod', 'status of a Pod, 8 KB'),
  user('renew a Lease', 'renew Lease'),
  user('create an Event', 'create Event'),
  user('get a ConfigMap', 'get ConfigMap'),
  user('get, answered 403', 'get, forbidden')
]

/** As a master without checks. */
const MASTER: readonly [Shown, ...Shown[]] = [
  { what: 'GET of an object over etcd', work: 'GET, 64 connections, HTTP/1.1, etcd', bare: 58 },
  { what: 'LIST of 5,000 objects', work: 'LIST 5,000 objects', bare: 10.9 },
  {
    what: 'an event to one of 1,000 watches', work: 'one event at a time to 1,000 watchers, HTTP/1.1', bare: 31
  },
  { what: 'the same, of a burst of 200', work: 'burst of 200 events to 1,000 watchers, HTTP/1.1', bare: 10 },
  {
    what: 'create over etcd, the first 5,000 of a process',
    work: 'create, the first 5,000 of a process, ClusterRoleBindings, etcd',
    bare: 'not measured'
  },
  {
    what: 'update over etcd, warm', work: 'update, warm, ClusterRoleBindings, etcd', bare: 'not measured'
  },
  { what: 'start to ready, empty', work: 'start to /readyz, empty', label: '1.24', bare: 'not measured' },
  { what: 'the same under 1.36', work: 'start to /readyz, empty', label: '1.36', bare: 'not measured' },
  { what: 'memory, idle for half a minute', work: 'memory, idle for half a minute', label: '1.24' },
  { what: 'memory, idle under 1.36', work: 'memory, idle for half a minute', label: '1.36' }
]

function lineOf (lines: readonly Line[], start: string): Line {
  const found = lines.find(({ work }) => work.startsWith(start))
  if (found === undefined) throw new Error(`nothing measured ${start}`)
  return found
}

function figureOf (lines: readonly Line[], { work, label = '' }: Shown, start = work): Figure {
  const found = lineOf(lines, start).figures.find(one => one.label === label)
  if (found === undefined) throw new Error(`nothing measured ${start} of ${label}`)
  return found
}

/** The lines of a run with one Node. */
export interface Run {
  /** Such as v26.12.1. */
  readonly node: string
  readonly lines: readonly Line[]
}

type Runs = readonly [Run, ...Run[]]

function cellsOf (runs: Runs, row: Shown): {
  readonly unit: string
  readonly bare: string
  readonly peer: string
  readonly ours: readonly string[]
  readonly goal: string
  readonly kept: string
} {
  const [{ lines }] = runs
  const figures = runs.map(run => figureOf(run.lines, row))
  const [{ limit, peer }] = figures as [Figure]
  // What is beside other rows is not in this table.
  const [goals, ...others] = figures.map(({ goals }) =>
    goals.filter(({ about }) => about !== 'limit' || row.bare !== undefined))
  const missed = others.flatMap((of, at) =>
    of.every(({ isKept }) => isKept) ? [] : [runs[at + 1]?.node.split('.')[0]?.slice(1) ?? ''])
  const kept = !goals?.every(({ isKept }) => isKept)
    ? 'missed'
    : `kept${missed.length > 0 ? `; missed on ${missed.join()}` : ''}`
  return {
    unit: lineOf(lines, row.work).unit,
    bare: row.bare === undefined || limit === undefined ? '' : figure(limit),
    peer: peer === undefined
      ? ''
      : `${figure(peer)}${typeof row.bare === 'number' ? ` (bare ${figure(row.bare)})` : ''}`,
    ours: figures.map(({ ours }, at) => {
      const first = row.first === undefined
        ? ''
        : ` (first ${figure(figureOf(runs[at]?.lines ?? [], row, row.first).ours)})`
      return `${figure(ours)}${first}`
    }),
    goal: goals?.map(({ text }) => text).join(', ') ?? '',
    kept: goals?.length === 0 ? '' : kept
  }
}

/** The reader's table of docs/performance.md, in Markdown. */
export function readerTable (runs: Runs): string {
  const nodes = runs.map(({ node }) => `Ours, Node ${node.slice(1).split('.')[0]}`)
  return table(
    ['Work', 'Unit', 'Bare', 'kube-apiserver 1.36', ...nodes, 'Goal', 'Kept'],
    [...USER, ...MASTER].map(row => {
      const { unit, bare, peer, ours, goal, kept } = cellsOf(runs, row)
      return [row.what, unit, bare, peer, ...ours, goal, kept]
    })
  )
}

/** Both tables of README, in Markdown. */
export function readmeTables (runs: Runs): string {
  return [USER, MASTER].map(rows =>
    table(['', 'Unit', 'orch-apiserver', 'kube-apiserver 1.36'], rows.map(row => {
      const { unit, ours: [ours = ''], peer } = cellsOf(runs, row)
      return [row.what, unit, ours, peer]
    }))).join('\n\n')
}

/** What stands under them. */
export function about (runs: Runs): string {
  const build = readFileSync(join(dirname(program), 'build.json'), 'utf8')
  const { commit } = JSON.parse(build) as { commit: string }
  return `${new Date().toISOString().slice(0, 10)}, build ${commit.slice(0, 8)}, ` +
    `Node ${runs.map(({ node }) => node).join(' and ')}`
}
