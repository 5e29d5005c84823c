/** Interface, 'Resource version semantics': every cell of its tables, against states that distinguish them. */
import t from 'tap'
import { BINDINGS, build, binding, type Client, type Json, type Answer } from '../build.js'
import { ownTime } from '../own-time.js'

const names = (json: Json): string[] => json.items?.map(({ metadata }: Json) => metadata.name)
const list = (server: Client, query: string): Promise<Answer> => server.get(`${BINDINGS}?${query}`)

interface World {
  readonly server: Client
  /** Versions of the store with a; with a and b; with a, b and c, the newest. */
  readonly one: string
  readonly two: string
  readonly now: string
}

async function world (t: Parameters<typeof build>[0]): Promise<World> {
  const server = await build(t)
  const add = async (name: string): Promise<string> => {
    await server.post(BINDINGS, binding(name))
    return (await server.get(BINDINGS)).json.metadata.resourceVersion
  }
  return { server, one: await add('a'), two: await add('b'), now: await add('c') }
}

t.test('get: most recent, any, not older than', async t => {
  const { server, one, now } = await world(t)
  const { json } = await server.patch(`${BINDINGS}/a`, { metadata: { labels: { newest: 'yes' } } })
  t.equal(
    (await server.get(`${BINDINGS}/a`)).json.metadata.resourceVersion, json.metadata.resourceVersion,
    'unset is the most recent'
  )
  t.equal(
    (await server.get(`${BINDINGS}/a?resourceVersion=`)).json.metadata.resourceVersion, json.metadata.resourceVersion
  )
  t.equal((await server.get(`${BINDINGS}/a?resourceVersion=0`)).code, 200, '0 is any')
  for (const version of [one, now, json.metadata.resourceVersion]) {
    const found = await server.get(`${BINDINGS}/a?resourceVersion=${version}`)
    t.equal(found.code, 200)
    t.ok(Number(found.json.metadata.resourceVersion) <= Number(json.metadata.resourceVersion))
  }
  t.equal(
    (await server.get(`${BINDINGS}/a?resourceVersion=${json.metadata.resourceVersion}`)).json.metadata.labels?.newest,
    'yes', 'at least as new as that'
  )
  t.equal((await server.get(`${BINDINGS}/none?resourceVersion=0`)).code, 404)
})

t.test('list, match unset, limit unset: most recent, any, not older than', async t => {
  const { server, one, now } = await world(t)
  t.same(names((await list(server, '')).json), ['a', 'b', 'c'])
  t.equal((await list(server, 'resourceVersion=0')).code, 200)
  const older = await list(server, `resourceVersion=${one}`)
  t.equal(older.code, 200)
  t.ok(Number(older.json.metadata.resourceVersion) >= Number(one))
  const latest = await list(server, `resourceVersion=${now}`)
  t.same(names(latest.json), ['a', 'b', 'c'])
  t.ok(Number(latest.json.metadata.resourceVersion) >= Number(now))
})

t.test('list, match unset, with limit: most recent, any, exact', async t => {
  const { server, one, two, now } = await world(t)
  t.same(names((await list(server, 'limit=10')).json), ['a', 'b', 'c'])
  t.equal((await list(server, 'limit=10&resourceVersion=0')).code, 200)
  for (const [version, wanted] of [[one, ['a']], [two, ['a', 'b']], [now, ['a', 'b', 'c']]] as const) {
    const { code, json } = await list(server, `limit=10&resourceVersion=${version}`)
    t.equal(code, 200)
    t.same(names(json), wanted)
    t.equal(json.metadata.resourceVersion, version, 'the version of the list is that of the request')
  }
})

t.test('list, match unset, with continue: the token\'s version; 0 is treated so, others are 400', async t => {
  const { server, one, two, now } = await world(t)
  const first = (await list(server, `limit=1&resourceVersion=${two}`)).json
  const token = first.metadata.continue
  for (const query of ['', '&resourceVersion=', '&resourceVersion=0', `&resourceVersion=${two}`]) {
    const { code, json } = await list(server, `limit=5&continue=${token}${query}`)
    t.equal(code, 200, query)
    t.same(names(json), ['b'])
    t.equal(json.metadata.resourceVersion, two)
  }
  for (const version of [one, now, '1', '999999']) {
    t.match(await list(server, `limit=5&continue=${token}&resourceVersion=${version}`), {
      code: 400, json: { reason: 'BadRequest' }
    })
  }
})

t.test('list, Exact: invalid unset and for 0, else just that version, with limit and without', async t => {
  const { server, one, two, now } = await world(t)
  for (const limit of ['', '&limit=10']) {
    t.equal((await list(server, `resourceVersionMatch=Exact${limit}`)).code, 400)
    t.equal((await list(server, `resourceVersionMatch=Exact&resourceVersion=${limit}`)).code, 400)
    t.equal((await list(server, `resourceVersionMatch=Exact&resourceVersion=0${limit}`)).code, 400)
    for (const [version, wanted] of [[one, ['a']], [two, ['a', 'b']], [now, ['a', 'b', 'c']]] as const) {
      const { code, json } = await list(server, `resourceVersionMatch=Exact&resourceVersion=${version}${limit}`)
      t.equal(code, 200)
      t.same(names(json), wanted)
      t.equal(json.metadata.resourceVersion, version)
    }
  }
})

