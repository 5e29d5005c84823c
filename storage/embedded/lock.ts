/**
 * One process per directory. The proof of life is a listening socket in the directory itself, because the
 * kernel takes it back however its owner ends: there is nothing stale to misread after a crash, and no process
 * number that a new container could share by chance. It is seen from every network namespace that shares the
 * directory, and made by nobody who may not write there.
 *
 * Sockets are numbered, `writer.N.sock`, and the newest one holds the lock while it is alive. Whoever finds the
 * newest one dead listens on a socket of its own and then links it under the next number, which succeeds for
 * one alone. The newest number is never removed, not even by its owner, so that no number is given twice: who
 * comes late with a number that was used and removed meanwhile finds a newer one and gives way.
 *
 * Limits: directories shared between machines over a network are not guarded; a file system must be able to
 * hold sockets and hard links.
 */
import { link, open, readdir, rm } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { randomBytes } from 'node:crypto'
import { StorageError } from '../errors.js'

const NUMBERED = /^writer\.(\d{1,15})\.sock$/
const UNLINKED = /^writer\.[0-9a-f]{12}\.new$/
/** Of servers before sockets were numbered. */
const EARLIER = 'writer.sock'
const ANSWER_TIME = 1000
/** Each further attempt means that somebody else has taken a number meanwhile. */
const MOST_ATTEMPTS = 100

export interface DirectoryLock {
  release: () => Promise<void>
}

/** @throws StorageError 'Unavailable' naming the directory and, where it can be learnt, the process that has it */
export async function lockDirectory (directory: string): Promise<DirectoryLock> {
  const handle = await open(directory, 'r')
  // A socket's path may have about a hundred bytes; through the open directory it is always short.
  const base = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : directory
  try {
    const server = await take(base, directory)
    return {
      release: async () => {
        await close(server)
        await handle.close()
      }
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function take (base: string, directory: string): Promise<net.Server> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const newest = (await numbers(base))[0] ?? 0
    const owner = await ask(path.join(base, nameOf(newest))) ?? await ask(path.join(base, EARLIER))
    if (owner !== undefined) throw inUse(directory, owner)
    const server = await claim(base, newest + 1)
    if (server !== undefined) return server
  }
  throw inUse(directory, '')
}

/** Undefined when somebody else was faster. */
async function claim (base: string, number: number): Promise<net.Server | undefined> {
  const own = path.join(base, `writer.${randomBytes(6).toString('hex')}.new`)
  const numbered = path.join(base, nameOf(number))
  const server = await listen(own)
  let mine = false
  try {
    if (!await linked(own, numbered)) return undefined
    if ((await numbers(base))[0] !== number) {
      await rm(numbered, { force: true })
      return undefined
    }
    await tidy(base, number)
    mine = true
    return server
  } finally {
    if (!mine) await close(server)
    await rm(own, { force: true })
  }
}

const nameOf = (number: number): string => `writer.${number}.sock`

/** The numbers there are, the newest first. */
async function numbers (base: string): Promise<number[]> {
  const names = await readdir(`${base}/`)
  return names.flatMap(name => NUMBERED.exec(name)?.[1] ?? []).map(Number).sort((one, other) => other - one)
}

/** False when somebody else has the number already. */
async function linked (own: string, numbered: string): Promise<boolean> {
  try {
    await link(own, numbered)
    return true
  } catch (error) {
    // Not there: it looked dead to somebody who was tidying up, before it listened.
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false
    throw unusable('hold a hard link', error)
  }
}

/** The one number before stays, so that a slow look at the directory can't miss both the newest and the one before it. */
async function tidy (base: string, mine: number): Promise<void> {
  for (const name of await readdir(`${base}/`)) {
    const number = NUMBERED.exec(name)?.[1]
    const old = number !== undefined && Number(number) < mine - 1
    if (old || name === EARLIER || (UNLINKED.test(name) && await ask(path.join(base, name)) === undefined)) await rm(path.join(base, name), { force: true })
  }
}

function inUse (directory: string, owner: string): StorageError {
  return new StorageError('Unavailable', `the directory ${directory} is in use by another server${owner === '' ? '' : ` (process ${owner})`}: stop that one or name another directory`)
}

const unusable = (what: string, error: unknown): Error =>
  new Error(`its file system cannot ${what}, with which the store is locked (${codeOf(error)})`, { cause: error })

const codeOf = (error: unknown): string => error instanceof Error && 'code' in error ? String(error.code) : String(error)

/** A listener that tells whoever asks which process it lives in. */
function listen (socketPath: string): Promise<net.Server> {
  return new Promise((resolve, reject) => {
    const server = net.createServer(socket => {
      socket.on('error', () => {})
      socket.end(String(process.pid))
    })
    server.once('error', error => reject(unusable('hold a socket', error)))
    // Exclusive: a worker of a cluster must not have its primary listen for it.
    server.listen({ path: socketPath, exclusive: true }, () => {
      server.removeAllListeners('error')
      server.on('error', () => {})
      server.unref()
      resolve(server)
    })
  })
}

const close = (server: net.Server): Promise<void> => new Promise(resolve => { server.close(() => resolve()) })

/** The process that answers there, '' when it answers without saying, undefined when nobody listens. */
function ask (socketPath: string): Promise<string | undefined> {
  return new Promise(resolve => {
    let said = ''
    const socket = net.connect({ path: socketPath })
    const done = (answer: string | undefined) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(ANSWER_TIME, () => done(said))
    socket.on('data', bytes => { said += bytes.toString('latin1') })
    socket.on('end', () => done(said))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      done(error.code === 'ECONNREFUSED' || error.code === 'ENOENT' || error.code === 'ENOTSOCK' ? undefined : said)
    })
  })
}
