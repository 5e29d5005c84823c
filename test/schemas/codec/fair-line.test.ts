import t from 'tap'
import { FairLine } from '../../../schemas/codec/fair-line.js'

function build () {
  const line = new FairLine()
  const order: string[] = []
  const callers = new Map<string, () => void>()
  const add = (tenant: string, kind: 'bodies' | 'answers', name: string): void => {
    const caller = (): void => { order.push(name) }
    callers.set(name, caller)
    line.add(tenant, kind, caller)
  }
  const takeAll = (may: (tenant: string) => boolean = () => true): string[] => {
    order.length = 0
    for (let next = line.take(may); next !== undefined; next = line.take(may)) next()
    return [...order]
  }
  return { line, add, takeAll, caller: (name: string) => callers.get(name) as () => void }
}

t.test('tenants take turns, their own callers in order of arrival, bodies before answers', t => {
  const { add, takeAll } = build()
  add('a', 'answers', 'a answer')
  for (const at of [1, 2, 3]) add('a', 'bodies', `a${at}`)
  add('b', 'bodies', 'b1')
  add('b', 'answers', 'b answer')
  add('c', 'bodies', 'c1')
  t.same(takeAll(), ['a1', 'b1', 'c1', 'a2', 'b answer', 'a3', 'a answer'])
  t.same(takeAll(), [])
  t.end()
})

t.test('a tenant that may not have a place keeps its turn, and those who leave are not called', t => {
  const { line, add, takeAll, caller } = build()
  add('a', 'bodies', 'a1')
  add('b', 'bodies', 'b1')
  add('b', 'bodies', 'b2')
  add('c', 'bodies', 'c1')
  line.remove('b', 'bodies', caller('b1'))
  line.remove('c', 'bodies', caller('c1'))
  line.remove('c', 'bodies', caller('c1'))
  t.same(takeAll(tenant => tenant !== 'a'), ['b2'])
  t.same(takeAll(), ['a1'])
  t.end()
})
