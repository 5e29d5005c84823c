/** `/debug/pprof/`, read with the reader of its format. */
import { gunzipSync } from 'node:zlib'
import { Profile } from 'pprof-format'
import t from 'tap'
import { build, listen } from '../../build.js'

const names = ({ stringTable }: Profile): string[] => stringTable.strings
const types = (profile: Profile): string[] => profile.sampleType.map(({ type }) => names(profile)[Number(type)] ?? '')

t.test('a CPU profile says where the time went', async t => {
  const server = await build(t, { profiling: {} })
  const state = { done: false }
  const asked = server.get('/debug/pprof/profile?seconds=1').finally(() => { state.done = true })
  function busyWork (): number {
    let sum = 0
    for (let at = 0; at < 1e5; at++) sum += Math.sqrt(at)
    return sum
  }
  while (!state.done) {
    busyWork()
    await new Promise(resolve => { setImmediate(resolve) })
  }
  const { code, raw, headers } = await asked
  t.equal(code, 200)
  t.match(headers, {
    'content-type': 'application/octet-stream', 'content-disposition': 'attachment; filename="profile"'
  })
  const profile = Profile.decode(gunzipSync(raw))
  t.strictSame(types(profile), ['samples', 'cpu'])
  t.ok(names(profile).includes('busyWork'))
  const ids = new Set(profile.location.map(({ id }) => Number(id)))
  t.ok(
    profile.sample.length > 0 &&
      profile.sample.every(({ locationId, value }) => value.length === 2 && locationId.every(id => ids.has(Number(id))))
  )
  t.ok(profile.location.every(({ line }) =>
    line.every(({ functionId }) => profile.function.some(({ id }) => id === functionId))))
})

t.test('a heap profile says what is held', async t => {
  const server = await build(t, { profiling: {} })
  const state = { done: false }
  const asked = server.get('/debug/pprof/heap?seconds=1').finally(() => { state.done = true })
  const held: unknown[] = []
  while (!state.done) {
    for (let at = 0; at < 1000; at++) held.push({ at, text: `held ${at}` })
    await new Promise(resolve => { setTimeout(resolve, 10) })
  }
  const profile = Profile.decode(gunzipSync((await asked).raw))
  t.ok(held.length > 0)
  t.strictSame(types(profile), ['inuse_space'])
  t.ok(profile.sample.some(({ value: [bytes] }) => Number(bytes) > 0))
})

t.test('one profile is taken at a time, and for no longer than a request lasts', async t => {
  const server = await build(t, { profiling: {}, limits: { requestTimeout: 20_000 } })
  const first = server.get('/debug/pprof/profile?seconds=1')
  t.match(await server.get('/debug/pprof/heap?seconds=1'), {
    code: 429, json: { reason: 'TooManyRequests' }, headers: { 'retry-after': '5' }
  })
  t.equal((await first).code, 200)
  for (const seconds of ['0', '-1', 'x', '1e9', '1.5', '99999999']) {
    t.match(
      await server.get(`/debug/pprof/profile?seconds=${seconds}`), { code: 400, json: { reason: 'BadRequest' } },
      seconds
    )
  }
  t.match(await server.get('/debug/pprof/profile?seconds=16'), { code: 400, json: { message: /15 seconds at most/ } })
})

t.test('the activity of the server is printed in columns that fit a terminal', async t => {
  const server = await listen(t, { profiling: {} })
  await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'hidden' } })
  const { code, body } = await server.get('/debug/pprof/goroutine')
  t.equal(code, 200)
  t.match(body, /^secrets +1 +\d+ +\d+$/m)
  t.notMatch(body, 'hidden')
  t.ok(body.split('\n').every(line => line.length <= 100))
  t.match((await server.get('/debug/pprof/')).body, /^profile +CPU profile/m)
  t.match((await server.get('/debug/pprof/block')).body, /--contention-profiling/)
  t.equal((await server.get('/debug/pprof/cmdline')).body, process.argv.join('\0'))
  t.equal((await server.get('/debug/pprof/none')).code, 404)
})

t.test('watch caches are listed as a table, or as JSON on request', async t => {
  const server = await listen(t, { profiling: {} })
  await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'hidden' } })
  const table = await server.get('/debug/caches', { accept: 'application/json, */*' })
  t.match(table.headers['content-type'], 'text/plain')
  t.match(table.body, /^Resource, +Loaded, +Objects, +Watches, +Revision, +Events, +EventsSince$/m)
  t.match(table.body, /^secrets, +true, +1, +\d+, +\d+, +1, +\d+$/m)
  t.notMatch(table.body, 'hidden')
  const { json } = await server.get('/debug/caches?format=json')
  t.match(
    (json as unknown as Array<{ Resource: string }>).find(({ Resource }) => Resource === 'secrets'),
    { Loaded: true, Objects: 1, Events: 1 }
  )
  t.match(await server.get('/debug/caches?format=xml'), { code: 400, json: { message: 'format must be text or json' } })
})

t.test('the delay of the event loop is measured if contention profiling is on', async t => {
  const server = await build(t, { profiling: { contention: true } })
  t.match((await server.get('/debug/pprof/block')).body, /^p99 +[\d.]+ ms$/m)
})

t.test('it is authorized like any path, and a host has to enable it', async t => {
  const server = await build(t, {
    profiling: {}, authorization: { modes: ['RBAC'] }, authentication: { tokens: 'ann,ann,1\n' }
  })
  for (const path of [
    '/debug/pprof', '/debug/pprof/', '/debug/pprof/profile', '/debug/pprof/heap', '/debug/pprof/goroutine',
    '/debug/pprof/cmdline', '/debug/caches'
  ]) {
    t.equal((await server.get(path, { authorization: 'Bearer ann' })).code, 403, path)
  }
  const bare = await build(t)
  t.equal((await bare.get('/debug/pprof/')).code, 404)
})
