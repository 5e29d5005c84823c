/** Processes that are alive and do nothing, as in an endless loop. */
import t from 'tap'
import { fileURLToPath } from 'node:url'
import { ask, CONFIGS, eventually, kept, processesIn, several, total } from './server.js'

const ALL_REQUESTS = /^apiserver_request_total\{.*$/gm

t.test('processes that hang are noticed, killed and replaced, and nothing is lost', { timeout: 300_000 }, async t => {
  const server = await several(t, 2)
  const { port, pidOf, log } = server
  for (const agent of [kept(t), kept(t)]) {
    t.equal(
      (await ask(port, 'POST', CONFIGS, JSON.stringify({ metadata: { generateName: 'before-' } }), agent))?.code, 201
    )
  }
  const counted = async (): Promise<number> => total((await ask(port, 'GET', '/metrics'))?.text ?? '', ALL_REQUESTS)
  const before = await counted()
  const stopped = ['2', 'store'].map(pidOf)
  for (const pid of stopped) process.kill(pid, 'SIGSTOP')
  t.teardown(() => { for (const pid of stopped) try { process.kill(pid, 'SIGKILL') } catch {} }) // they have ended
  // From a second on, at most the connection that the process was given first waits for it.
  await new Promise(resolve => { setTimeout(resolve, 2500) })
  let waiting = 0
  const reads = Array.from({ length: 12 }, async () => {
    waiting++
    const answer = await ask(port, 'GET', CONFIGS)
    waiting--
    return answer?.code
  })
  await eventually('the other process has answered', () => waiting <= 1)
  t.equal(pidOf('2'), stopped[0], 'long before it is replaced')
  const write = async (): Promise<number | undefined> =>
    (await ask(port, 'POST', CONFIGS, JSON.stringify({ metadata: { name: 'meanwhile' } })))?.code
  const first = await write()
  t.ok(
    first === 201 || first === 504,
    `the write waits for the next process of the store, or says that its outcome is not known: ${first}`
  )
  t.ok([201, 409].includes(await write() ?? 0), 'the next process of the store takes writes')
  t.same(new Set(await Promise.all(reads)), new Set([200]))
  await eventually('both are replaced', async () =>
    stopped.every(pid => !server.children().includes(pid)) && await processesIn(port) === 2)
  t.match(log(), /ERROR serving process 2 \(pid \d+\) hangs: it has not answered for 15 s and is killed/)
  t.match(log(), /ERROR the process of the store \(pid \d+\) ended by SIGKILL and is replaced/)
  t.equal((await ask(port, 'GET', `${CONFIGS}/meanwhile`))?.code, 200)
  const after = await counted()
  t.ok(after >= before, `the sum of a counter was ${before} and is ${after}`)
})

t.test('a request that makes a process hang is named, its like are refused, ' +
  'and however many hang, the server serves', { timeout: 300_000 }, async t => {
  const server = await several(t, 2, [], undefined, ['--import', fileURLToPath(new URL('stalls.js', import.meta.url))])
  const { port, pidOf, log } = server
  const create = (name: string, path = CONFIGS): ReturnType<typeof ask> =>
    ask(port, 'POST', path, JSON.stringify({ metadata: { name } }))
  t.equal(await create('never ends'), undefined, 'its connection ends with its process')
  await eventually('its like are refused', async () => (await create('a'))?.code === 429)
  t.equal((await create('b', CONFIGS.replace('configmaps', 'secrets')))?.code, 201, 'others are served')
  t.equal((await ask(port, 'GET', CONFIGS))?.code, 200)
  t.match(
    log(),
    /hangs: it has not answered for 15 s and is killed; it works for a request, create of "configmaps" in the namespace "default" by user "bench"/
  )
  await eventually('it is replaced', async () => await processesIn(port) === 2)
  for (let at = 0; at < 5; at++) t.equal((await create(`c${at}`))?.code, 429, 'by the next process, too')
  // Four more, which with the first would be too many processes that end.
  for (let round = 0; round < 2; round++) {
    const stopped = ['1', '2'].map(pidOf)
    for (const pid of stopped) process.kill(pid, 'SIGSTOP')
    await eventually('both are replaced', async () =>
      !stopped.some(pid => server.children().includes(pid)) && await processesIn(port) === 2)
  }
  t.match(log(), /hangs: it has not answered for 15 s and is killed; it is not known what it works for/)
  t.match(log(), /ended by SIGKILL and is replaced, after hang 5 of this server/)
  t.equal((await ask(port, 'GET', CONFIGS))?.code, 200)
})
