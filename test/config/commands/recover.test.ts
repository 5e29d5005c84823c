/** `orch-apiserver recover`: what is readable of a damaged store becomes a snapshot, and what is not is listed. */
import t from 'tap'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../../../config/commands/run.js'
import { openBackend } from '../../../storage/open.js'

const root = mkdtempSync(join(tmpdir(), 'orch-recover-'))
t.teardown(() => { rmSync(root, { recursive: true, force: true }) })
let folders = 0
const folderOf = (): string => join(root, `store-${++folders}`)

async function run (
  name: 'recover' | 'restore', ...args: string[]
): Promise<{ code: number, out: string, err: string }> {
  const said = { out: '', err: '' }
  const code = await runCommand(name, args, {
    stdout: { write: text => { said.out += text } }, stderr: { write: text => { said.err += text } }
  })
  return { code, ...said }
}

const text = (name: string, at = 1): Buffer => Buffer.alloc(6000, `version ${at} of ${name};`)

/** `one`: two versions; `two`; `gone`: made and deleted. */
async function store (more = 0): Promise<string> {
  const directory = folderOf()
  const backend = await openBackend({ kind: 'embedded', directory })
  for (const name of ['one', 'two', 'gone']) await backend.create(`/registry/${name}`, text(name))
  for (const name of ['one', 'gone']) {
    const revision = (await backend.get(`/registry/${name}`)).kv?.modRevision ?? 0
    if (name === 'one') await backend.update(`/registry/${name}`, text(name, 2), revision)
    else await backend.delete(`/registry/${name}`, revision)
  }
  for (let at = 0; at < more; at++) {
    await backend.create(`/registry/more/${String(at).padStart(5, '0')}`, Buffer.from(`value ${at}`))
  }
  await backend.close()
  return directory
}

function damage (directory: string, change: (bytes: Buffer) => void): void {
  const file = join(directory, 'data.mdb')
  const bytes = readFileSync(file)
  change(bytes)
  writeFileSync(file, bytes)
}

/** What a restored store has. */
async function restored (t: typeof import('tap'), file: string): Promise<Map<string, string>> {
  const directory = folderOf()
  t.match(await run('restore', file, `--data-dir=${directory}`), { code: 0 })
  const backend = await openBackend({ kind: 'embedded', directory })
  const { kvs } = await backend.list({ start: '/registry/', end: '/registry0' })
  await backend.close()
  return new Map(kvs.map(({ key, value }) => [key, Buffer.from(value).toString().slice(0, 24).split(';')[0] ?? '']))
}

t.test('a store without damage is written whole', async t => {
  const directory = await store()
  const { code, out, err } = await run('recover', directory)
  t.match(
    { code, out, err },
    {
      code: 0,
      err: '',
      out: new RegExp(
        `^wrote ${directory}\\.recovered: 2 objects.*with 0 damages; now orch-apiserver restore ` +
        `${directory}\\.recovered --data-dir=NEW`
      )
    }
  )
  t.strictSame(
    [...await restored(t as never, `${directory}.recovered`)],
    [['/registry/one', 'version 2 of one'], ['/registry/two', 'version 1 of two']]
  )
  t.match(await run('recover', directory), { code: 1, err: /exists already; name another file, or give --force/ })
  t.match(await run('recover', directory, '--force'), { code: 0 })
})

t.test('of a damaged value an older one is taken, or its object is lost; both are listed', async t => {
  const directory = await store()
  damage(directory, bytes => {
    for (const value of ['version 2 of one;', 'version 1 of two;']) bytes.write('#', bytes.indexOf(value) + 100)
  })
  const file = join(root, 'values.snapshot')
  const { code, err, out } = await run('recover', directory, `--output=${file}`)
  t.equal(code, 0)
  t.match(
    err,
    /^\/registry\/one is as of revision 2: the value of revision \d cannot be read\n\/registry\/two is lost: no version of it can be read\n$/
  )
  t.match(out, /with 2 damages/)
  t.strictSame([...await restored(t as never, file)], [['/registry/one', 'version 1 of one']])
})

t.test('what lies on other pages than the damaged one is recovered', async t => {
  const directory = await store(2000)
  let leaf = 0
  damage(directory, bytes => {
    const leaves = Array.from({ length: bytes.length / 4096 - 2 }, (_, at) => at + 2).filter(at =>
      (bytes.readUInt16LE(at * 4096 + 18) & 0x0f) === 2)
    leaf = leaves[Math.floor(leaves.length / 2)] ?? 0
    bytes.fill(0, leaf * 4096 + 24, (leaf + 1) * 4096)
  })
  const file = join(root, 'pages.snapshot')
  const { code, err } = await run('recover', directory, `--output=${file}`)
  t.equal(code, 0)
  t.match(err, new RegExp(`page ${leaf} has a damaged`))
  const found = await restored(t as never, file)
  t.ok(found.size > 1800 && found.size <= 2002, `${found.size} objects`)
  for (const [key, value] of found) if (key.includes('/more/')) t.equal(value, `value ${Number(key.slice(-5))}`, key)
})

t.test('what lies below a damaged page that leads to others is recovered, and nothing that was deleted', async t => {
  const directory = await store(2000)
  let branches: number[] = []
  damage(directory, bytes => {
    branches = Array.from({ length: bytes.length / 4096 - 2 }, (_, at) => at + 2)
      .filter(at => bytes.readUIntLE(at * 4096, 6) === at && (bytes.readUInt16LE(at * 4096 + 18) & 0x0f) === 1)
    for (const branch of branches) bytes.fill(0xa5, branch * 4096, (branch + 1) * 4096)
  })
  t.ok(branches.length > 0)
  const file = join(root, 'branches.snapshot')
  const { code, err } = await run('recover', directory, `--output=${file}`)
  t.equal(code, 0)
  t.match(err, /page \d+ is not what belongs there\n/)
  t.match(err, /\n\d+ records were found on \d+ pages that no readable page leads to\n/)
  const found = await restored(t as never, file)
  t.equal(found.size, 2002)
  t.equal(found.get('/registry/one'), 'version 2 of one')
  t.notOk(found.has('/registry/gone'))
  for (const [key, value] of found) if (key.includes('/more/')) t.equal(value, `value ${Number(key.slice(-5))}`, key)
})

t.test('a store that is in use, is not there, or of which nothing can be read', async t => {
  const directory = await store()
  const backend = await openBackend({ kind: 'embedded', directory })
  t.match(await run('recover', directory), { code: 1, err: /^orch-apiserver recover: .*: stop that one first\n$/ })
  await backend.close()
  t.match(await run('recover', join(root, 'nothing')), { code: 1, err: /there is no store in .*nothing/ })
  damage(directory, bytes => { bytes.fill(0, 0, 8192) })
  t.match(await run('recover', directory), {
    code: 1, err: /nothing can be read of the store in .*: its file is not an LMDB file/
  })
  t.match(await run('recover'), { code: 1, err: /FOLDER is missing/ })
})
