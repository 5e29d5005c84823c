/**
 * `npm run bench -- readme`: the tables of README and the first one of docs/performance.md, each cell measured in this
 * run but for those of kube-apiserver 1.36, which was measured on another machine. What the same bare servers took
 * there says how fast it was.
 */
import { execFileSync } from 'node:child_process'
import { nodes } from './process.js'
import { figure, table, type Line } from './report.js'

/** The parts that measure them. */
export const SOURCES = ['forms', 'start', 'idle', 'reads', 'lists', 'watch', 'structured'] as const

/** Of pods, as an ordinary user reads them, and how the lines of `forms` begin. */
const PODS: ReadonlyArray<readonly [what: string, work: string]> = [
  ['LIST of 4,000 pods, protobuf', 'LIST 4,000 pods, protobuf, public names'],
  ['the same as JSON', 'LIST 4,000 pods, JSON, public names'],
  ['1,500 pods as a Table, for `kubectl get`', 'LIST 1,500 pods, Table, public names'],
  ['metadata of 1,500 pods', 'LIST 1,500 pods, metadata, public names'],
  ['GET of a pod, protobuf', 'GET a pod among 4,000 pods, protobuf, public names'],
  ['the 80 pods of a node, protobuf', 'pods of one node among 4,000 pods, protobuf, public names']
]

interface Compared {
  readonly what: string
  /** How its line begins. */
  readonly work: string
  /** What kube-apiserver 1.36 took, and the bare server beside it, in the unit of the line. */
  readonly peer: number
  readonly bare: number
}

const COMPARED: readonly [Compared, ...Compared[]] = [
  { what: 'GET of an object over etcd', work: 'GET, 64 connections, HTTP/1.1, etcd', peer: 436, bare: 58 },
  { what: 'LIST of 5,000 objects', work: 'LIST 5,000 objects', peer: 106, bare: 10.9 },
  {
    what: 'an event to one of 1,000 watches', work: 'one event at a time to 1,000 watchers, HTTP/1.1', peer: 36,
    bare: 31
  },
  { what: 'the same, of a burst of 200', work: 'burst of 200 events to 1,000 watchers, HTTP/1.1', peer: 17, bare: 10 },
  {
    what: 'create over etcd, the first 5,000 of a process',
    work: 'create, the first 5,000 of a process, ClusterRoleBindings, etcd', peer: 946, bare: 170
  },
  { what: 'update over etcd, warm', work: 'update, warm, ClusterRoleBindings, etcd', peer: 1670, bare: 120 }
]

/** Alone, in their own unit. */
const SINGLE: ReadonlyArray<readonly [what: string, work: string, peer: string]> = [
  ['start to ready, empty', 'start to /readyz, empty', '3.4–4.1 s (release 1.24)'],
  ['memory, idle for half a minute', 'memory, idle for half a minute', '277 MB']
]

const lineOf = (lines: readonly Line[], start: string): Line => {
  const found = lines.find(({ work }) => work.startsWith(start))
  if (found === undefined) throw new Error(`nothing measured ${start}`)
  return found
}

const numberOf = ({ ours }: Line): number => Number(ours.replaceAll(',', '').split(' ', 1)[0])
const milliseconds = (line: Line): string => `${figure(numberOf(line) / (line.ours.includes('µs') ? 1000 : 1))} ms`

/** A number and its unit. */
const cost = ({ ours }: Line): string => ours.split(' ', 2).join(' ')
const withUnit = (peer: number, { ours }: Line): string => `${figure(peer)} ${ours.split(' ', 2)[1] ?? ''}`

/** What `forms` says of the peer behind its work. */
function peerOf ({ work }: Line): string {
  const [, value = '', unit = ''] = /kube-apiserver ([\d,.]+) (\S+)$/.exec(work) ?? []
  return `${figure(Number(value.replaceAll(',', '')) / (unit === 'µs' ? 1000 : 1))} ms`
}

/** The reader's table of docs/performance.md, in Markdown. */
export function readerTable (lines: readonly Line[]): string {
  const pods = PODS.map(([what, work]) => {
    const line = lineOf(lines, work)
    return [what, '', peerOf(line), milliseconds(line), '≤ 0.35 of kube-apiserver']
  })
  const compared = COMPARED.map(({ what, work, peer, bare }) => {
    const line = lineOf(lines, work)
    return [what, line.limit, `${withUnit(peer, line)}, bare ${bare}`, `${cost(line)}: ${line.ratio} ×`, line.goal]
  })
  const single = SINGLE.map(([what, work, peer]) => {
    const { ours, goal } = lineOf(lines, work)
    return [what, '', peer, ours, goal]
  })
  return table(['Work', 'Bare', 'kube-apiserver 1.36', 'Ours', 'Goal'], [...pods, ...compared, ...single])
}

/** Both tables of README, in Markdown. */
export function readmeTables (lines: readonly Line[]): string {
  const pods = PODS.map(([what, work]) => {
    const line = lineOf(lines, work)
    const first = work.startsWith('LIST') ? `; the first ${milliseconds(lineOf(lines, `first ${work}`))}` : ''
    return [what, `${milliseconds(line)}${first}`, peerOf(line)]
  })
  const others = [
    ...COMPARED.map(({ what, work, peer }) => {
      const line = lineOf(lines, work)
      return [what, cost(line), withUnit(peer, line)]
    }),
    ...SINGLE.map(([what, work, peer]) => [what, cost(lineOf(lines, work)), peer])
  ]
  const head = ['', 'orch-apiserver', 'kube-apiserver 1.36']
  const ran = execFileSync(nodes[0] ?? process.execPath, ['--version'], { encoding: 'utf8' }).trim()
  const day = new Date().toISOString().slice(0, 10)
  return `${table(head, pods)}\n\n${table(head, others)}\n\nMeasured on ${day} with Node ${ran}; a bare GET took ` +
    `${lineOf(lines, COMPARED[0].work).limit} µs, and ${COMPARED[0].bare} µs beside kube-apiserver.`
}
