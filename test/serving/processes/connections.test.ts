import t from 'tap'
import type { Socket } from 'node:net'
import { Connections, type ServingProcess } from '../../../serving/processes/connections.js'

/** A connection that only records whether it was closed. */
const connection = (): Socket & { closed: boolean } => Object.assign(
  {} as Socket, { closed: false, destroy (this: { closed: boolean }) { this.closed = true } }
) as unknown as Socket & { closed: boolean }

function taker (connections: Connections): ServingProcess & { readonly taken: Socket[], readonly accept: () => void } {
  const taken: Socket[] = []
  const own = { taken, take: (socket: Socket) => { taken.push(socket) }, accept: () => { connections.accepted(own) } }
  connections.add(own)
  return own
}

t.test('connections are spread evenly, and the process with the fewest gets the next', async t => {
  const connections = new Connections()
  const takers = Array.from({ length: 4 }, () => taker(connections))
  for (let number = 0; number < 64; number++) connections.give(connection())
  t.same(connections.counts, [16, 16, 16, 16])
  const [, second] = takers
  if (second === undefined) throw new Error('there are four')
  connections.ended(second, 2)
  connections.give(connection())
  connections.give(connection())
  t.same(connections.counts, [16, 16, 16, 16])
})

t.test('a process is given one connection at a time', async t => {
  const connections = new Connections()
  const one = taker(connections)
  for (let number = 0; number < 3; number++) connections.give(connection())
  t.equal(one.taken.length, 1)
  one.accept()
  one.accept()
  t.equal(one.taken.length, 3)
})

t.test('connections that a dead process has not accepted are given to the others', async t => {
  const connections = new Connections()
  const one = taker(connections)
  const other = taker(connections)
  const given = Array.from({ length: 6 }, connection)
  for (const socket of given) connections.give(socket)
  connections.remove(one)
  for (let number = 0; number < 6; number++) other.accept()
  t.equal(other.taken.length, 6, 'the one that was under way too')
  t.same(connections.counts, [6])
})

t.test(
  'an unresponsive process gets no connection until it answers, and those waiting for it go to the others', async t => {
    const connections = new Connections()
    const one = taker(connections)
    const other = taker(connections)
    for (let number = 0; number < 6; number++) connections.give(connection())
    connections.silent(one)
    for (let number = 0; number < 4; number++) connections.give(connection())
    for (let number = 0; number < 20; number++) other.accept()
    t.equal(one.taken.length, 1, 'only its first connection')
    t.equal(other.taken.length, 9)
    connections.answers(one)
    one.accept()
    connections.give(connection())
    t.equal(one.taken.length, 2)
    connections.silent(one)
    connections.silent(other)
    connections.give(connection())
    t.equal(one.taken.length + other.taken.length, 11, 'with all of them silent it is as before')
  }
)

t.test('a process that is not ready gets connections only while no other is ready and answers', async t => {
  const connections = new Connections()
  const [one, other] = [taker(connections), taker(connections)]
  const give = (count: number): void => {
    for (let number = 0; number < count; number++) {
      connections.give(connection())
      one.accept()
      other.accept()
    }
  }
  give(4)
  t.same([one.taken.length, other.taken.length], [2, 2], 'probes are answered while none is ready')
  connections.ready(one)
  give(4)
  t.same([one.taken.length, other.taken.length], [6, 2])
  connections.silent(one)
  give(1)
  t.same([one.taken.length, other.taken.length], [6, 3])
  connections.answers(one)
  connections.ready(other)
  give(3)
  t.same([one.taken.length, other.taken.length], [6, 6])
})

t.test('connections wait for a process, a bounded number of them', async t => {
  const connections = new Connections()
  const given = Array.from({ length: 1001 }, connection)
  for (const socket of given) connections.give(socket)
  t.equal(given.filter(({ closed }) => closed).length, 1)
  const one = taker(connections)
  for (let number = 0; number < 1000; number++) one.accept()
  t.equal(one.taken.length, 1000)
})
