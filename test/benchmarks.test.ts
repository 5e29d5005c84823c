import t from 'tap'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from './build.js'
import { selfSigned } from '../serving/certify.js'
import { launching } from './benchmarks/process.js'
import { keptRatios, ratiosOf, smaller, worse } from './benchmarks/check.js'
import { PARTIAL, parts } from './benchmarks/parts.js'
import { ROWS } from './benchmarks/production.js'
import { about, readerTable, readmeTables } from './benchmarks/readme.js'
import { keeperTable, lines, out, report, type Series } from './benchmarks/report.js'
import { TINY } from './benchmarks/scale.js'
import { Watchers } from './benchmarks/watchers.js'

const shown: string[] = []
launching.here = true
out.print = text => { shown.push(text) }

/** Rows of the keeper's table of docs/performance.md. */
const documented = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8')
  .split('## For its keeper')[1]?.split('\n## ')[0]?.split('\n')
  .filter(line => line.startsWith('| '))
  .map(line => line.split('|').slice(1, -1).map(cell => cell.trim())) ?? []
/** Without what depends on the scale: a small run has fewer objects, and not all stores. */
const shape = (work: string): string => work.replaceAll(/\d[\d,.]*/g, '#').replace('etcd', 'embedded')
const shapes = (works: readonly string[]): string[] => [...new Set(works.map(shape))].toSorted()

/** Of what `npm run bench -- check` may compare. */
const ratios = new Set<string>()

for (const [name, load] of Object.entries(parts)) {
  if (name === 'writes-embedded' || name === 'idle') continue // what others measure, too
  t.test(`the figures of ${name} are measured, and their rows documented`, async t => {
    lines.length = 0
    shown.length = 0
    await (await load())(TINY)
    t.not(shown.length, 0)
    t.notMatch(shown.join('\n'), /NaN|undefined/)
    for (const { work, unit, figures } of lines) {
      t.ok(figures.length > 0 && figures.every(({ ours }) => Number.isFinite(ours)), work)
      t.match(unit, /\S/, work)
    }
    for (const work of Object.keys(ratiosOf(lines))) ratios.add(shape(work))
    if (PARTIAL.has(name)) return
    t.strictSame(
      shapes(documented.filter(([, part]) => part === `\`${name}\``).map(([work = '']) => work)),
      shapes(lines.map(({ work }) => work))
    )
  })
}

t.test('check compares what is measured', async t => {
  t.strictSame(Object.keys(keptRatios()).filter(work => !ratios.has(shape(work))), [])
})

/** Two watches of a server; `write` sends one text to each. */
async function twoWatches (t: Test): Promise<{
  watchers: Watchers
  write: (first: string, second: string) => Promise<void>
  end: () => Promise<void>
}> {
  const { certificate, key } = selfSigned('localhost', ['localhost'], new Date())
  const open: ServerResponse[] = []
  const server = createServer({ cert: certificate, key }, (_request, response) => {
    response.flushHeaders()
    open.push(response)
  })
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  const watchers = new Watchers()
  await watchers.open(1, (server.address() as AddressInfo).port, '/', 2) // it listens on a port
  t.teardown(() => {
    watchers.close()
    server.close()
  })
  return {
    watchers,
    write: async (...texts) => { for (const [at, text] of texts.entries()) open[at]?.write(text) },
    end: async () => { open[0]?.end() }
  }
}

t.test('a run fails when watches get wrong, additional or reordered events', async t => {
  const { watchers, write } = await twoWatches(t)
  t.equal(await watchers.expectSame(2, () => write('{"a":1}\n{"b":2}\n', '{"a":1}\n{"b":2}\n')), '{"a":1}\n{"b":2}\n')
  await t.rejects(watchers.expectSame(2, () => write('{"a":1}\n{"b":2}\n', '{"b":2}\n{"a":1}\n')), /different bytes/)
  await t.rejects(watchers.expect(1, () => write('{"a":1}\n{"a":1}\n', '')), /got/)
})

t.test('a run fails when a watch is ended', async t => {
  const { watchers, end } = await twoWatches(t)
  await t.rejects(watchers.expect(1, end), /a watch was ended/)
})

t.test('check names figures that are more than a tenth slower or no longer measured', async t => {
  const kept = { get: 1.5, list: 1, watch: 2 }
  t.same(worse({ get: 1.6, list: 1.2 }, kept), ['list: 1.20 × bare, 1.00 before', 'watch: not measured'])
  t.same(worse(kept, kept), [])
  t.same(smaller({ get: 1.6, list: 1 }, { get: 1.5 }), { get: 1.5, list: 1 })
  lines.length = 0
  report({ work: 'get', unit: 'µs of CPU a request', ours: [3], limit: [2], most: 1.2 })
  report({ work: 'memory', unit: 'MB', ours: [3] })
  report({ work: 'time', unit: 'ms', ours: [3], limit: [2] })
  report({ work: 'sizes', unit: 'ms of CPU', of: [['1', { ours: [3], limit: [2] }], ['2', { ours: [3] }]] })
  t.same(ratiosOf(lines), { get: 1.5 })
})

