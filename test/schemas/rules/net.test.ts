import t from 'tap'
import { parseAddress } from '../../../schemas/rules/net.js'

t.test('addresses are of one family or the other', async t => {
  for (const address of ['10.0.0.1', '010.00.0.001', '0.0.0.0', '255.255.255.255', '::ffff:10.0.0.1']) {
    t.equal(parseAddress(address)?.length, 4, address)
  }
  for (const address of ['::', '::1', '2001:db8::ffff']) t.equal(parseAddress(address)?.length, 16, address)
  for (const text of ['', 'x', '10.0.0', '10.0.0.256', '10.0.0.1/8', 'fe80::1%eth0', ' ::1', '1.2.3.4.5', '-1.0.0.0']) {
    t.equal(parseAddress(text), undefined, text)
  }
})
