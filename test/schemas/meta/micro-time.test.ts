/** Times with a fraction of six digits are read in the layout they are written in. */
import t from 'tap'
import { toJson } from '../../../schemas/codec/json/encode.js'
import { decode } from '../../../schemas/language/decode.js'
import { leases } from '../../../schemas/api/coordination/leases.js'

const lease = (renewTime: unknown) => decode(leases.stored.message, {
  apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata: { name: 'a' }, spec: { renewTime }
}).object

t.test('that layout, in any zone', async t => {
  for (const [sent, kept] of [
    ['2006-01-02T15:04:05.000000Z', '2006-01-02T15:04:05.000000Z'],
    ['2006-01-02T15:04:05.123456Z', '2006-01-02T15:04:05.123456Z'],
    ['2006-01-02T15:04:05.123456+02:00', '2006-01-02T13:04:05.123456Z']
  ]) {
    t.match(JSON.parse(toJson(leases.stored.message, lease(sent))), { spec: { renewTime: kept } })
  }
  t.notMatch(toJson(leases.stored.message, lease(null)), 'renewTime')
})

t.test('and no other', async t => {
  for (const sent of [
    '2006-01-02T15:04:05Z', '2006-01-02T15:04:05.123Z', '2006-01-02T15:04:05.1234567Z', '2006-01-02T15:04:05.123456',
    '2006-01-02 15:04:05.123456Z', '', 5
  ]) {
    t.throws(() => lease(sent), /expected a time such as 2006-01-02T15:04:05\.000000Z/, String(sent))
  }
})
