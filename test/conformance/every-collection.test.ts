/**
 * One table of tests for every collection in every version: lists, pages, resource versions, watches, dry runs and
 * preconditions.
 */
import t from 'tap'
import { TABLE, Watch, types, listen, type Json } from '../build.js'
import { nameOf } from '../samples.js'
import { ALL, create, creation, isEmptied, stored, title, urlOf } from './collections.js'

/** The first events of new objects; for some, the server also writes the status. */
async function added (watch: Watch, count: number): Promise<Watch['events']> {
  const found = (): Watch['events'] => watch.events.filter(({ type }) => type === 'ADDED')
  await watch.until(() => found().length >= count)
  return found()
}

const names = (list: Json): string[] => list['items'].map(({ metadata }: Json) => metadata['name'] as string)

t.test('every collection lists in pages, at versions, and is watched from where a list ends', async t => {
  const server = await listen(t, ALL)
  for (const one of stored) {
    await t.test(title(one), async t => {
      const url = urlOf(one)
      // Names of some kinds must follow from their content.
      const count = nameOf(one.group, one.plural, 0) === nameOf(one.group, one.plural, 1) ? 1 : 5
      const of = 'labelSelector=of%3Dsample'
      const before = (await server.get(`${url}?${of}`)).json['metadata'].resourceVersion as string
      const watch = await Watch.open(t, `${server.url}${url}?watch=1&${of}&resourceVersion=${before}`)
      const tables = await Watch.open(
        t, `${server.url}${url}?watch=1&${of}&resourceVersion=${before}`, { accept: TABLE }
      )
      const dry = creation(one)
      t.equal((await server.post(`${dry.url}?dryRun=All`, dry.body)).code, 201)
      t.equal((await server.get(`${url}/${String(dry.body['metadata'].name)}`)).code, 404, 'a dry run creates nothing')
      const made: Json[] = []
      for (let at = 0; at < count; at++) made.push(await create(server, one, at))
      const whole = (await server.get(`${url}?${of}`)).json
      t.equal(whole['items'].length, count)
      t.same(
        (await server.get(`${url}?${of}&resourceVersion=${before}&resourceVersionMatch=Exact`)).json['items'], [],
        'at a version before'
      )

      // All pages show one state, whatever is written between them.
      const first = (await server.get(`${url}?${of}&limit=2`)).json
      t.equal(names(first).length, Math.min(2, count))
      const last = `${url}/${String(names(whole).at(-1))}`
      const done = isEmptied(one) ? 202 : 200
      t.equal(
        (await server.delete(`${last}?dryRun=All`, { gracePeriodSeconds: 0, propagationPolicy: 'Background' })).code,
        done
      )
      t.equal((await server.get(last)).code, 200, 'a dry run deletes nothing')
      t.match(await server.delete(last, { preconditions: { uid: 'another' } }), {
        code: 409, json: { reason: 'Conflict' }
      })
      t.equal((await server.delete(last, { gracePeriodSeconds: 0, propagationPolicy: 'Background' })).code, done)
      const rest: string[] = []
      for (let page = first; page['metadata'].continue !== undefined;) {
        page = (await server.get(
          `${url}?${of}&limit=2&continue=${encodeURIComponent(String(page['metadata'].continue))}`
        )).json
        t.equal(page['metadata'].resourceVersion, first['metadata'].resourceVersion)
        rest.push(...names(page))
      }
      t.strictSame([...names(first), ...rest], names(whole))
      t.strictSame(
        names(
          (await server.get(
            `${url}?${of}&resourceVersion=${String(whole['metadata'].resourceVersion)}&resourceVersionMatch=Exact`
          )).json
        ),
        names(whole)
      )
      t.match(await server.get(`${url}?limit=2&continue=nonsense`), { code: 400 })
      const changed = await Promise.all([added(watch, count), added(tables, count)])
      t.strictSame(types(changed[0] ?? []), made.map(({ metadata }) => `ADDED ${String(metadata['name'])}`))
      for (const { object } of changed[1] ?? []) t.match(object, { kind: 'Table', rows: [{ cells: [] }] })
      for (const { object } of changed[0] ?? []) t.match(object, { kind: one.kind, apiVersion: one.apiVersion })
      for (const { metadata } of made) {
        await server.delete(`${url}/${String(metadata['name'])}`, {
          gracePeriodSeconds: 0, propagationPolicy: 'Background'
        })
      }
      watch.close()
      tables.close()
    })
  }
})
