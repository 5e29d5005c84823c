import t from 'tap'
import { listen, Watch } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const DAY = 24 * 3600 * 1000

t.test('a wall clock that jumps by days neither ends nor prolongs watches, and makes nothing stale', async t => {
  const server = await listen(t)
  const { json } = await server.get(CONFIGS)
  const since: string = json['metadata'].resourceVersion
  const watch = await Watch.open(t, `${server.url}${CONFIGS}?watch=1&resourceVersion=${since}`)
  const began = performance.now()
  const short = await Watch.open(t, `${server.url}${CONFIGS}?watch=1&timeoutSeconds=2`)
  const { now } = Date
  let jump = 0
  t.intercept(Date, 'now', { value: () => now() + jump })
  for (let step = 0; step < 200; step++) {
    jump = (step % 2 === 0 ? 1 : -1) * (step + 1) * DAY
    const { code, json: made } = await server.post(CONFIGS, { metadata: { name: `c${step}` } })
    t.equal(code, 201)
    t.equal((await server.get(`${CONFIGS}/c${step}`)).json['metadata'].uid, made['metadata'].uid)
    if (step % 20 === 0) {
      t.equal(
        (await server.get(`${CONFIGS}?resourceVersion=${since}&resourceVersionMatch=Exact`)).json['items'].length, 0,
        'the window has not moved'
      )
    }
  }
  const seen = await watch.take(200)
  t.same(seen.map(({ object }) => object['metadata'].name), Array.from({ length: 200 }, (_, step) => `c${step}`))
  t.notOk(watch.ended)
  await short.until(() => short.ended).catch(() => {})
  t.ok(performance.now() - began > 1900, 'the short one had its two seconds')
  t.ok(performance.now() - began < 60_000, 'and not days')
})
