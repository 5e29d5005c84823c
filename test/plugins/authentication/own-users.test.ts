import t from 'tap'
import { OwnUsers } from '../../../plugins/authentication/own-users.js'

const user = (username: string) => ({ username, uid: '', groups: [], extra: {} })

t.test('a user is found by its own header alone', async t => {
  const users = new OwnUsers()
  t.equal(users.find('Bearer x'), undefined)
  const [one, other] = [user('one'), user('other')]
  const header = users.add(one)
  t.match(header, /^Bearer [\w-]{43}$/)
  t.not(users.add(other), header)
  t.equal(users.find(header), one)
  for (const wrong of [
    undefined, '', 'Bearer ', header.slice(0, -1), `${header}x`, header.slice('Bearer '.length), header.toLowerCase(),
    'constructor'
  ]) {
    t.equal(users.find(wrong), undefined, String(wrong))
  }
  t.equal(new OwnUsers().find(header), undefined, 'nor by another server')
})
