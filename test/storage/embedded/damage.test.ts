import t from 'tap'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, open as openFile, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Backend } from '../../../storage/backend.js'
import { inspect } from '../../../storage/embedded/inspection.js'
import { openEmbedded } from '../../../storage/embedded/lmdb.js'
import { done } from '../../contracts/backend.js'
import { Observed } from '../../contracts/observed.js'
import { random } from '../../random.js'

const root = await mkdtemp(path.join(tmpdir(), 'orch-damage-'))
t.teardown(() => rm(root, { recursive: true, force: true }))
let directories = 0
const fresh = () => path.join(root, `store-${++directories}`)
const fileOf = (directory: string) => path.join(directory, 'data.mdb')
const PAGE = 4096

async function table (directory: string) {
  const { open } = await import('lmdb')
  return open<Uint8Array, Uint8Array>({
    path: fileOf(directory), noSubdir: true, encoding: 'binary', keyEncoding: 'binary'
  })
}

const valueOf = (at: number): Buffer => Buffer.alloc(at % 25 === 0 ? 9000 : at % 12 === 0 ? 2500 : 200, `value ${at};`)
const keyOf = (at: number): string => `/k/${String(at).padStart(5, '0')}`

/** A store with that many objects: a third were written twice, some were deleted. */
async function filled (count: number): Promise<{
  directory: string
  there: Map<string, { revision: number, value: Buffer }>
}> {
  const directory = fresh()
  const backend = await openEmbedded(directory)
  const there = new Map<string, { revision: number, value: Buffer }>()
  await Promise.all(Array.from({ length: count }, async (_, at) => {
    let revision = done(await backend.create(keyOf(at), valueOf(at)))
    let value = valueOf(at)
    if (at % 3 === 1) {
      value = valueOf(at + 1)
      revision = done(await backend.update(keyOf(at), value, revision))
    }
    if (at % 10 === 9) await backend.delete(keyOf(at), revision)
    else there.set(keyOf(at), { revision, value })
  }))
  await backend.close()
  return { directory, there }
}

t.test('a store with fewer versions than were written is refused with both numbers and the way out', async t => {
  const { directory } = await filled(100)
  const raw = await table(directory)
  const keys = [...raw.getKeys({ start: Buffer.of(3), end: Buffer.of(4) })]
  await raw.remove(keys[50] ?? Buffer.of(0))
  await raw.close()
  await t.rejects(openEmbedded(directory), {
    code: 'Corrupt',
    message: new RegExp(
      `${directory} .*has ${keys.length - 1} versions of objects where there are to be ${keys.length}; restore it ` +
      `from a backup \\(orch-apiserver restore; fsck --data-dir=${directory}`
    )
  })
  t.match((await inspect(fileOf(directory))).problems, [/versions of objects where there are to be/])
})

t.test('the newest revision is known although its version is no longer kept', async t => {
  const directory = fresh()
  let backend = await openEmbedded(directory)
  const created = done(await backend.create('/a', Buffer.from('x')))
  const deleted = done(await backend.delete('/a', created))
  await backend.compact(deleted)
  await backend.close()
  const raw = await table(directory)
  await raw.remove(Buffer.from('\0compacted'))
  await raw.close()
  backend = await openEmbedded(directory)
  t.equal(await backend.revision(), deleted)
  await backend.close()
})

/** Ways to damage a page, on a copy of the file. */
const DAMAGES: Record<string, (page: Buffer, whole: Buffer, int: (below: number) => number) => void> = {
  'is zeroed': page => { page.fill(0) },
  'is noise': (page, _, int) => { for (let at = 0; at < page.length; at++) page[at] = int(256) },
  'is another page': (page, whole, int) => { whole.copy(page, 0, int(whole.length / PAGE) * PAGE) },
  'has a bit flipped': (page, _, int) => { const at = int(page.length); page[at] = (page[at] ?? 0) ^ (1 << int(8)) },
  'has a word of its header changed': (page, _, int) => { page.writeUInt16LE(int(65536), int(12) * 2) },
  'has a word of its index changed': (page, _, int) => { page.writeUInt16LE(int(65536), 24 + int(20) * 2) },
  'is half written': page => { page.fill(0, PAGE / 2) }
}

