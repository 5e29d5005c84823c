import t from 'tap'
import { once } from 'node:events'
import {
  existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Progress } from '../../../config/commands/progress.js'
import { openBackend } from '../../../storage/open.js'
import { startEtcd } from '../../etcd-process.js'
import { begin, called, CLI, fill, objectsOf, run, runBeside } from './command.js'

const root = mkdtempSync(join(tmpdir(), 'orch-commands-'))
t.teardown(() => { rmSync(root, { recursive: true, force: true }) })
const at = (name: string): string => join(root, name)
const data = at('data')
let objects: Awaited<ReturnType<typeof objectsOf>>
t.before(async () => {
  await fill(data, 1200)
  objects = await objectsOf(data)
})

t.test('a snapshot of a folder, and a folder of the snapshot', async t => {
  const written = run('snapshot', at('one.snapshot'), `--data-dir=${data}`)
  t.match(written, {
    status: 0,
    stdout: new RegExp(
      `^wrote ${at('one.snapshot')}: 1200 objects, 1\\.\\d MiB in \\d+\\.\\d s, at revision 1201 of ` +
      `--data-dir=${data} \\(\\d+ bytes\\)\\n$`
    ),
    stderr: ''
  })
  t.equal(statSync(at('one.snapshot')).mode & 0o777, 0o600)
  t.strictSame(readdirSync(root).filter(name => name.includes('partial')), [])
  t.match(run('restore', at('one.snapshot'), `--data-dir=${at('two/data')}`), {
    status: 0,
    stdout:
      /^restored --data-dir=\S+ from \S+: 1200 objects, .*, as of 20\S+Z, revision 1201; it continues at revision 1000\d{6}\n$/,
    stderr: ''
  })
  t.match(run('fsck', `--data-dir=${at('two/data')}`), { status: 0, stdout: /^clean: 1200 objects in 1200 versions/ })
  t.strictSame(await objectsOf(at('two/data')), objects)
  t.equal(statSync(at('two/data')).mode & 0o777, 0o700)
  t.equal(statSync(at('two/data/data.mdb')).mode & 0o777, 0o600)
})

t.test('through a pipe, with its last line on standard error', async t => {
  const piped = spawnSync(
    'sh',
    [
      '-c',
      `"${process.execPath}" "${CLI}" snapshot - --data-dir="${data}" | "${process.execPath}" "${CLI}" restore - ` +
      `--data-dir="${at('piped')}"`
    ],
    { encoding: 'utf8', timeout: 60_000 }
  )
  t.match(piped, {
    status: 0,
    stdout: '',
    stderr: /^wrote standard output: 1200 objects.*\nrestored .* from standard input: 1200 objects.*\n$/
  })
  t.strictSame(await objectsOf(at('piped')), objects)
  t.match(
    spawnSync(
      'sh', ['-c', `"${process.execPath}" "${CLI}" snapshot - --data-dir="${data}" | head -c 5 >/dev/null`],
      { encoding: 'utf8', timeout: 60_000 }
    ).stderr,
    /^$|^orch-apiserver snapshot: .*what reads standard output has ended \(EPIPE\)\n$/
  )
})