t.test('a line says what is compared, and which goals are missed', async t => {
  lines.length = 0
  report({ work: 'get', unit: 'µs of CPU a request', ours: [3], limit: [2], most: 1.6, peer: 10, ofPeer: 0.2 })
  report({
    work: 'list', unit: 'ms', of: [['10', { ours: [1], bound: 2 }], ['20', { ours: [1, 3, 2], bound: 1.5, peer: 9 }]]
  })
  t.equal(keeperTable([['reads', lines]]).split('\n').slice(2).join('\n'), [
    '| get | `reads` | 3.00 µs of CPU a request | 2.00: 1.50 ×; kube-apiserver 10.0 ' +
    '| ≤ 1.6 ×, ≤ 0.2 of kube-apiserver | missed |',
    '| list | `reads` | 10: 1.00; 20: 2.00 ms | kube-apiserver –; 9.00 | ≤ 2.00; ≤ 1.50 | missed: 20 |'
  ].join('\n'))
})

t.test('README gets two tables, and the reader of docs/performance.md one with a column for each Node', async t => {
  lines.length = 0
  const unit = 'ms of CPU'
  for (const form of ['protobuf', 'JSON', 'Table', 'metadata']) {
    const sizes = (cost: number): Series['of'] => ['1,500', '4,000'].map(size =>
      [size, { ours: [cost], limit: [1], most: 1.2, peer: 251, ofPeer: 0.35 }])
    report({ work: `LIST pods, ${form}, public names`, unit, of: sizes(22) })
    report({ work: `first LIST of pods, ${form}, public names`, unit, of: sizes(1234) })
  }
  for (const work of ['GET a pod', 'pods of one node']) {
    report({ work: `${work}, protobuf, public names`, unit, of: [['4,000', { ours: [1] }]] })
  }
  for (const { work } of ROWS) {
    report({ work: `${work}, etcd`, unit, of: [['first', { ours: [2] }], ['later', { ours: [1] }]] })
  }
  for (const work of [
    'GET, 64 connections, HTTP/1.1, etcd', 'LIST 5,000 objects, HTTP/1.1',
    'one event at a time to 1,000 watchers, HTTP/1.1', 'burst of 200 events to 1,000 watchers, HTTP/1.1',
    'create, the first 5,000 of a process, ClusterRoleBindings, etcd, beside a bare server',
    'update, warm, ClusterRoleBindings, etcd, beside a bare server'
  ]) report({ work, unit, ours: [3], limit: [2], most: 1.5, peer: 436 })
  for (const work of ['start to /readyz, empty', 'memory, idle for half a minute']) {
    report({ work, unit, of: [['1.24', { ours: [84], limit: [40], most: 2 }], ['1.36', { ours: [145] }]] })
  }
  const run = { node: 'v26.12.1', lines: [...lines] }
  lines.length = 0
  report({ work: 'LIST 5,000 objects, HTTP/1.1', unit, ours: [4], limit: [2], most: 1.5 })
  const other = { node: 'v20.20.2', lines: [...lines, ...run.lines] }

  const printed = readmeTables([run, other])
  t.match(printed, '| LIST of 4,000 pods, protobuf | ms of CPU | 22.0 (first 1,234) | 251 |')
  t.match(printed, '| GET of an object over etcd | ms of CPU | 3.00 | 436 (bare 58.0) |')
  const shown = readerTable([run, other])
  t.match(shown, '| Ours, Node 26 | Ours, Node 20 | Goal |')
  t.match(
    shown, '| LIST of 5,000 objects | ms of CPU | 2.00 | 436 (bare 10.9) | 3.00 | 4.00 | ≤ 1.5 × | kept; missed on 20 |'
  )
  t.match(shown, '251 | 22.0 (first 1,234) | 22.0 (first 1,234) | ≤ 0.35 of kube-apiserver | kept |')
  t.throws(() => readmeTables([{ node: 'v26.12.1', lines: [] }]), /nothing measured/)
  t.match(about([run, other]), /^\d{4}-\d\d-\d\d, build [\da-f]{8}, Node v26\.12\.1 and v20\.20\.2$/)

  const names = (text: string): string[] => [...text.matchAll(/^\| ([^|]+) \|/gm)].map(([, name = '']) => name)
    .filter(name => !/^(?:---|Work)$/.test(name))
  const namesIn = (file: string, from: string, to: string): string[] => {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    return names(text.slice(text.indexOf(from), text.indexOf(to)))
  }
  t.strictSame(namesIn('README.md', '# orch-apiserver', '## Two commands'), names(printed), 'its rows are those')
  t.strictSame(
    namesIn('docs/performance.md', '## For a reader', '## For its keeper'), names(printed), 'and those of the reader'
  )
})