/** Errors in what a damaged store returns: only what it reports as damaged may be wrong. */
async function wrongIn (backend: Backend, there: Map<string, { revision: number, value: Buffer }>): Promise<string[]> {
  const { kvs } = await backend.list({ start: '/', end: '0' })
  const wrong = kvs.length === there.size ? [] : [`${kvs.length} of ${there.size} objects`]
  for (const kv of kvs) {
    const expected = there.get(kv.key)
    if (expected?.revision !== kv.modRevision) wrong.push(`${kv.key} at ${kv.modRevision}`)
    else if (kv.damage === undefined && !expected.value.equals(kv.value)) wrong.push(`${kv.key} with another value`)
  }
  return wrong
}

t.test('with any damaged page the start is refused in one line, or reads return what was written', async t => {
  const { directory, there } = await filled(600)
  const whole = await readFile(fileOf(directory))
  const { seed, int } = random()
  t.comment(`seed ${seed}`)
  const damaged = fresh()
  const counts = { refused: 0, opened: 0, values: 0 }
  for (let round = 0; round < 250; round++) {
    await rm(damaged, { recursive: true, force: true })
    await mkdir(damaged)
    const copy = Buffer.from(whole)
    const number = int(whole.length / PAGE)
    // within their number
    const [how, damage] = Object.entries(DAMAGES)[int(Object.keys(DAMAGES).length)] as [
      string, (typeof DAMAGES)[string]
    ]
    damage(copy.subarray(number * PAGE, (number + 1) * PAGE), whole, int)
    await writeFile(fileOf(damaged), copy)
    const what = `page ${number} ${how}`
    let backend
    try {
      backend = await openEmbedded(damaged)
    } catch (error) {
      counts.refused++
      const { code, message } = error as { code?: string, message: string }
      if (code !== 'Corrupt' || message.includes('\n') || !message.includes(damaged)) t.fail(`${what}: ${message}`)
      continue
    }
    counts.opened++
    const wrong = await wrongIn(backend, there)
    if (wrong.length > 0) t.fail(`${what}: ${wrong.slice(0, 3).join(', ')}`)
    const { kvs } = await backend.list({ start: '/', end: '0' })
    const values = kvs.filter(kv => kv.damage !== undefined).length
    counts.values += values
    done(await backend.create('/new', Buffer.from('x')))
    await backend.close()
    const { problems, values: found } = await inspect(fileOf(damaged))
    if (found.length < values) t.fail(`${what}: ${found.length} of ${values} damaged values are found`)
    if (problems.length > 0) t.fail(`${what}: the store was used, and then: ${problems[0]}`)
  }
  t.comment(JSON.stringify(counts))
  t.ok(counts.refused > 20 && counts.opened > 20 && counts.values > 5)
})

t.test('whatever word of a header of the file is changed, the start is refused or all is served', async t => {
  const { directory, there } = await filled(100)
  const whole = await readFile(fileOf(directory))
  const damaged = fresh()
  await mkdir(damaged)
  const counts = { refused: 0, opened: 0 }
  for (const page of [0, PAGE]) {
    for (let at = page; at < page + 176; at += 2) {
      const word = whole.readUInt16LE(at)
      for (const other of new Set([0, 0xffff, word ^ (1 << (at / 2 % 16))])) {
        const copy = Buffer.from(whole)
        copy.writeUInt16LE(other, at)
        await writeFile(fileOf(damaged), copy)
        const backend = await openEmbedded(damaged).catch((error: unknown) => { t.match(error, { code: 'Corrupt' }) })
        counts[backend === undefined ? 'refused' : 'opened']++
        if (backend === undefined) continue
        t.same(await wrongIn(backend, there), [], `word ${at} is ${other} instead of ${word}`)
        await backend.close()
      }
    }
  }
  t.ok(counts.refused > 50 && counts.opened > 50, JSON.stringify(counts))
})

t.test('a lock file that cannot be opened is an error, before LMDB can end the process', async t => {
  const directory = fresh()
  await mkdir(`${fileOf(directory)}-lock`, { recursive: true })
  await t.rejects(openEmbedded(directory), { code: 'Corrupt', message: /data\.mdb-lock/ })
})

