/** Columns of definitions: what a cell, a row and an answer may cost, counted in values looked at. */
import t from 'tap'
import { CellBudget } from '../../../schemas/cell-budget.js'
import { customColumns } from '../../../schemas/custom/columns.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import { tableRow } from '../../../schemas/table.js'

const metadata = { name: 'n' }
const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

/** The cells of the paths, without the name, and what they cost. */
function cells (spec: unknown, paths: string[], budget = new CellBudget()): { cells: unknown[], spent: number } {
  const columns = customColumns(paths.map((jsonPath, at) => ({ name: `c${at}`, type: 'string', jsonPath })))
  const before = budget.spent
  const [, ...made] = tableRow(
    { columns }, { apiVersion: 'v1', kind: 'K', metadata, spec } as ApiObject, 0, { budget }
  ).cells
  return { cells: made, spent: budget.spent - before }
}

t.test('a column stops at its first result', async t => {
  const spec = { l: many(15_000, at => ({ a: `x${at}` })), m: { k: 'v' } }
  const { cells: made, spent } = cells(spec, many(200, () => '.spec.l[*].a'))
  t.same(made, many(200, () => 'x0'))
  t.ok(spent < 200 * 12, `${spent}`)
  t.same(
    cells(spec, ['.spec.l[?(@.a=="x3")].a', '.spec..a', '.spec.l[1:].a', '.spec.m.*', '.spec.l[-1].a']).cells,
    ['x3', 'x0', 'x1', 'v', 'x14999']
  )
})

t.test('a cell that costs more than its budget is empty, and the others are not', async t => {
  const spec = {
    l: many(15_000, at => ({ a: `x${at}` })),
    m: Object.fromEntries(many(15_000, at => [`k${at}`, 'v'])),
    text: 'x'.repeat(70_000),
    s: 'small'
  }
  for (const path of [
    '.spec.l[?(@.a=="none")].a', '.spec..none', '.spec.l[*].none', '.spec.l[?(@..none)].a', '.spec.m.*', '.spec.text',
    '.spec.l', '.spec'
  ]) {
    const { cells: made, spent } = cells(spec, [path, '.spec.s'])
    t.same(made, [null, path === '.spec.m.*' ? null : 'small'], path)
    t.ok(spent < 16_000, `${path} ${spent}`)
  }
  t.same(
    cells(many(100, () => 'x'.repeat(100)), ['.spec']).cells, [JSON.stringify(many(100, () => 'x'.repeat(100)))],
    'what is within it is shown whole'
  )
})

t.test('the cells of a row share a budget, and the rows of an answer', async t => {
  const spec = { text: 'x'.repeat(16_000) }
  const shown = (made: unknown[]): number => made.filter(cell => cell !== null).length
  t.equal(shown(cells(spec, many(200, () => '.spec.text')).cells), 7)
  const budget = new CellBudget(10)
  const rows = many(10, () => shown(cells(spec, many(200, () => '.spec.text'), budget).cells))
  t.same(rows.slice(0, 2), [7, 7])
  t.same(rows.slice(-2), [0, 0])
  t.ok(budget.spent < 30_000, `${budget.spent}`)
  const small = new CellBudget(1000)
  const usual = many(1000, () => cells({ a: 'b' }, many(50, () => '.spec.a'), small))
  t.ok(usual.every(({ cells: made }) => made.every(cell => cell === 'b')), 'usual rows do not reach it')
})

t.test('an object deeper than the library descends has no value', async t => {
  let deep: unknown = 'x'
  for (let at = 0; at < 90; at++) deep = { a: deep }
  t.same(cells(deep, ['.spec..b', '.spec[?(', `.spec.${'a'.repeat(9000)}`]).cells, [null, null, null])
})
