/** The file of the audit log when the disk is full, an administrator moves it, or the process ends. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { LogFile } from '../../../plugins/audit/log-file.js'
import { RotatedFiles } from '../../../plugins/audit/rotated-files.js'
import { openSink } from '../../../plugins/audit/sink.js'

const module = (name: string): string =>
  JSON.stringify(new URL(`../../../plugins/audit/${name}.js`, import.meta.url).href)

t.test('a partial line of a killed process is ended before the next one', async t => {
  const path = join(t.testdir({ 'audit.log': 'whole\ntorn' }), 'audit.log')
  const sink = openSink({ path }, error => { t.error(error) })
  await sink.write('next\n')
  await sink.close()
  t.equal(readFileSync(path, 'utf8'), 'whole\ntorn\nnext\n')
})

t.test('a line that finds no room is lost as a whole and leaves nothing behind', async t => {
  const folder = t.testdir()
  const path = join(folder, 'audit.log')
  // A limit on file sizes behaves as a full disk does: a part of a write succeeds, the next write fails.
  const program = `
    import { openSink } from ${module('sink')}
    process.on('SIGXFSZ', () => {})
    const sink = openSink({ path: ${JSON.stringify(path)} }, () => {})
    const line = name => name + 'x'.repeat(398) + '\\n'
    const results = await Promise.allSettled([...'abcdefgh'].map(name => sink.write(line(name))))
    const last = await sink.write('short\\n').then(() => 'fulfilled', () => 'rejected')
    await sink.close()
    console.log(JSON.stringify([...results.map(({ status }) => status), last]))`
  // coverage writes more than the limit
  const child = spawn(
    'bash', ['-c', 'ulimit -f 1; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', program],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env['PATH'] } }
  )
  let output = ''
  child.stdout.on('data', (text: Buffer) => { output += text.toString() })
  await once(child, 'close')
  const results = JSON.parse(output) as string[]
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  t.same(results, [
    'fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected', 'rejected', 'rejected', 'rejected', 'fulfilled'
  ])
  t.same(lines.map(line => line.slice(0, 5)), ['axxxx', 'bxxxx', 'short'])
})

t.test('a file that was moved or removed is begun anew under its name', async t => {
  const folder = t.testdir()
  const path = join(folder, 'audit.log')
  let now = 0
  const sink = new LogFile(
    { path, maxSize: 1e6, rotated: new RotatedFiles({ path }), now: () => now }, error => { t.error(error) }
  )
  await sink.append(['one\n'])
  renameSync(path, join(folder, 'moved'))
  now = 1000
  await sink.append(['two\n'])
  await sink.close()
  t.equal(readFileSync(path, 'utf8'), 'two\n')
  t.equal(readFileSync(join(folder, 'moved'), 'utf8'), 'one\n')
})

t.test('after another process truncates the file, lines continue at its new end', async t => {
  const path = join(t.testdir(), 'audit.log')
  let now = 0
  const sink = new LogFile(
    { path, maxSize: 20, rotated: new RotatedFiles({ path }), now: () => now }, error => { t.error(error) }
  )
  await sink.append(['a line of seventeen\n'])
  writeFileSync(path, '')
  now = 1000
  await sink.append(['two\n'])
  await sink.close()
  t.equal(readFileSync(path, 'utf8'), 'two\n')
  t.equal(readdirSync(t.testdirName).length, 1, 'it was not full')
})

t.test('a file that cannot be rotated is still written to', async t => {
  const path = join(t.testdir(), 'audit.log')
  const errors: Error[] = []
  class Nowhere extends RotatedFiles {
    override async nextPath (): Promise<string> { return join(path, 'below', 'a', 'file') }
  }
  const sink = new LogFile(
    { path, maxSize: 5, rotated: new Nowhere({ path }), now: () => 0 }, error => { errors.push(error) }
  )
  for (const text of ['one\n', 'two\n', 'six\n']) t.match(await sink.append([text]), { whole: 1, error: undefined })
  await sink.close()
  t.equal(readFileSync(path, 'utf8'), 'one\ntwo\nsix\n')
  t.match(errors, [{ code: 'ENOTDIR' }])
})

t.test('rotation loses no line, and what another process left is compressed', async t => {
  const left = 'audit-2026-11-20T12-00-00.000-1.log'
  const folder = t.testdir({
    [left]: 'left\n', [`${left}.gz.partial`]: 'half', [`${left.replace('20T', '19T')}.gz.partial`]: 'half'
  })
  const path = join(folder, 'audit.log')
  const errors: Error[] = []
  const sink = openSink({ path, maxSizeMegabytes: 1, compress: true }, error => errors.push(error))
  const numbers = Array.from({ length: 3000 }, (_, number) => number)
  await Promise.all(numbers.map(async number => { await sink.write(`${String(number).padStart(1023)}\n`) }))
  await sink.close()
  t.same(errors, [])
  const names = readdirSync(folder).sort()
  t.same(names.filter(name => !name.endsWith('.gz')), ['audit.log'])
  t.equal(gunzipSync(readFileSync(join(folder, `${left}.gz`))).toString(), 'left\n')
  const lines = names.filter(name => name !== `${left}.gz`).flatMap(name =>
    (name.endsWith('.gz') ? gunzipSync(readFileSync(join(folder, name))) : readFileSync(join(folder, name))).toString()
      .split('\n')
      .slice(0, -1)
      .map(Number))
  t.same(lines, numbers, 'in their order')
})