/** Changes a byte of the stored value, which occurs once. */
async function spoil (directory: string, text: string): Promise<void> {
  const whole = await readFile(fileOf(directory))
  const at = whole.indexOf(text)
  if (at < 0) throw new RangeError(`${text} is not there`)
  const handle = await openFile(fileOf(directory), 'r+')
  await handle.write(Buffer.from('#'), 0, 1, at + 3)
  await handle.close()
}

t.test('a damaged value is reported with its object alone, which can be deleted', async t => {
  const directory = fresh()
  let backend = await openEmbedded(directory)
  const revisions = []
  for (const name of ['first', 'second', 'third']) {
    revisions.push(done(await backend.create(`/${name}`, Buffer.from(`the ${name} value`))))
  }
  await backend.close()
  await spoil(directory, 'the second value')
  backend = await openEmbedded(directory)
  const { kvs, count } = await backend.list({ start: '/', end: '0' })
  t.equal(count, 3)
  t.match(kvs.map(kv => [kv.key, kv.damage?.code, Buffer.from(kv.value).toString()]), [
    ['/first', undefined, 'the first value'], ['/second', 'Corrupt', ''], ['/third', undefined, 'the third value']
  ])
  t.match(kvs[1]?.damage, { key: '/second', message: /damaged value of \/second at revision/ })
  t.match((await backend.get('/second')).kv, { modRevision: revisions[1], damage: { code: 'Corrupt' } })
  t.match(await backend.create('/second', Buffer.from('x')), {
    succeeded: false, current: { damage: { code: 'Corrupt' } }
  })
  const watch = new Observed(backend, '/', '0', 1)
  await watch.upTo(revisions[2] ?? 0)
  t.strictSame(watch.events.map(event => event.kv.damage?.code), [undefined, 'Corrupt', undefined])
  done(await backend.delete('/second', revisions[1] ?? 0))
  t.ok((await backend.list({ start: '/', end: '0' })).kvs.every(kv => kv.damage === undefined))
  await backend.close()
  t.match(await inspect(fileOf(directory)), {
    problems: [], values: [/the value of \/second at revision \d+ does not have its checksum/], versions: 4, keys: 2
  })
})

t.test('the page of a large value is mended before LMDB frees pages by it, and its value stays damaged', async t => {
  const directory = fresh()
  let backend = await openEmbedded(directory)
  const revisions = []
  for (const name of ['first', 'second', 'third']) {
    revisions.push(done(await backend.create(`/${name}`, Buffer.alloc(9000, `the ${name} value;`))))
  }
  await backend.close()
  const whole = await readFile(fileOf(directory))
  const page = Math.floor(whole.indexOf('the second value') / PAGE) * PAGE
  for (const [from, to, damaged] of [[0, PAGE, true], [0, 24, false], [16, 24, false]] as const) {
    const copy = fresh()
    await mkdir(copy)
    await writeFile(
      fileOf(copy),
      Buffer.concat([whole.subarray(0, page + from), Buffer.alloc(to - from, 0xee), whole.subarray(page + to)])
    )
    t.match(await inspect(fileOf(copy)), {
      problems: [],
      values: [/the value of \/second at revision \d+ (does not have its checksum|lies on a damaged page)/]
    })
    const notes: string[] = []
    backend = await openEmbedded(copy, { note: text => { notes.push(text) } })
    t.match(notes, [/a page of the value of \/second was damaged/])
    const { kvs } = await backend.list({ start: '/', end: '0' })
    t.strictSame(kvs.map(kv => [kv.key, kv.damage?.code]), [
      ['/first', undefined], ['/second', damaged ? 'Corrupt' : undefined], ['/third', undefined]
    ])
    if (!damaged) {
      t.same((await readFile(fileOf(copy))).subarray(page, page + PAGE), whole.subarray(page, page + PAGE), 'as it was')
    }
    const deleted = done(await backend.delete('/second', revisions[1] ?? 0))
    await backend.compact(deleted)
    for (let at = 0; at < 20; at++) done(await backend.create(`/more/${at}`, Buffer.alloc(9000, 'x')))
    await backend.close()
    t.match(await inspect(fileOf(copy)), { problems: [], values: [], keys: 22 })
  }
})

