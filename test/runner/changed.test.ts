/** Which tests a change and the quick lane run, and how coverage is summed up. */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { QUICK } from './batches.js'
import { importGraph, testsOf } from './changed.js'
import { byRoom } from './coverage.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

t.test('tests that import a changed file are chosen, directly or not', async t => {
  const graph = new Map([
    ['schemas/a.ts', []],
    ['routes/b.ts', ['schemas/a.ts']],
    ['test/routes/b.test.ts', ['routes/b.ts', 'test/build.ts']],
    ['test/schemas/a.test.ts', ['schemas/a.ts']],
    ['test/other.test.ts', []],
    ['test/documents.test.ts', []]
  ])
  t.same(testsOf(['schemas/a.ts'], graph), [['test/schemas/a.test.ts'], ['test/routes/b.test.ts']], 'nearest first')
  t.same(testsOf(['test/other.test.ts'], graph), [['test/other.test.ts']])
  t.same(testsOf(['docs/operations.md'], graph), [['test/documents.test.ts']])
  t.same(testsOf(['README.md'], graph), [['test/documents.test.ts', 'test/readme.test.ts']])
  t.same(testsOf(['package.json'], graph), [
    ['test/routes/b.test.ts', 'test/schemas/a.test.ts', 'test/other.test.ts', 'test/documents.test.ts']
  ])
  t.same(testsOf(['examples/nothing.txt'], graph), [])
})

t.test('the graph has the modules of this project', async t => {
  const graph = importGraph(root)
  t.ok(graph.get('test/runner/changed.test.ts')?.includes('test/runner/changed.ts'))
  t.ok(testsOf(['schemas/status.ts'], graph).flat().length > 50)
  t.ok(testsOf(['test/runner/changed.ts'], graph).flat().includes('test/runner/changed.test.ts'))
})

t.test('the quick lane has tests of every layer', async t => {
  const [, layers = ''] = /```\n(cli\.ts[^`]*)```/.exec(readFileSync(`${root}docs/architecture.md`, 'utf8')) ?? []
  const folders = [...layers.matchAll(/[\w-]+\//g)].map(([folder]) => folder)
  t.equal(folders.length, 18)
  for (const folder of folders) t.ok(QUICK.some(part => part.startsWith(folder)), folder)
})

t.test('coverage is summed up by folder', async t => {
  t.same([
    ...byRoom([
      ['routes/a.ts', { total: 10, covered: 9 }],
      ['app.ts', { total: 4, covered: 4 }],
      ['routes/verbs/b.ts', { total: 10, covered: 5 }]
    ])
  ], [
    ['top level', { total: 4, covered: 4 }],
    ['routes', { total: 20, covered: 14 }]
  ])
})
