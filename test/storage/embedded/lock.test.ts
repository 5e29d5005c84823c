import t from 'tap'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { lockDirectory } from '../../../storage/embedded/lock.js'
import type { Test } from '../../build.js'

const root = await mkdtemp(path.join(tmpdir(), 'orch-lock-'))
t.teardown(() => rm(root, { recursive: true, force: true }))
let directories = 0
const fresh = async (): Promise<string> => {
  const directory = path.join(root, `store-${++directories}`)
  await mkdir(directory)
  return directory
}

const module = new URL('../../../storage/embedded/lock.js', import.meta.url).href
const HOLD = `
  const { lockDirectory } = await import(${JSON.stringify(module)})
  process.stdin.once('data', async () => {
    try {
      await lockDirectory(process.argv[1])
      console.log('locked')
    } catch (error) {
      console.log('refused ' + error.message)
    }
  })
  console.log('ready')
  setInterval(() => {}, 1000)`

/** A process that tries to take the lock on command, and then stays. */
async function contender (
  t: Test, directory: string, wrapper: readonly string[] = []
): Promise<{ child: ChildProcess, lock: () => Promise<string> }> {
  const [command = '', ...args] = [...wrapper, process.execPath, '--input-type=module', '-e', HOLD, directory]
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return {
    child,
    lock: async () => {
      child.stdin.write('go\n')
      const [line] = await once(child.stdout, 'data') as [Buffer]
      return line.toString().trim()
    }
  }
}

t.test('an occupied abstract socket of the same name does not prevent locking the folder', async t => {
  const directory = await fresh()
  const { dev, ino } = await stat(directory)
  const squatter = net.createServer().listen({ path: `\0orch-store-${dev}-${ino}` })
  await once(squatter, 'listening')
  t.teardown(() => squatter.close())
  const lock = await lockDirectory(directory)
  await t.rejects(lockDirectory(directory), { code: 'Unavailable', message: new RegExp(`in use.*${process.pid}`) })
  await lock.release()
})

t.test('a server in another network namespace is seen', async t => {
  const directory = await fresh()
  const other = await contender(
    t, directory, process.getuid?.() === 0 ? ['unshare', '--net'] : ['unshare', '--map-root-user', '--net']
  )
  t.equal(await other.lock(), 'locked')
  await t.rejects(lockDirectory(directory), {
    code: 'Unavailable', message: /in use by another server \(process \d+\)/
  })
  const gone = once(other.child, 'exit')
  other.child.kill('SIGKILL')
  await gone
  await (await lockDirectory(directory)).release()
})

t.test('of several starts after a kill one gets the lock', async t => {
  const directory = await fresh()
  for (let round = 0; round < 3; round++) {
    const contenders = await Promise.all(Array.from({ length: 6 }, () => contender(t, directory)))
    const answers = await Promise.all(contenders.map(({ lock }) => lock()))
    t.equal(answers.filter(answer => answer === 'locked').length, 1, answers.join('; '))
    t.ok(answers.every(answer => answer === 'locked' || /in use/.test(answer)))
    await Promise.all(contenders.map(async ({ child }) => {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    }))
  }
})

t.test('the same within one process, as often as it likes, and nothing piles up', async t => {
  const directory = await fresh()
  for (let round = 0; round < 100; round++) {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(directory)))
    const held = outcomes.flatMap(outcome => outcome.status === 'fulfilled' ? [outcome.value] : [])
    if (held.length !== 1) t.fail(`round ${round}: ${held.length} locks were given`)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected' && !/in use/.test(String(outcome.reason))) t.fail(String(outcome.reason))
    }
    await Promise.all(held.map(lock => lock.release()))
  }
  t.ok((await readdir(directory)).length <= 2, 'the last ones alone are left')
})

t.test('a server of an earlier version that holds its own socket there is seen', async t => {
  const directory = await fresh()
  const earlier = net.createServer(socket => { socket.end('4711') }).listen(path.join(directory, 'writer.sock'))
  await once(earlier, 'listening')
  await t.rejects(lockDirectory(directory), { code: 'Unavailable', message: /process 4711/ })
  earlier.close()
  await once(earlier, 'close')
  await (await lockDirectory(directory)).release()
})

t.test('it is held as long as its socket, by whoever keeps nothing else', async t => {
  const script = `
    const { lockDirectory } = await import(${JSON.stringify(module)})
    process.on('warning', warning => console.log(warning.message))
    const { handle } = await lockDirectory(process.argv[1])
    for (let round = 0; round < 20; round++) {
      gc()
      await new Promise(resolve => { setImmediate(resolve) })
    }
    console.log(handle.listening ? 'held' : 'lost')
    handle.close()`
  const { stdout, stderr } = spawnSync(
    process.execPath, ['--expose-gc', '--input-type=module', '-e', script, await fresh()], { encoding: 'utf8' }
  )
  t.same({ stdout, stderr }, { stdout: 'held\n', stderr: '' })
})

t.test('a stopped server still holds the lock', async t => {
  const directory = await fresh()
  const other = await contender(t, directory)
  t.equal(await other.lock(), 'locked')
  other.child.kill('SIGSTOP')
  await t.rejects(lockDirectory(directory), { code: 'Unavailable', message: /in use/ })
})
