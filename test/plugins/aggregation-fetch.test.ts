/** How long this server waits for documents of extension servers, and when it asks for them. */
import t from 'tap'
import { discoveryFetch, documentFetch, type Exchange } from '../../plugins/aggregation/fetch.js'
import { Refreshed, type RefreshedOptions } from '../../plugins/aggregation/refreshed.js'

t.test("discovery, for which clients wait, has five seconds and is an administrator's; " +
  'other documents have the usual time', async t => {
  const deadlines: Array<number | undefined> = []
  const users: Array<string | undefined> = []
  const exchange: Exchange = async (_remote, { deadline, user }) => {
    deadlines.push(deadline)
    users.push(user.groups.join())
    return { status: 200, etag: '', body: Buffer.alloc(0) }
  }
  const remote = {} as Parameters<Exchange>[0] // not read by this exchange
  await discoveryFetch(exchange, { group: own => own })(remote, '/apis', '')
  await documentFetch(exchange)(remote, '/openapi/v2', '')
  t.same(deadlines, [5000, undefined])
  t.same(
    users, ['system:masters', 'system:authenticated'],
    'whom a server lets discover what it serves while it cannot ask who may'
  )
})

t.test('a server is asked again after a minute, and sooner after a failure; ' +
  'clients wait where nobody has asked for long', async t => {
  let now = 0
  let fails = false
  let asked = 0
  let answer = (): void => {}
  const refreshed = new Refreshed<{ said: number }>({
    services: () => [
      { name: 'v1.a', fingerprint: '1' }
    ] as unknown as ReturnType<RefreshedOptions<unknown>['services']>, // all that is read
    initial: () => ({ said: 0 }),
    update: async (_service, value) => {
      asked++
      await new Promise<void>(resolve => { answer = resolve })
      if (fails) throw new Error('refused')
      value.said++
    },
    failed: () => {},
    now: () => now
  })
  const said = async (): Promise<number | undefined> => {
    await refreshed.current()
    return refreshed.valueOf('v1.a')?.said
  }
  const answered = async (): Promise<void> => {
    answer()
    await new Promise(resolve => { setImmediate(resolve) })
  }
  const first = said()
  answer()
  t.equal(await first, 1, 'a client waits for what was never asked')
  now = 59_000
  t.equal(await said(), 1)
  t.equal(asked, 1)
  now = 61_000
  t.equal(await said(), 1, 'or gets what is known')
  t.equal(asked, 2)
  fails = true
  await answered()
  now = 65_000
  await said()
  t.equal(asked, 2)
  now = 67_000
  await said()
  t.equal(asked, 3, 'after a failure it is not a minute')
  fails = false
  await answered()
  t.equal(await said(), 2)
  now = 400_000
  const late = said()
  await answered()
  t.equal(await late, 3, 'nobody has asked for minutes')
})