t.test('an existing file is kept unless replacing is requested', async t => {
  writeFileSync(at('kept'), 'mine')
  t.match(
    await called('snapshot', at('kept'), `--data-dir=${data}`),
    {
      status: 1, stdout: '',
      stderr:
        `orch-apiserver snapshot: ${at('kept')}: exists already; name another file, or give --force to replace it\n`
    }
  )
  t.equal(readFileSync(at('kept'), 'utf8'), 'mine')
  writeFileSync(at('kept.partial'), 'of one that was killed', { mode: 0o644 })
  t.match(await called('snapshot', at('kept'), `--data-dir=${data}`, '--force'), { status: 0 })
  t.equal(readFileSync(at('kept')).subarray(0, 16).toString(), 'orch-snapshot 1\n')
  t.equal(statSync(at('kept')).mode & 0o777, 0o600)
  symlinkSync('/dev/null', at('null'))
  t.match(
    await called('snapshot', at('null'), `--data-dir=${data}`, '--force'),
    { status: 1, stderr: /: is no ordinary file; name another one, or - for standard output\n$/ }
  )
  for (const name of ['data.mdb', 'data.mdb-lock']) {
    t.match(
      await called('snapshot', `${data}/../data/${name}`, `--data-dir=${data}`, '--force'),
      {
        status: 1,
        stderr: `orch-apiserver snapshot: ${data}/../data/${name}: is a file of the store; name another one\n`
      }
    )
  }
  t.match(await called('snapshot', root, `--data-dir=${data}`), { status: 1, stderr: /: is no ordinary file/ })
  t.match(
    await called('snapshot', at('no/folder/here'), `--data-dir=${data}`),
    { status: 1, stderr: /^orch-apiserver snapshot: .*partial: there is no such file or folder \(ENOENT\)\n$/ }
  )
})

t.test('an incomplete or damaged snapshot is not restored and leaves nothing behind', async t => {
  const whole = readFileSync(at('one.snapshot'))
  const cases: Record<string, [Buffer, RegExp]> = {
    cut: [
      whole.subarray(0, whole.length - 1000), /cut: it is cut off at byte \d+, in the part that begins at byte \d+\n$/
    ],
    'without its end': [whole.subarray(0, whole.lastIndexOf('{"objects"') - 5), /it is cut off at byte \d+/],
    changed: [
      Buffer.from(whole), /changed: the part at byte \d+ does not have its checksum: it was altered or damaged\n$/
    ],
    newer: [
      Buffer.concat([Buffer.from('orch-snapshot 7\n'), whole.subarray(16)]),
      /it is of version 7 of the format, this release reads version 1: use the release that wrote it, or a newer one\n$/
    ],
    'no snapshot': [Buffer.from('{}'), /it is not a snapshot\n$/],
    empty: [Buffer.alloc(0), /it is empty\n$/]
  }
  cases.changed?.[0].write('#', whole.length - 500)
  for (const [name, [bytes, why]] of Object.entries(cases)) {
    writeFileSync(at(name), bytes)
    t.match(await called('restore', at(name), `--data-dir=${at('none')}`), { status: 1, stdout: '', stderr: why }, name)
    t.strictSame(
      existsSync(at('none')) ? readdirSync(at('none')).filter(file => !file.startsWith('writer.')) : [], [], name
    )
  }
  t.match(
    await called('restore', at('missing'), `--data-dir=${at('none')}`),
    { status: 1, stderr: /missing: there is no such file or folder \(ENOENT\)\n$/ }
  )
  t.match(
    await called('restore', root, `--data-dir=${at('none')}`), { status: 1, stderr: /it is a folder \(EISDIR\)\n$/ }
  )
  t.match(
    await called('restore', at('one.snapshot'), `--data-dir=${data}`),
    { status: 1, stderr: /holds a store already: name another one, or move data\.mdb away\n$/ }
  )
})

