/**
 * One process per directory. The lock is a listening socket in the directory, because the kernel closes it however its
 * owner ends: it cannot become stale after a crash, and it needs no process id, which another container could reuse. It
 * works across network namespaces, and requires write access to the directory.
 *
 * Sockets are numbered, `writer.N.sock`; the newest one holds the lock while its owner lives. If it is dead, a
 * contender listens on a socket of its own and links it under the next number, which only one can do. The newest number
 * is never removed, even by its owner, so that numbers are not reused: a slow contender with a number that was used and
 * removed finds a newer one and gives up.
 *
 * Limits: directories shared between machines over a network are not guarded; the file system must support sockets and
 * hard links.
 */
import { link, open, readdir, rm } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { randomBytes } from 'node:crypto'
import { InUseError, type StorageError } from '../errors.js'

const NUMBERED = /^writer\.(\d{1,15})\.sock$/
const UNLINKED = /^writer\.[0-9a-f]{12}\.new$/
/** Used by servers before sockets were numbered. */
const LEGACY_NAME = 'writer.sock'
const RESPONSE_TIMEOUT_MS = 1000
/** Each failed attempt means that another process took the number. */
const MAX_ATTEMPTS = 100

export interface DirectoryLock {
  /**
   * Send it to another process, whose `receivedLock` then holds the directory as well: until both are released or
   * ended.
   */
  readonly handle: net.Server
  readonly release: () => Promise<void>
}

/** The lock of another process of the same server, which has sent its handle. */
export function receivedLock (handle: net.Server): DirectoryLock {
  handle.on('connection', answer)
  handle.unref()
  return { handle, release: () => close(handle) }
}

/** @throws StorageError 'Unavailable' with the directory and, if known, the process that has it */
export async function lockDirectory (directory: string): Promise<DirectoryLock> {
  const handle = await open(directory, 'r')
  // Socket paths are limited to about a hundred bytes; through the open directory they are always short.
  const base = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : directory
  try {
    const server = await take(base, directory)
    // Whoever passes the socket on to another process keeps nothing but that.
    server.once('close', () => { void handle.close() })
    return {
      handle: server,
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

/** Undefined on a file system that is mounted read-only, where no lock can be taken; nobody has it then. */
export async function lockToRead (directory: string): Promise<DirectoryLock | undefined> {
  try {
    return await lockDirectory(directory)
  } catch (error) {
    if (error instanceof Error && codeOf(error.cause) === 'EROFS') return undefined
    throw error
  }
}

async function take (base: string, directory: string): Promise<net.Server> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const newest = (await numbers(base))[0] ?? 0
    const owner = await ownerOf(path.join(base, nameOf(newest))) ?? await ownerOf(path.join(base, LEGACY_NAME))
    if (owner !== undefined) throw inUse(directory, owner)
    const server = await claim(base, newest + 1)
    if (server !== undefined) return server
  }
  throw inUse(directory, '')
}

/** Undefined if another process was faster. */
async function claim (base: string, number: number): Promise<net.Server | undefined> {
  const own = path.join(base, `writer.${randomBytes(6).toString('hex')}.new`)
  const numbered = path.join(base, nameOf(number))
  const server = await listen(own)
  let mine = false
  try {
    if (!await linkNumbered(own, numbered)) return undefined
    if ((await numbers(base))[0] !== number) {
      await rm(numbered, { force: true })
      return undefined
    }
    await removeOld(base, number)
    mine = true
    return server
  } finally {
    if (!mine) await close(server)
    await rm(own, { force: true })
  }
}

const nameOf = (number: number): string => `writer.${number}.sock`

/** Existing numbers, newest first. */
async function numbers (base: string): Promise<number[]> {
  const names = await readdir(`${base}/`)
  return names.flatMap(name => NUMBERED.exec(name)?.[1] ?? []).map(Number).sort((one, other) => other - one)
}

/** False if the number is taken. */
async function linkNumbered (own: string, numbered: string): Promise<boolean> {
  try {
    await link(own, numbered)
    return true
  } catch (error) {
    // ENOENT: another process removed the socket before it listened.
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false
    throw unusable('hold a hard link', error)
  }
}

/** Keeps the previous number, so that a slow directory read can't miss both it and the newest. */
async function removeOld (base: string, mine: number): Promise<void> {
  for (const name of await readdir(`${base}/`)) {
    const number = NUMBERED.exec(name)?.[1]
    const old = number !== undefined && Number(number) < mine - 1
    if (old || name === LEGACY_NAME || (UNLINKED.test(name) && await ownerOf(path.join(base, name)) === undefined)) {
      await rm(path.join(base, name), { force: true })
    }
  }
}

function inUse (directory: string, owner: string): StorageError {
  const byProcess = owner === '' ? '' : ` (process ${owner})`
  return new InUseError(`the directory ${directory} is in use by another server${byProcess}`)
}

const unusable = (what: string, error: unknown): Error =>
  new Error(`its file system cannot ${what}, with which the store is locked (${codeOf(error)})`, { cause: error })

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)

/** Tells a contender who has the directory. */
function answer (socket: net.Socket): void {
  socket.on('error', () => {})
  socket.end(String(process.pid))
}

/** Listens and sends the process id to each connection. */
function listen (socketPath: string): Promise<net.Server> {
  return new Promise((resolve, reject) => {
    const server = net.createServer(answer)
    server.once('error', error => reject(unusable('hold a socket', error)))
    // Exclusive: otherwise the primary of a cluster would listen for its worker.
    server.listen({ path: socketPath, exclusive: true }, () => {
      server.removeAllListeners('error')
      server.on('error', () => {})
      server.unref()
      resolve(server)
    })
  })
}

const close = (server: net.Server): Promise<void> => new Promise(resolve => { server.close(() => resolve()) })

/** The owner's process id, '' if it does not send one, undefined if the socket is dead. */
function ownerOf (socketPath: string): Promise<string | undefined> {
  return new Promise(resolve => {
    let response = ''
    const socket = net.connect({ path: socketPath })
    const done = (answer: string | undefined) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(RESPONSE_TIMEOUT_MS, () => done(response))
    socket.on('data', bytes => { response += bytes.toString('latin1') })
    socket.on('end', () => done(response))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      done(error.code === 'ECONNREFUSED' || error.code === 'ENOENT' || error.code === 'ENOTSOCK' ? undefined : response)
    })
  })
}
