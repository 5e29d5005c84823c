/** The cache of slow lookups: its bounds in time, number and concurrency. */
import t from 'tap'
import { AnswerCache, type Answer } from '../../clients/answer-cache.js'

t.test(
  'a result is cached for its time, evicts only results of its kind, and concurrent lookups are shared and bounded',
  async t => {
    let clock = 0
    const asked: string[] = []
    let held: Promise<void> = Promise.resolve()
    const cache = new AnswerCache<string>({ maxEntries: 2, maxLookups: 3, now: () => clock })
    const lookup = (key: string) => async (): Promise<Answer<string>> => {
      asked.push(key)
      await held
      if (key === 'broken') throw new Error('down')
      const positive = key < 'm'
      return { value: key.toUpperCase(), positive, keepMs: key === 'never' ? 0 : positive ? 100 : 10 }
    }
    const find = async (key: string): Promise<string> => cache.get(key)?.value ?? await cache.fetch(key, lookup(key))
    const count = async (key: string): Promise<number> => {
      const before = asked.length
      t.equal(await find(key), key.toUpperCase())
      return asked.length - before
    }
    t.same([await count('a'), await count('a')], [1, 0])
    clock = 100
    t.equal(await count('a'), 1, 'not for longer than it holds')
    t.same([await count('x'), await count('x')], [1, 0])
    clock += 10
    t.same([await count('x'), await count('a')], [1, 0])
    t.same(
      [await count('y'), await count('z'), await count('x'), await count('a')], [1, 1, 1, 0],
      'the oldest negative one made room'
    )
    t.same([await count('b'), await count('c'), await count('a')], [1, 1, 1], 'and the oldest positive one')
    t.same([await count('never'), await count('never')], [1, 1])
    for (let times = 0; times < 2; times++) await t.rejects(find('broken'), { message: 'down' })
    t.same(asked.slice(-2), ['broken', 'broken'], 'failures are not cached')
    let free = (): void => {}
    held = new Promise(resolve => { free = resolve })
    const before = asked.length
    const waiting = ['1', '2', '3', '3'].map(find)
    await t.rejects(find('4'), { message: 'more than 3 lookups are pending' })
    free()
    t.same(await Promise.all(waiting), ['1', '2', '3', '3'])
    t.equal(asked.length, before + 3)
  }
)