t.test('flags are those of the server, and errors name them', async t => {
  const cases: Array<[Parameters<typeof called>, RegExp]> = [
    [['snapshot'], /^orch-apiserver snapshot: FILE is missing: orch-apiserver snapshot FILE /],
    [['restore', '--data-dir=x'], /FILE is missing/],
    [['snapshot', ''], /FILE is missing/],
    [['snapshot', 'a', 'b'], /unexpected argument "b": only FILE is no flag/],
    [['snapshot', 'a', '--secure-port=1'], /unknown flag --secure-port: --help lists all flags/],
    [['snapshot', 'a', '--data-dirr=x'], /unknown flag --data-dirr: did you mean --data-dir\?/],
    [['snapshot', 'a', '--force=maybe'], /--force=maybe: must be true or false/],
    [['snapshot', 'a', '--etcd-servers=nowhere'], /--etcd-servers=nowhere: .*must have the form scheme:\/\/host:port/],
    [
      ['snapshot', 'a', '--etcd-servers=http://127.0.0.1:1', '--data-dir=x'],
      /--data-dir=x: is for the embedded store; leave it or --etcd-servers out/
    ],
    [['snapshot', 'a', '--etcd-certfile=x'], /--etcd-certfile=x: needs --etcd-keyfile beside it/],
    [
      ['snapshot', 'a', `--data-dir=${at('nothing')}`],
      /there is no store in \S+: no data\.mdb lies there; name the folder of an embedded store/
    ],
    [['snapshot', 'a', `--data-dir=${at('one.snapshot')}`], /--data-dir=\S+: \S+ is not a folder; name another one/],
    [['snapshot', 'a', '--etcd-servers=http://127.0.0.1:1'], /ECONNREFUSED/],
    [['migrate', `--from=${data}`], /--to: is missing: name a folder, or servers of an etcd/],
    [['migrate', `--to=${data}`], /--from: is missing/],
    [
      ['migrate', `--from=${data}`, `--to=${at('x')}`],
      /one of --from and --to is a folder, the other the servers of an etcd/
    ],
    [['migrate', '--from=http://127.0.0.1:1', '--to=http://127.0.0.1:2'], /one of --from and --to is a folder/],
    [['migrate', '--from=http://nowhere', `--to=${data}`], /--from=http:\/\/nowhere: .*must have the form/],
    [['migrate', `--from=${at('one.snapshot')}`, '--to=http://127.0.0.1:2'], /--from=\S+: \S+ is not a folder/],
    [['compact', 'x'], /unexpected argument "x"/],
    [['compact', `--data-dir=${at('nothing')}`], /there is no store/]
  ]
  for (const [args, why] of cases) {
    const { status, stdout, stderr } = await called(...args)
    t.strictSame([status, stdout, stderr.split('\n').length], [1, '', 2], args.join(' '))
    t.match(stderr, why)
  }
  for (const name of ['snapshot', 'restore', 'migrate', 'compact'] as const) {
    t.match(await called(name, '--help'), {
      status: 0, stdout: new RegExp(`^Usage: orch-apiserver ${name} [^]*Exit code: 0 `), stderr: ''
    })
  }
  t.notOk(existsSync(at('nothing')), 'no folder is made for a store that is not there')
  t.match(run('--help'), { stdout: /orch-apiserver snapshot FILE/ })
})

t.test('a store in use can be snapshotted, but not migrated, compacted or restored over', async t => {
  const backend = await openBackend({ kind: 'embedded', directory: data })
  t.teardown(() => backend.close())
  t.match(await runBeside('snapshot', at('used.snapshot'), `--data-dir=${data}`), { status: 0 })
  const inUse = new RegExp(`the directory ${data} is in use by another server \\(process ${process.pid}\\)`)
  t.match(await runBeside('compact', `--data-dir=${data}`), {
    status: 1,
    stderr: new RegExp(
      `${inUse.source}: stop that one first, or leave it as it is: the server reuses the space of deleted objects\n$`
    )
  })
  t.match(await runBeside('migrate', `--from=${data}`, '--to=http://127.0.0.1:1'), { status: 1, stderr: inUse })
  t.match(await runBeside('restore', at('one.snapshot'), `--data-dir=${data}`), { status: 1, stderr: inUse })
})

t.test('compact returns the space of deleted values', async t => {
  const folder = at('shrunk')
  await fill(folder, 3000)
  const backend = await openBackend({ kind: 'embedded', directory: folder })
  const { kvs } = await backend.list({ start: '/registry/', end: '/registry0' })
  await Promise.all(kvs.slice(100).map(async ({ key, modRevision }) => await backend.delete(key, modRevision)))
  const newest = await backend.revision()
  await backend.close()
  const left = await objectsOf(folder)
  t.equal(left.size, 100)
  const before = statSync(join(folder, 'data.mdb')).size
  t.match(
    await called('compact', `--data-dir=${folder}`),
    { status: 0, stdout: /^compacted --data-dir=\S+: \d+\.\d MiB before, 0\.\d MiB after\n$/, stderr: '' }
  )
  t.ok(statSync(join(folder, 'data.mdb')).size < before / 5)
  t.equal(statSync(join(folder, 'data.mdb')).mode & 0o777, 0o600)
  t.strictSame(readdirSync(folder).filter(name => !name.startsWith('writer.') && !name.endsWith('-lock')), ['data.mdb'])
  t.match(await called('fsck', `--data-dir=${folder}`), { status: 0, stdout: /^clean: 100 objects in 100 versions/ })
  t.strictSame(await objectsOf(folder), left)
  const again = await openBackend({ kind: 'embedded', directory: folder })
  t.equal(await again.revision(), newest, 'revisions go on')
  await again.close()
})

