/**
 * `--max-connection-bytes-per-sec`: long-running responses are slowed down without loss, others are not slowed down.
 */
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { pipePaced } from '../../answers/paced.js'
import { listen, Watch } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const OBJECTS = 40
const SIZE = 2000
const PER_SECOND = 40_000

t.test('a paced watch gets every event in order and no faster, and a list beside it is not slowed', async t => {
  const server = await listen(t, { limits: { connectionBytesPerSecond: PER_SECOND } })
  const { json } = await server.get(`${CONFIGS}?limit=1`)
  for (let at = 0; at < OBJECTS; at++) {
    t.equal(
      (await server.post(CONFIGS, {
        metadata: { name: `object-${String(at).padStart(3, '0')}` }, data: { text: 'x'.repeat(SIZE) }
      })).code,
      201
    )
  }
  const since = performance.now()
  const watch = await Watch.open(
    t, `${server.url}${CONFIGS}?watch=1&resourceVersion=${json['metadata'].resourceVersion}&labelSelector=!none`
  )
  const names = (): string[] =>
    watch.events.map(({ object }) => object['metadata'].name as string).filter(name => name.startsWith('object-'))
  let listed = 0
  while (names().length < OBJECTS) {
    t.equal((await server.get(CONFIGS)).code, 200)
    listed++
    await new Promise(resolve => { setTimeout(resolve, 20) })
  }
  const least = (OBJECTS * SIZE - PER_SECOND) / PER_SECOND * 1000
  t.ok(performance.now() - since >= least, `a second's worth goes at once, the rest takes ${least} ms`)
  t.ok(listed > 1)
  t.strictSame(names(), Array.from({ length: OBJECTS }, (_, at) => `object-${String(at).padStart(3, '0')}`))
  watch.close()
})

t.test('bytes of a tunnel are held back, none is lost, and its end comes after them', async t => {
  const from = new PassThrough()
  const to = new PassThrough()
  pipePaced(from, to, 10_000)
  const since = performance.now()
  const sent = Buffer.from(Array.from({ length: 25_000 }, (_, at) => at % 251))
  from.write(sent.subarray(0, 1))
  from.end(sent.subarray(1))
  const got: Buffer[] = []
  to.on('data', (chunk: Buffer) => { got.push(chunk) })
  await once(to, 'end')
  t.ok(Buffer.concat(got).equals(sent))
  t.ok(performance.now() - since >= 1490, 'the first second is free')
})
