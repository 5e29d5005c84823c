/**
 * One process per directory. The proof of life is a listening socket, because the kernel takes it back
 * however its owner ends: there is nothing stale to misread after a crash, and no process number that a
 * new container could share by chance.
 *
 * Two sockets stand guard. One has an abstract name made from the directory's device and inode; taking it
 * is atomic, but it is seen only within one network namespace. The other lies in the directory itself and
 * is seen by any process on the machine, in other containers too, that shares the directory. Limits: two
 * containers that start in the very same instant may miss each other; directories shared between machines
 * over a network are not guarded; where there is no Linux only the second socket works.
 */
import { open, rm, stat } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { StorageError } from '../errors.js'

const NAME = 'writer.sock'
const ANSWER_TIME = 1000

export interface DirectoryLock {
  release: () => Promise<void>
}

/** @throws StorageError 'Unavailable' naming the directory and, where it can be learnt, the process that has it */
export async function lockDirectory (directory: string): Promise<DirectoryLock> {
  const { dev, ino } = await stat(directory)
  const handle = await open(directory, 'r')
  // A socket's path may have about a hundred bytes; through the open directory it is always short.
  const socketPath = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${NAME}` : path.join(directory, NAME)
  const held: net.Server[] = []
  const release = async () => {
    await Promise.all(held.map(server => new Promise<void>(resolve => { server.close(() => resolve()) })))
    await handle.close()
  }
  try {
    if (process.platform === 'linux') held.push(await listen(`\0orch-store-${dev}-${ino}`))
    const owner = await ask(socketPath)
    if (owner !== undefined) throw inUse(directory, owner)
    await rm(path.join(directory, NAME), { force: true })
    const guard = await listen(socketPath).catch(tolerate)
    if (guard !== undefined) held.push(guard)
    return { release }
  } catch (error) {
    await release()
    if (!isInUse(error)) throw error
    const asked = await ask(path.join(directory, NAME)) // '' too when the path is too long for a socket's
    const owner = asked || await ask(`\0orch-store-${dev}-${ino}`)
    throw inUse(directory, owner ?? '')
  }
}

function inUse (directory: string, owner: string): StorageError {
  return new StorageError('Unavailable', `the directory ${directory} is in use by another server${owner === '' ? '' : ` (process ${owner})`}: stop that one or name another directory`)
}

function isInUse (error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

/** File systems that hold no sockets leave the other guard. */
function tolerate (error: unknown): undefined {
  if (error instanceof Error && 'code' in error && ['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL', 'ENAMETOOLONG'].includes(String(error.code))) return undefined
  throw error
}

/** A listener that tells whoever asks which process it lives in. */
function listen (socketPath: string): Promise<net.Server> {
  return new Promise((resolve, reject) => {
    const server = net.createServer(socket => {
      socket.on('error', () => {})
      socket.end(String(process.pid))
    })
    server.once('error', reject)
    // Exclusive: a worker of a cluster must not have its primary listen for it.
    server.listen({ path: socketPath, exclusive: true }, () => {
      server.off('error', reject)
      server.on('error', () => {})
      server.unref()
      resolve(server)
    })
  })
}

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