t.test('over etcd: snapshot, restore, migrate both ways, compact', { timeout: 120_000 }, async t => {
  const etcd = await startEtcd(t)
  const servers = `--etcd-servers=${etcd.url}`
  t.match(
    await called('restore', at('one.snapshot'), servers),
    { status: 0, stdout: new RegExp(`^restored ${servers} below /registry from \\S+: 1200 objects, `) }
  )
  t.match(
    await called('restore', at('one.snapshot'), servers),
    { status: 1, stderr: /the range below \/registry holds a store already/ }
  )
  t.match(await called('snapshot', at('etcd.snapshot'), servers), { status: 0, stdout: /^wrote \S+: 1200 objects, / })
  t.match(await called('restore', at('etcd.snapshot'), `--data-dir=${at('from-etcd')}`), { status: 0 })
  t.strictSame(await objectsOf(at('from-etcd')), objects)
  t.match(
    await called('migrate', `--from=${etcd.url}`, `--to=${at('migrated')}`),
    {
      status: 0,
      stdout:
        /^copied --etcd-servers=\S+ below \/registry to --data-dir=\S+: 1200 objects, .*\. Start no server on the first any more\n$/
    }
  )
  t.strictSame(await objectsOf(at('migrated')), objects)
  t.match(
    await called('migrate', `--from=${at('migrated')}`, `--to=${etcd.url}`),
    { status: 1, stderr: /holds a store already/ }
  )
  t.match(
    await called('migrate', `--from=${at('migrated')}`, `--to=${etcd.url}`, '--etcd-prefix=/elsewhere'),
    { status: 1, stderr: /the key \/registry\/things\/\d+ is not below --etcd-prefix=\/elsewhere/ }
  )
  const other = await startEtcd(t)
  t.match(await called('migrate', `--from=${at('migrated')}`, `--to=${other.url}`), { status: 0 })
  t.match(
    await called('compact', `--etcd-servers=${other.url}`),
    {
      status: 0,
      stdout: /^compacted --etcd-servers=\S+ below \/registry: http:\S+ \d+\.\d MiB before, \d+\.\d MiB after\n$/
    }
  )
  const backend = await openBackend({ kind: 'etcd', servers: [other.url] })
  t.teardown(() => backend.close())
  t.strictSame(
    new Map((await backend.list({ start: '/registry/', end: '/registry0' })).kvs.filter(({ key }) =>
      !key.includes('.format')).map(({ key, value }) => [key, Buffer.from(value).toString('latin1')])),
    objects
  )
})

t.test('an interrupted command removes its partial output', async t => {
  await fill(at('large'), 20_000)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const child = begin('snapshot', at('interrupted'), `--data-dir=${at('large')}`)
    let stderr = ''
    child.stderr?.on('data', (piece: Buffer) => { stderr += piece.toString() })
    while (!existsSync(at('interrupted.partial')) && child.exitCode === null) {
      await new Promise(resolve => { setTimeout(resolve, 1) })
    }
    child.kill(signal)
    const [status] = await once(child, 'close') as [number]
    if (status === 0) rmSync(at('interrupted')) // it finished before the signal
    else {
      t.strictSame(
        [status, stderr], [signal === 'SIGINT' ? 130 : 143, `orch-apiserver snapshot: interrupted by ${signal}\n`]
      )
    }
    t.strictSame(readdirSync(root).filter(name => name.startsWith('interrupted')), [])
  }
  await called('snapshot', at('large.snapshot'), `--data-dir=${at('large')}`)
  const child = begin('restore', at('large.snapshot'), `--data-dir=${at('interrupted')}`)
  while (!existsSync(at('interrupted/data.mdb.partial')) && child.exitCode === null) {
    await new Promise(resolve => { setTimeout(resolve, 1) })
  }
  child.kill('SIGINT')
  const [status] = await once(child, 'close') as [number]
  t.strictSame(
    [status === 130, existsSync(at('interrupted/data.mdb')), existsSync(at('interrupted/data.mdb.partial'))],
    [status !== 0, status === 0, false]
  )
})