const versionKey = (revision: number, created: number, key: string): Buffer => {
  const bytes = Buffer.alloc(19 + key.length)
  bytes[0] = 2
  bytes.writeUIntBE(revision, 1, 6)
  bytes.writeUIntBE(created, 7, 6)
  bytes.write(key, 19, 'latin1')
  return bytes
}

t.test('a store of the first format opens, accepts writes and is checked from then on', async t => {
  const directory = fresh()
  await mkdir(directory)
  const raw = await table(directory)
  await raw.put(Buffer.from('\0format'), Buffer.from('orch-store 1'))
  await raw.put(versionKey(2, 2, '/a'), Buffer.from('{"a":1}'))
  await raw.put(versionKey(3, 3, '/b'), Buffer.from('{"b":1}'))
  await raw.put(versionKey(4, 2, '/a'), Buffer.from('{"a":2}'))
  await raw.put(versionKey(5, 0, '/b'), Buffer.alloc(0))
  await raw.close()

  let backend = await openEmbedded(directory)
  t.equal(await backend.revision(), 5)
  t.equal(Buffer.from((await backend.get('/a')).kv?.value ?? []).toString(), '{"a":2}')
  t.equal(Buffer.from((await backend.get('/b', 3)).kv?.value ?? []).toString(), '{"b":1}')
  await backend.close()
  t.match(
    await inspect(fileOf(directory)), { problems: [], values: [], versions: 4, keys: 1 }, 'reading has changed nothing'
  )

  const notes: string[] = []
  backend = await openEmbedded(directory, { note: text => { notes.push(text) } })
  t.strictSame(notes, [])
  const updated = done(await backend.update('/a', Buffer.from('{"a":3}'), 4))
  done(await backend.create('/c', Buffer.from('{"c":1}')))
  t.match(notes, [
    /^the store \S+ is of the format 'orch-store 2' from now on, it was 'orch-store 1': releases that know only 'orch-store 1' can read it no longer; to go back to one, restore a backup from before$/
  ])
  t.equal(notes.length, 1)
  await backend.compact(updated)
  await backend.close()
  backend = await openEmbedded(directory)
  t.match(
    (await backend.list({ start: '/', end: '0' })).kvs.map(kv => [
      kv.key, kv.createRevision, kv.modRevision, Buffer.from(kv.value).toString()
    ]),
    [['/a', 2, updated, '{"a":3}'], ['/c', 7, 7, '{"c":1}']]
  )
  await backend.close()
  t.match(await inspect(fileOf(directory)), { problems: [], values: [], versions: 2 })
  const after = await table(directory)
  t.equal(after.getBinary(Buffer.from('\0format'))?.toString(), 'orch-store 2')
  await after.remove([...after.getKeys({ start: Buffer.of(2), end: Buffer.of(4) })][0] ?? Buffer.of(0))
  await after.close()
  await t.rejects(openEmbedded(directory), { message: /has 1 versions of objects where there are to be 2/ })
})

t.test('after a start that died while it opened the store the next one checks all of it and logs that', async t => {
  const { directory } = await filled(50)
  t.notOk(existsSync(path.join(directory, 'opening')))
  await writeFile(path.join(directory, 'opening'), '')
  const notes: string[] = []
  const backend = await openEmbedded(directory, { note: text => { notes.push(text) } })
  await backend.close()
  t.match(notes, [
    /the last start ended while it was opening the store in .*: all of it was read, nothing is damaged \(orch-apiserver fsck/
  ])
  t.notOk(existsSync(path.join(directory, 'opening')))

  const intact = path.join(root, 'intact.mdb')
  await copyFile(fileOf(directory), intact)
  await spoil(directory, 'value 1;')
  await writeFile(path.join(directory, 'opening'), '')
  await (await openEmbedded(directory, { note: text => { notes.push(text) } })).close()
  t.match(notes[1], /1 values are damaged, the first is: the value of \/k\/00001 at revision/)

  await copyFile(intact, fileOf(directory))
  const raw = await table(directory)
  await raw.remove([...raw.getKeys({ start: Buffer.of(3), end: Buffer.of(4) })][0] ?? Buffer.of(0))
  await raw.close()
  await writeFile(path.join(directory, 'opening'), '')
  await t.rejects(openEmbedded(directory), { message: /found as the last start ended while it was opening it/ })
})
