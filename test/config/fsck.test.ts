import t from 'tap'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openBackend } from '../../storage/open.js'

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'orch-fsck-'))
t.teardown(() => { rmSync(root, { recursive: true, force: true }) })
let directories = 0

const run = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8', timeout: 30_000 })
  return { status, stdout, stderr }
}

async function store (): Promise<string> {
  const directory = join(root, `store-${++directories}`)
  const backend = await openBackend({ kind: 'embedded', directory })
  for (const name of ['one', 'two', 'three']) {
    await backend.create(`/registry/${name}`, Buffer.alloc(5000, `the value of ${name};`))
  }
  await backend.close()
  return directory
}

t.test('a clean store is reported as clean, with exit code 0, and nothing is changed', async t => {
  const directory = await store()
  const before = readFileSync(join(directory, 'data.mdb'))
  t.strictSame(
    run('fsck', `--data-dir=${directory}`),
    { status: 0, stdout: 'clean: 3 objects in 3 versions, 15044 bytes\n', stderr: '' }
  )
  t.ok(readFileSync(join(directory, 'data.mdb')).equals(before))
})

t.test('a store that is mounted read-only is read, by recover too', async t => {
  const directory = await store()
  const names = readdirSync(directory)
  const namespace = process.getuid?.() === 0 ? ['--mount'] : ['--map-root-user', '--mount']
  const readOnly = (...args: string[]) => {
    const script =
      'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && ! touch "$0/new" 2>/dev/null && exec "$@"'
    const { status, stdout, stderr } = spawnSync(
      'unshare', [...namespace, 'sh', '-c', script, directory, process.execPath, CLI, ...args],
      { encoding: 'utf8', timeout: 30_000 }
    )
    return { status, stdout, stderr }
  }
  t.strictSame(
    readOnly('fsck', `--data-dir=${directory}`),
    { status: 0, stdout: 'clean: 3 objects in 3 versions, 15044 bytes\n', stderr: '' }
  )
  t.match(
    readOnly('recover', directory, `--output=${directory}.snapshot`),
    { status: 0, stdout: /^wrote .*\.snapshot: 3 objects/, stderr: '' }
  )
  t.strictSame(readdirSync(directory), names)
  const backend = await openBackend({ kind: 'embedded', directory })
  t.match(
    readOnly('recover', directory, `--output=${directory}.other`), { status: 1, stderr: /in use by another server/ },
    'another mount of it may be in use'
  )
  await backend.close()
})

t.test('every damaged value is named, with exit code 1', async t => {
  const directory = await store()
  const file = join(directory, 'data.mdb')
  const bytes = readFileSync(file)
  for (const name of ['one', 'three']) bytes.write('#', bytes.indexOf(`the value of ${name};`) + 100)
  writeFileSync(file, bytes)
  t.match(run('fsck', `--data-dir=${directory}`), {
    status: 1,
    stdout:
      /^the value of \/registry\/one at revision 2 does not have its checksum\nthe value of \/registry\/three at revision 4 does not have its checksum\ndamaged: 2 values, beside which the others can be used \(3 objects in 3 versions, \d+ bytes were read\)\n$/,
    stderr: ''
  })
})

t.test('the start reports a damaged store in one line, and fsck in full', async t => {
  const directory = await store()
  const file = join(directory, 'data.mdb')
  const bytes = readFileSync(file)
  for (let at = 2; at < bytes.length / 4096; at++) {
    if ((bytes.readUInt16LE(at * 4096 + 18) & 0x0f) === 2) bytes.fill(0, at * 4096 + 24, (at + 1) * 4096)
  }
  writeFileSync(file, bytes)
  const started = run(`--data-dir=${directory}`, '--secure-port=1', `--cert-dir=${root}`)
  t.match(started, {
    status: 1,
    stderr: new RegExp(
      `^orch-apiserver: --data-dir=${directory}: .* page \\d+ has a damaged .*; restore it from a backup ` +
      `\\(orch-apiserver restore; fsck --data-dir=${directory} names all that is damaged, recover ${directory} ` +
      'salvages the rest\\)\n$'
    )
  })
  t.match(run('fsck', `--data-dir=${directory}`), {
    status: 1,
    stdout: /page \d+ has a damaged .*\n(.*\n)*damaged: the store can not be used, restore it from a backup/,
    stderr: ''
  })
})

t.test('a store that cannot be read ends with 2 and one line', async t => {
  const directory = await store()
  const backend = await openBackend({ kind: 'embedded', directory })
  t.match(run('fsck', `--data-dir=${directory}`), {
    status: 2,
    stdout: '',
    stderr: /^orch-apiserver fsck: --data-dir=.* is in use by another server.*: stop that one first\n$/
  })
  await backend.close()
  mkdirSync(join(root, 'empty'))
  t.match(
    run('fsck', `--data-dir=${root}/empty`),
    { status: 2, stdout: '', stderr: /^orch-apiserver fsck: --data-dir=.*: there is no store: .*\n$/ }
  )
})

t.test('fsck has its own help and takes no other flags', async t => {
  t.match(run('fsck', '--help'), {
    status: 0, stdout: /^Usage: orch-apiserver fsck --data-dir=FOLDER\n[^]*Exit code: 0 /, stderr: ''
  })
  t.match(run('fsck', '--secure-port=1'), {
    status: 2, stdout: '', stderr: /^orch-apiserver fsck: unknown flag --secure-port: --help lists all flags\n$/
  })
  t.match(run('--help'), { status: 0, stdout: /orch-apiserver fsck --data-dir=FOLDER/ })
})
