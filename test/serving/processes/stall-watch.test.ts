import t from 'tap'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { StallWatch } from '../../../serving/processes/stall-watch.js'

t.test('the thread names the request for which the event loop stalls, once for each stall', async t => {
  const child = fork(
    fileURLToPath(new URL('stalling.js', import.meta.url)), [],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] }
  )
  t.teardown(() => { child.kill() })
  let written = ''
  const pipe = child.stdio[4] as Readable // a pipe
  pipe.setEncoding('utf8').on('data', (text: string) => { written += text })
  const stall = async (verb: string, milliseconds: number): Promise<string> => {
    written = ''
    child.send({ verb, milliseconds })
    await once(child, 'message')
    return written
  }
  const line = (verb: string): string =>
    `{"like":{"user":"ann","verb":"${verb}","what":"configmaps","namespace":"team"}}\n`
  t.equal(await stall('create', 4000), line('create'))
  t.equal(await stall('update', 4000), line('update'))
  t.equal(await stall('', 4000), '{}\n', 'what is worked for is not known')
})

t.test('what is refused is served again after its time', async t => {
  const watch = new StallWatch()
  const like = { user: 'ann', verb: 'create', what: 'configmaps', namespace: 'team' }
  t.equal(watch.refusedUntil(like), undefined)
  const until = Date.now() + 60_000
  watch.refuse(like, until)
  t.equal(watch.refusedUntil({ ...like }), until)
  t.equal(watch.refusedUntil({ ...like, namespace: 'other' }), undefined)
  watch.refuse(like, Date.now() - 1)
  t.equal(watch.refusedUntil(like), undefined)
  t.equal(watch.numberOf(like), watch.numberOf({ ...like }))
  t.not(watch.numberOf(like), watch.numberOf({ ...like, user: 'bob' }))
  for (let at = 0; at < 10_001; at++) watch.numberOf({ ...like, user: `u${at}` })
  t.ok(watch.numberOf(like) > 10_001, 'old numbers are not used again')
})
