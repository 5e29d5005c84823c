/** A create that is guarded by other keys, on any back end. Part of the contract in `backend.ts`. */
import type { Test } from 'tap'
import type { Backend, Guard, Revision, WriteResult } from '../../storage/backend.js'
import { Observed } from './observed.js'

interface Space { readonly at: (name: string) => string, readonly start: string, readonly end: string }

const bytes = (text: string) => Buffer.from(text)

export async function guardContract (
  t: Test, backend: Backend, space: () => Space, done: (result: WriteResult) => Revision
): Promise<void> {
  await t.test('a guarded create succeeds only while the guard is at its revision', async t => {
    const { at } = space()
    const first = done(await backend.create(at('guard'), bytes('1')))
    const created = done(await backend.create(at('a'), bytes('x'), { guards: [{ key: at('guard'), revision: first }] }))
    t.match((await backend.get(at('a'))).kv, { createRevision: created, modRevision: created })
    t.equal((await backend.get(at('guard'))).kv?.modRevision, first, 'the guard is only compared')

    const refused = async (name: string, guard: string, revision: Revision) => {
      t.match(
        await backend.create(at(name), bytes('x'), { guards: [{ key: at(guard), revision }] }),
        { succeeded: false, current: undefined }, `${name} behind ${guard} at ${revision}`
      )
      t.equal((await backend.get(at(name))).kv, undefined)
    }
    const second = done(await backend.update(at('guard'), bytes('2'), first))
    await refused('b', 'guard', first)
    await refused('b', 'guard', second + 1)
    await refused('b', 'none', second)
    done(await backend.create(at('b'), bytes('x'), { guards: [{ key: at('guard'), revision: second }] }))
    const gone = done(await backend.delete(at('guard'), second))
    await refused('c', 'guard', second)
    await refused('c', 'guard', gone)
    const again = done(await backend.create(at('guard'), bytes('1')))
    await refused('c', 'guard', second)
    done(await backend.create(at('c'), bytes('x'), { guards: [{ key: at('guard'), revision: again }] }))
    for (const revision of [0, -1, NaN, 1.5]) {
      await t.rejects(backend.create(at('d'), bytes('x'), { guards: [{ key: at('guard'), revision }] }), TypeError)
    }
    await t.rejects(backend.create(at('d'), bytes('x'), { guards: [{ key: '', revision: again }] }), TypeError)
  })

  await t.test(
    'a guarded create of an existing key returns the current value, whether or not the guard holds', async t => {
      const { at } = space()
      const guard = done(await backend.create(at('guard'), bytes('1')))
      const there = done(await backend.create(at('a'), bytes('x')))
      for (const revision of [guard, guard + 1]) {
        t.match(await backend.create(at('a'), bytes('y'), { guards: [{ key: at('guard'), revision }] }), {
          succeeded: false, current: { modRevision: there }
        })
      }
    }
  )

  await t.test('a create with several guards succeeds only while each of them is at its revision', async t => {
    const { at } = space()
    const guards: Guard[] = []
    for (const name of ['g1', 'g2', 'g3']) {
      guards.push({ key: at(name), revision: done(await backend.create(at(name), bytes('1'))) })
    }
    done(await backend.create(at('all'), bytes('x'), { guards }))
    done(await backend.create(at('none'), bytes('x'), { guards: [] }))
    done(await backend.create(at('twice'), bytes('x'), { guards: [...guards, ...guards] }))
    for (const [index, { key, revision }] of guards.entries()) {
      const changed = done(await backend.update(key, bytes('2'), revision))
      const refused = await backend.create(at(`b${index}`), bytes('x'), { guards })
      t.match(refused, { succeeded: false, current: undefined }, `${index} has changed`)
      t.equal((await backend.get(at(`b${index}`))).kv, undefined)
      guards[index] = { key, revision: changed }
      done(await backend.create(at(`b${index}`), bytes('x'), { guards }))
      const wrong = guards.with(index, { key, revision: 0 })
      await t.rejects(backend.create(at('c'), bytes('x'), { guards: wrong }), TypeError)
    }
  })

  await t.test(
    'nothing that is guarded lands behind a change of its guard, and what is refused can see that change', async t => {
      const { at, start, end } = space()
      for (let round = 0; round < 30; round++) {
        const guard = at(`guard${round}`)
        const revision = done(await backend.create(guard, bytes('1')))
        const creates = (from: number) => Array.from({ length: 6 }, async (_, i) => {
          const result = await backend.create(at(`k${round}-${from + i}`), bytes('x'), {
            guards: [{ key: guard, revision }]
          })
          return { result, seen: (await backend.get(guard)).kv?.modRevision }
        })
        const before = creates(0)
        const change = round % 2 === 0 ? backend.update(guard, bytes('2'), revision) : backend.delete(guard, revision)
        const outcomes = await Promise.all([...before, ...creates(6)])
        const changed = done(await change)
        for (const { result, seen } of outcomes) {
          if (result.succeeded) t.ok(result.revision < changed, 'it came before')
          else t.not(seen, revision, 'a refused write can read the change that refused it')
        }
      }
      const watch = new Observed(backend, start, end, (await backend.get(at('guard0'))).kv?.createRevision ?? 0)
      await watch.upTo(await backend.revision())
      t.same(watch.faults, [])
      watch.watch.cancel()
    }
  )
}