t.test('list, NotOlderThan: invalid unset, any for 0, else not older than, with limit and without', async t => {
  const { server, one, now } = await world(t)
  for (const limit of ['', '&limit=10']) {
    t.equal((await list(server, `resourceVersionMatch=NotOlderThan${limit}`)).code, 400)
    t.equal((await list(server, `resourceVersionMatch=NotOlderThan&resourceVersion=${limit}`)).code, 400)
    t.equal((await list(server, `resourceVersionMatch=NotOlderThan&resourceVersion=0${limit}`)).code, 200)
    const older = await list(server, `resourceVersionMatch=NotOlderThan&resourceVersion=${one}${limit}`)
    t.equal(older.code, 200)
    t.ok(Number(older.json.metadata.resourceVersion) >= Number(one))
    t.same(
      names((await list(server, `resourceVersionMatch=NotOlderThan&resourceVersion=${now}${limit}`)).json),
      ['a', 'b', 'c']
    )
  }
  t.ok(
    (await list(server, `resourceVersionMatch=NotOlderThan&resourceVersion=${one}&limit=1`)).json.metadata.continue,
    'with pages'
  )
})

t.test('an unknown match, and a match beside a token, are 400', async t => {
  const { server, now } = await world(t)
  for (const match of ['exact', 'Newest', 'Any']) {
    t.match(await list(server, `resourceVersion=${now}&resourceVersionMatch=${match}`), {
      code: 400, json: { reason: 'BadRequest' }
    })
  }
  const { continue: token } = (await list(server, 'limit=1')).json.metadata
  for (const match of ['Exact', 'NotOlderThan']) {
    t.equal(
      (await list(server, `continue=${token}&limit=1&resourceVersion=${now}&resourceVersionMatch=${match}`)).code, 400
    )
  }
})

t.test('items keep the versions of their own last update', async t => {
  const { server, one, now } = await world(t)
  const found = (await list(server, `resourceVersion=${now}&resourceVersionMatch=Exact`)).json
  t.equal(found.items[0].metadata.resourceVersion, one)
  for (const { metadata } of found.items) {
    t.equal(metadata.resourceVersion, (await server.get(`${BINDINGS}/${metadata.name}`)).json.metadata.resourceVersion)
  }
})

t.test('versions the server has not reached are a 504 after a short wait, with when to try again', async t => {
  const { server, now } = await world(t)
  const future = String(Number(now) + 100_000)
  const since = ownTime()
  const answers = await Promise.all([
    `${BINDINGS}/a?resourceVersion=${future}`, `${BINDINGS}?resourceVersion=${future}`,
    `${BINDINGS}?resourceVersion=${future}&limit=5`, `${BINDINGS}?resourceVersion=${future}&resourceVersionMatch=Exact`,
    `${BINDINGS}?resourceVersion=${future}&resourceVersionMatch=NotOlderThan`,
    `${BINDINGS}?resourceVersion=9007199254740991`
  ].map(url => server.get(url)))
  t.ok(ownTime() - since < 20_000)
  for (const answer of answers) {
    t.match(answer, {
      code: 504,
      json: { kind: 'Status', status: 'Failure', reason: 'Timeout', code: 504, message: /Too large resource version/ },
      headers: { 'retry-after': /^\d+$/ }
    })
    t.ok((answer.json.details.causes as Json[]).some(({ reason }) => reason === 'ResourceVersionTooLarge'))
  }
})

t.test('a read of a version about to come waits for it', async t => {
  const { server, now } = await world(t)
  const next = Number(now) + 1
  const waiting = [
    server.get(`${BINDINGS}/a?resourceVersion=${next}`), list(server, `resourceVersion=${next}`),
    list(server, `resourceVersion=${next}&resourceVersionMatch=Exact`)
  ]
  await new Promise(resolve => { setTimeout(resolve, 50) })
  await server.post(BINDINGS, binding('d'))
  const [one, notOlder, exact] = await Promise.all(waiting)
  t.equal(one?.code, 200)
  t.same(names(notOlder?.json ?? {}), ['a', 'b', 'c', 'd'])
  t.same(names(exact?.json ?? {}), ['a', 'b', 'c', 'd'])
})

t.test('Exact of a version no longer kept is 410', async t => {
  const server = await build(t, { storage: { compactionInterval: 20 } })
  await server.post(BINDINGS, binding('a'))
  const { resourceVersion } = (await server.get(BINDINGS)).json.metadata
  const ask = (): Promise<Answer[]> => Promise.all([
    `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`, `resourceVersion=${resourceVersion}&limit=5`
  ].map(query => list(server, query)))
  let answers = await ask()
  for (const deadline = Date.now() + 60_000; answers.some(({ code }) => code === 200) && Date.now() < deadline;) {
    await server.patch(`${BINDINGS}/a`, { metadata: { labels: { now: String(performance.now()) } } })
    await new Promise(resolve => { setTimeout(resolve, 5) })
    answers = await ask()
  }
  for (const answer of answers) t.match(answer, { code: 410, json: { kind: 'Status', reason: 'Expired', code: 410 } })
  t.equal((await list(server, `resourceVersion=${resourceVersion}`)).code, 200, 'not older than it is the newest')
  t.equal((await list(server, '')).code, 200)
})

t.test('a read sees every write that finished before it', async t => {
  const server = await build(t)
  for (let index = 0; index < 200; index++) {
    const { json } = await server.put(`${BINDINGS}/a`, binding('a', { metadata: { labels: { index: String(index) } } }))
    const [one, all] = await Promise.all([server.get(`${BINDINGS}/a`), server.get(BINDINGS)])
    if (one.json.metadata.labels.index !== String(index) || all.json.items[0].metadata.labels.index !== String(index)) {
      return t.fail(`write ${index} was not seen`)
    }
    if (Number(all.json.metadata.resourceVersion) < Number(json.metadata.resourceVersion)) {
      return t.fail('a list of an older version')
    }
  }
  return t.pass('200 times')
})
