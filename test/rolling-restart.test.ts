/** A small rolling restart; `npm run rolling` has the numbers of a busy cluster. */
import t from 'tap'
import { rolling } from './soak/rolling.js'

t.test('while two servers are replaced in turn no request fails and no event is lost', async t => {
  const { faults, ...done } = await rolling(t, { watches: 100, clients: 8, pause: 10, requests: 200 })
  t.comment(JSON.stringify(done))
  t.same(faults, [])
  t.ok(done.resumed >= 100, 'each watch was at one of the servers that ended')
  t.ok(done.events >= 100 * done.writes)
})
