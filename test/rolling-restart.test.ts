/** A small rolling restart; `npm run rolling` has the numbers of a busy cluster. */
import t from 'tap'
import { rolling } from './soak/rolling.js'

const WATCHES = 16

t.test('while two servers are replaced in turn no request fails and no event is lost', async t => {
  const { faults, ...done } = await rolling(t, { watches: WATCHES, clients: 4, pause: 40, requests: 50 })
  t.comment(JSON.stringify(done))
  t.same(faults, [])
  t.ok(done.resumed >= WATCHES, 'each watch was at one of the servers that ended')
  t.ok(done.events >= WATCHES * done.writes)
})