t.test('a full disk is an error that names it', t => {
  // On a disk of its own, which is unmounted with the command, if this user may mount one.
  const onSmallDisk = (megabytes: number, script: string): string => {
    mkdirSync(at('disk'), { recursive: true })
    const { stdout, stderr } = spawnSync(
      'unshare',
      [
        '--map-root-user', '--mount', 'sh', '-c',
        `mount -t tmpfs -o size=${megabytes}m none "${at('disk')}" && ${script}; ls -A "${at('disk')}" | grep -v writer`
      ],
      { encoding: 'utf8', timeout: 60_000 }
    )
    return stdout + stderr
  }
  const cli = `"${process.execPath}" "${CLI}"`
  t.notOk(existsSync(at('disk/x')))
  if (onSmallDisk(4, 'echo mounted') === 'mounted\n') {
    t.match(
      onSmallDisk(4, `${cli} snapshot "${at('disk/x')}" --data-dir="${at('large')}"`),
      /^orch-apiserver snapshot: its disk is full \(ENOSPC\)\n$/
    )
    t.match(
      onSmallDisk(20, `${cli} restore "${at('large.snapshot')}" --data-dir="${at('disk')}" --data-dir-min-free=1`),
      /^orch-apiserver restore: the disk of the directory \S+ is too full for the store \(--data-dir-min-free is to stay free\)\n$/
    )
    t.match(
      onSmallDisk(
        40,
        `cp "${at('large/data.mdb')}" "${at('disk')}" && ` +
        `${cli} compact --data-dir="${at('disk')}" --data-dir-min-free=1`
      ),
      /^data\.mdb\ndata\.mdb-lock\n.*too full for a second copy/
    )
    t.match(
      onSmallDisk(
        60,
        `cp "${at('large/data.mdb')}" "${at('disk')}" && ` +
        `${cli} snapshot "${at('disk/x')}" --data-dir="${at('disk')}" --data-dir-min-free=10`
      ),
      /the disk is that of the store, and would have less than 20 MiB free, twice --data-dir-min-free; name a file on another one/
    )
  }
  t.end()
})

t.test('progress is one line on a terminal and lines elsewhere, with a rate and the time left', t => {
  const shown = (isTTY: boolean): string => {
    let [text, now] = ['', 0]
    const progress = new Progress({ isTTY, write: piece => { text += piece } }, 'snapshot', 100_000, () => now)
    for (let step = 0; step < 4; step++) {
      now += 5_000
      progress.add(10_000, 10 * 1024 * 1024)
    }
    t.equal(progress.end(), '40000 objects, 40.0 MiB in 20.0 s')
    return text
  }
  t.equal(
    shown(false),
    'snapshot: 20000 of 100000 (20 %) objects, 20.0 MiB, 2.0 MiB/s, 40 s left\n' +
    'snapshot: 40000 of 100000 (40 %) objects, 40.0 MiB, 2.0 MiB/s, 30 s left\n'
  )
  t.equal(
    shown(true).split('\r').at(-2), 'snapshot: 40000 of 100000 (40 %) objects, 40.0 MiB, 2.0 MiB/s, 30 s left\u001b[K'
  )
  t.ok(shown(true).endsWith('\r\u001b[K'), 'the line is cleared for the last one')
  t.end()
})
