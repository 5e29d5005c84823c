/** The format of a store in etcd: marked once, raised once, and respected by releases that are too old. */
import t from 'tap'
import { openEtcd, type EtcdOptions } from '../../../storage/etcd/backend.js'
import { CallError, failureOf } from '../../../storage/etcd/failures.js'
import { CheckedConnection } from '../../../storage/etcd/format.js'
import type { Backend } from '../../../storage/backend.js'
import { startEtcd } from '../../etcd-process.js'

const etcd = await startEtcd(t)
const KEY = '/p/.format'

interface Opened { readonly backend: Backend, readonly heard: string[] }

function opened (known: number, prefix = '/p'): Opened {
  const heard: string[] = []
  const format: EtcdOptions['format'] = {
    known,
    note: (text, level) => { heard.push(`${level} ${text}`) },
    refused: ({ message }) => { heard.push(`refused ${message}`) }
  }
  const backend = openEtcd({ servers: [etcd.url], prefix, format })
  t.teardown(() => backend.close())
  return { backend, heard }
}

const plain = openEtcd({ servers: [etcd.url] })
t.teardown(() => plain.close())
const mark = async (): Promise<string | undefined> => {
  const { kv } = await plain.get(KEY)
  return kv && Buffer.from(kv.value).toString()
}

t.test('of concurrent starts one marks the store, and later starts write nothing', async t => {
  const servers = Array.from({ length: 8 }, () => opened(1))
  await Promise.all(servers.map(({ backend }) => backend.revision()))
  t.equal(await mark(), '1')
  t.strictSame(servers.flatMap(({ heard }) => heard), [
    'info the store below /p in etcd is marked as format 1: releases that know only older formats end their start there'
  ])
  const before = await plain.revision()
  const again = opened(1)
  t.equal(await again.backend.revision(), before)
  t.strictSame(again.heard, [])
})

t.test('a newer release raises the format, once, and says who can read it no longer', async t => {
  const servers = Array.from({ length: 4 }, () => opened(2))
  await Promise.all(servers.map(({ backend }) => backend.create(`/p/${Math.random()}`, Buffer.from('x'))))
  t.equal(await mark(), '2')
  t.strictSame(servers.flatMap(({ heard }) => heard), [
    'warn the store below /p in etcd is of format 2 from now on, it was of format 1: releases that know only format ' +
    '1 can read it no longer; end those that still run'
  ])
})

t.test('an older release reads and writes nothing, and names the way out', async t => {
  const { backend, heard } = opened(1)
  const why =
    /^the store below --etcd-prefix=\/p is of format 2, this release reads up to format 1: start the release that wrote it, or a newer one, or name another --etcd-prefix$/
  const first = backend.get('/p/a').catch(() => { heard.push('a call failed') })
  await first
  t.match(heard, [/^refused /, 'a call failed'], 'the refusal is reported before any call fails')
  const before = await plain.revision()
  for (const call of [
    (): Promise<unknown> => backend.get('/p/a'), () => backend.list({ start: '/p/', end: '/p0' }),
    () => backend.count('/p/', '/p0'), () => backend.create('/p/a', Buffer.from('x')),
    () => backend.update('/p/a', Buffer.from('x'), 1),
    () => backend.delete('/p/a', 1), () => backend.compact(1), () => backend.revision(), () => backend.status(),
    () => backend.lease(10)
  ]) await t.rejects(async () => { await call() }, { name: 'StorageError', code: 'Unavailable', message: why })
  t.equal(heard.filter(line => line.startsWith('refused')).length, 1)
  t.equal(await plain.revision(), before)
  const other = opened(1, '/elsewhere')
  await other.backend.revision()
  t.match(other.heard, [/^info /], 'another prefix is another store')
})

t.test('a mark that is no number is refused', async t => {
  for (const value of ['', 'two', '0', '-1', '1.5', '9999999999']) {
    const { kv } = await plain.get('/q/.format')
    await (kv === undefined
      ? plain.create('/q/.format', Buffer.from(value))
      : plain.update('/q/.format', Buffer.from(value), kv.modRevision))
    await t.rejects(
      opened(1, '/q').backend.get('/q/a'), { message: /^the store below --etcd-prefix=\/q is of format / }, value
    )
  }
})

t.test('while etcd is away calls fail as ever, and the check is made when it is back', async t => {
  await etcd.kill()
  const { backend, heard } = opened(3)
  await t.rejects(backend.get('/p/a'), { code: 'Unavailable', message: /ECONNREFUSED/ })
  t.strictSame(heard, [])
  await etcd.start()
  t.match(await backend.get('/p/a'), { kv: undefined })
  t.match(heard, [/^warn .* is of format 3 from now on/])
})

type Calls = ConstructorParameters<typeof CheckedConnection>[0]
const kv = (format: string, modRevision: number) => ({
  key: KEY, value: Buffer.from(format), createRevision: 1, modRevision
})

t.test('a store that refuses writes is read, and a check whose answer is lost is repeated', async t => {
  const answer = { revision: 1, kvs: [], more: false, count: 0 }
  const heard: string[] = []
  const checked = (txn: Calls['txn']): CheckedConnection => new CheckedConnection({
    range: async () => answer, txn, failure: (error: CallError) => failureOf(error), close: () => {}
  } as unknown as Calls, // nothing else is called
  {
    prefix: '/p',
    known: 1,
    note: (text, level) => { heard.push(`${level} ${text}`) },
    refused: () => { t.fail('refused') }
  })
  const full = checked(async () => {
    throw new CallError(
      Object.assign(new Error('etcdserver: mvcc: database space exceeded'), { code: 8 }), 'http://etcd'
    )
  })
  t.equal(await full.range({ key: Buffer.from('/p/a') }), answer)
  t.match(heard.splice(0), [
    /^warn the format of the store could not be written to \/p\/\.format in etcd, the next start tries again: .*space exceeded/
  ])

  const compared: number[] = []
  const answers = [
    () => { throw new CallError(new Error('lost'), 'http://etcd') },
    () => ({ revision: 9, succeeded: false, kv: kv('1', 8) })
  ]
  const lost = checked(async ({ expected }) => {
    compared.push(expected)
    const next = answers.shift()
    if (next === undefined) throw new Error('one too many')
    return next()
  })
  await t.rejects(lost.range({ key: Buffer.from('/p/a') }), { code: 'Unavailable' })
  t.equal(await lost.range({ key: Buffer.from('/p/a') }), answer)
  t.strictSame(compared, [0, 0])
  t.strictSame(heard, [], 'the other server said it')
})
