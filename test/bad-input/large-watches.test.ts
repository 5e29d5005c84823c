/** Watches with the largest possible requests, and the memory that each holds while it lasts. */
import t from 'tap'
import { once } from 'node:events'
import type { TLSSocket } from 'node:tls'
import { CONFIGS, serve, tls, until } from '../secure-server.js'
import { fault, heapUsed } from './refusal.js'

const WATCHES = 40
const upTo = (length: number, make: (index: number) => string): string => {
  let text = make(0)
  for (let index = 1; text.length < length; index++) text += `,${make(index)}`
  return text
}
const headers = (copy: number): string =>
  `User-Agent: ${'u'.repeat(20_000)}${copy}\r\nX-Other: ${'y'.repeat(20_000)}${copy}\r\n`
const query = (more: Record<string, string>): string =>
  `${CONFIGS}?${new URLSearchParams({ watch: '1', ...more }).toString()}`

t.test('the parameters and headers of a watch cost at most some ten KiB of memory', async t => {
  const server = await serve(t)
  const each = async (
    ask: (copy: number) => Record<string, string>, more: (copy: number) => string = () => ''
  ): Promise<number> => {
    const sockets: TLSSocket[] = []
    const before = await heapUsed()
    for (let copy = 100; copy < 100 + WATCHES; copy++) {
      const socket = await tls(t, server.port, query(ask(copy)), more(copy))
      const [head] = await once(socket, 'data') as [Buffer]
      t.match(head.toString('latin1', 0, 12), 'HTTP/1.1 200')
      sockets.push(socket)
    }
    const bytes = (await heapUsed() - before) / WATCHES
    for (const socket of sockets) socket.destroy()
    await until(t, 'them all to have ended', () => server.inFlight() === 0)
    return bytes
  }
  /**
   * Other work in the process may add memory to a round or free some, so the median of three rounds counts. Two rounds
   * are enough if both are on one side of the bound.
   */
  const middleOf = async (round: () => Promise<number>, bound?: number): Promise<number> => {
    const rounds = [await round(), await round()].sort((a, b) => a - b)
    const [least = 0, most = Infinity] = rounds
    if (bound !== undefined && most < bound) return most
    const last = await round()
    return Math.min(Math.max(last, least), most)
  }
  await each(() => ({}))
  const plain = await middleOf(() => each(() => ({})))
  for (const [name, ask] of [
    ['a label over and over', copy => ({ labelSelector: `k${copy},${upTo(6000, () => 'a')}` })],
    [
      'a hundred names',
      copy => ({ labelSelector: `name in (${upTo(3000, index => `name-of-something-${copy}-${index}`)})` })
    ],
    [
      'names to the bound',
      copy => ({ labelSelector: `name in (${upTo(6500, index => `name-of-something-${copy}-${index}`)})` })
    ],
    ['fields to the bound', copy => ({ fieldSelector: upTo(6500, index => `metadata.name!=${copy}-${index}`) })],
    ['nothing anybody reads', copy => ({ other: 'x'.repeat(10_000) + String(copy) })]
  ] as Array<[string, (copy: number) => Record<string, string>]>) {
    const more = await middleOf(() => each(ask), plain + 14 * 1024) - plain
    t.ok(more < 14 * 1024, `${name}: ${(more / 1024).toFixed(1)} KiB more`)
  }
  const withHeaders = await middleOf(() => each(() => ({}), headers), plain + 4 * 1024) - plain
  t.ok(withHeaders < 4 * 1024, `40,000 characters of headers: ${(withHeaders / 1024).toFixed(1)} KiB more`)
})

t.test('more than that is refused', async t => {
  const server = await serve(t)
  for (const [name, ask] of Object.entries({
    'a label over and over': { labelSelector: upTo(60_000, () => 'a') },
    'many labels': { labelSelector: upTo(2000, index => `k-${index}`) },
    'many names': { labelSelector: `name in (${upTo(20_000, index => `name-${index}`)})` },
    'many fields': { fieldSelector: upTo(60_000, index => `metadata.name!=${index}`) },
    'nothing anybody reads': { other: 'x'.repeat(60_000) }
  })) t.equal(fault(await server.get(query(ask)), [400]), undefined, name)
  t.equal(
    (await server.get(query({
      labelSelector: upTo(60_000, index => `k-${index}`)
    }).replace('watch=1', 'watch=0'))).code,
    200,
    'a list holds nothing'
  )
})
