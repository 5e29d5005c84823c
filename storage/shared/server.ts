/**
 * Serves a store to the other processes of a server, through a Unix socket in its directory. Pushes all changes in
 * order on each connection and answers calls. Memory for a slow process is bounded: its calls and past changes pause,
 * and its connection is closed when live changes pile up.
 */
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type {
  Backend, BackendEvent, BackendWatch, Guard, Revision, WriteOptions, WriteResult
} from '../backend.js'
import { StorageError } from '../errors.js'
import { type Frame, type FrameWriter, Kind } from './frames.js'
import { FrameConnection } from './frame-connection.js'
import { RevisionFileWriter } from './revision-file.js'
import { PushedWatch } from './pushed-watch.js'
import { socketIn } from './socket-path.js'

/** Bytes waiting for a process at which its calls pause, and at which its connection is closed. */
const MAX_WAITING = 4 * 1024 * 1024
const MAX_CHANGES_WAITING = 64 * 1024 * 1024
/** Bytes of values in one answer to a list; the other end asks for the rest. */
const PAGE_BYTES = 4 * 1024 * 1024
/** Milliseconds between checks of the free disk space. */
const SPACE_INTERVAL = 1000

export interface StoreServer {
  /** Resolves when all connections are closed. */
  readonly close: () => Promise<void>
}

/**
 * The caller closes the back end, after the server.
 * @param failed the revision file cannot be written any more: the process must end
 * @throws Error of the system
 */
export async function serveStore (
  backend: Backend, directory: string, failed: (error: unknown) => void
): Promise<StoreServer> {
  const { path, close } = socketIn(directory)
  rmSync(path, { force: true }) // left by a killed process; the directory is locked
  const hub = new Hub(backend, new RevisionFileWriter(directory), failed)
  const server = createServer({ noDelay: true }, socket => { hub.add(socket) })
  await listen(server, path)
  return {
    close: async () => {
      const closed = new Promise(resolve => { server.close(resolve) })
      await hub.close()
      await closed
      rmSync(path, { force: true })
      close()
    }
  }
}

async function listen (server: Server, path: string): Promise<void> {
  const mask = process.umask(0o177)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, resolve) // binds synchronously
    })
    chmodSync(path, 0o600)
  } finally {
    process.umask(mask)
  }
}

class Hub {
  readonly #backend: Backend
  readonly #revisionFile: RevisionFileWriter
  readonly #failed: (error: unknown) => void
  readonly #connections = new Set<ProcessConnection>()
  readonly #watch: BackendWatch
  readonly #looking: NodeJS.Timeout
  /** Changes published in this turn and not yet pushed. */
  #pending: BackendEvent[] = []
  #revision: Revision
  #shortage: StorageError | undefined

  constructor (backend: Backend, revisionFile: RevisionFileWriter, failed: (error: unknown) => void) {
    this.#backend = backend
    this.#revisionFile = revisionFile
    this.#failed = failed
    this.#revision = backend.revisionNow() ?? 0
    revisionFile.write(this.#revision)
    this.#watch = backend.watch({
      start: '',
      end: '\x7f',
      after: this.#revision,
      previous: false,
      onEvents: (events, revision) => { this.#publish(events, revision) },
      onProgress: () => {},
      onEnd: () => { for (const connection of this.#connections) connection.destroy() }
    })
    this.#looking = setInterval(() => { this.#lookAtSpace() }, SPACE_INTERVAL).unref()
  }

  add (socket: Socket): void {
    this.#push() // the new connection starts after these changes
    const connection = new ProcessConnection(socket, this.#backend, this)
    this.#connections.add(connection)
    connection.greet(this.#revision, this.#shortage)
  }

  drop (connection: ProcessConnection): void { this.#connections.delete(connection) }

  compacted (): void { for (const connection of this.#connections) connection.sendCompacted() }

  async close (): Promise<void> {
    clearInterval(this.#looking)
    this.#watch.cancel()
    await Promise.all([...this.#connections].map(connection => connection.end()))
    this.#revisionFile.close()
  }

  /**
   * Called in the order of revisions, before writers are answered: the revision file must have a revision before its
   * write is acknowledged.
   */
  #publish (events: readonly BackendEvent[], revision: Revision): void {
    try {
      this.#revisionFile.write(revision)
    } catch (error) {
      this.#failed(error)
    }
    if (this.#pending.length === 0) queueMicrotask(() => { this.#push() }) // after the watches of single connections
    this.#pending.push(...events)
    this.#revision = revision
  }

  #push (): void {
    const events = this.#pending.splice(0)
    if (events.length === 0) return
    for (const connection of this.#connections) connection.sendChanges(events, this.#revision)
  }

  #lookAtSpace (): void {
    const shortage = this.#backend.shortage?.()
    if (shortage?.message === this.#shortage?.message) return
    this.#shortage = shortage
    for (const connection of this.#connections) connection.sendShortage(shortage)
  }
}

/** The connection of one process. */
class ProcessConnection {
  readonly #connection: FrameConnection
  readonly #backend: Backend
  readonly #hub: Hub
  readonly #watches = new Map<number, PushedWatch>()
  #calls = 0
  #idle: (() => void) | undefined

  constructor (socket: Socket, backend: Backend, hub: Hub) {
    this.#backend = backend
    this.#hub = hub
    this.#connection = new FrameConnection(socket, {
      frame: frame => { this.#take(frame) },
      closed: () => {
        hub.drop(this)
        for (const watch of this.#watches.values()) watch.cancel()
        this.#idle?.()
      }
    })
  }

  greet (revision: Revision, shortage: StorageError | undefined): void {
    this.#connection
      .begin(Kind.hello, 0).text(this.#backend.name).number(revision).number(this.#backend.compactedRevision()).end()
    if (shortage !== undefined) this.sendShortage(shortage)
  }

  sendChanges (events: readonly BackendEvent[], revision: Revision): void {
    if (this.#connection.waiting > MAX_CHANGES_WAITING) return this.#connection.destroy()
    const frame = this.#connection.begin(Kind.changes, 0).number(revision).number(events.length)
    for (const event of events) frame.event(event, undefined)
    frame.end()
  }

  sendCompacted (): void { this.#connection.begin(Kind.compacted, 0).number(this.#backend.compactedRevision()).end() }

  sendShortage (shortage: StorageError | undefined): void {
    const frame = this.#connection.begin(Kind.shortage, 0)
    if (shortage === undefined) frame.byte(0).end()
    else frame.byte(1).error(shortage).end()
  }

  destroy (): void { this.#connection.destroy() }

  /** Answers the calls received so far, then closes the connection. */
  async end (): Promise<void> {
    if (this.#calls > 0) await new Promise<void>(resolve => { this.#idle = resolve })
    this.#connection.end()
  }

  #take (frame: Frame): void {
    const { kind, number } = frame
    if (kind === Kind.watch) return this.#watch(number, frame)
    if (kind === Kind.cancel) {
      this.#watches.get(number)?.cancel()
      this.#watches.delete(number)
      return
    }
    if (kind === Kind.progress) return this.#watches.get(number)?.requestProgress()
    this.#calls++
    if (this.#connection.waiting > MAX_WAITING) {
      this.#connection.pause()
      this.#connection.whenDrained(() => { this.#connection.resume() })
    }
    this.#call(frame).then(
      write => {
        const answer = this.#connection.begin(Kind.result, number)
        write(answer)
        answer.end()
      },
      (error: unknown) => {
        this.#connection.begin(Kind.failure, number).error(error instanceof StorageError
          ? error
          : new StorageError('Unavailable', `the store failed: ${String(error)}`)).end()
      }
    ).finally(() => { if (--this.#calls === 0) this.#idle?.() }).catch(() => this.#connection.destroy())
  }

  async #call (frame: Frame): Promise<(answer: FrameWriter) => void> {
    const backend = this.#backend
    switch (frame.kind) {
      case Kind.get: {
        const { revision, kv } = await backend.get(frame.ascii(), frame.revision())
        return answer => answer.number(revision).optional(kv)
      }
      case Kind.list: {
        const { revision, kvs, more, count } = await backend
          .list({ start: frame.ascii(), end: frame.ascii(), limit: frame.revision(), revision: frame.revision() })
        let bytes = 0
        const rest = kvs.findIndex(({ value }, at) => (bytes += value.length) > PAGE_BYTES && at > 0)
        const page = rest === -1 ? kvs : kvs.slice(0, rest)
        return answer => {
          answer.number(revision).byte(more || rest !== -1 ? 1 : 0).number(count).number(page.length)
          for (const kv of page) answer.keyValue(kv)
        }
      }
      case Kind.count: {
        const count = await backend.count(frame.ascii(), frame.ascii())
        return answer => answer.number(count)
      }
      case Kind.create: {
        const [key, value, options] = [frame.ascii(), frame.value(), writeOptions(frame)]
        const guard = (): Guard => ({ key: frame.ascii(), revision: frame.revision() })
        const guards = Array.from({ length: frame.revision() }, guard)
        return outcome(await backend.create(key, value, { ...options, guards }))
      }
      case Kind.update:
        return outcome(await backend.update(frame.ascii(), frame.value(), frame.revision(), writeOptions(frame)))
      case Kind.delete: return outcome(await backend.delete(frame.ascii(), frame.revision()))
      case Kind.compact:
        await backend.compact(frame.revision())
        this.#hub.compacted()
        return () => {}
      case Kind.revision: {
        const revision = await backend.revision()
        return answer => answer.number(revision)
      }
      case Kind.status: {
        const { size, revision } = await backend.status()
        return answer => answer.number(size).number(revision)
      }
      case Kind.lease: {
        const lease = await backend.lease(frame.revision())
        return answer => answer.ascii(lease)
      }
      default: throw new StorageError('Unavailable', `no call has the kind ${frame.kind}`)
    }
  }

  #watch (number: number, frame: Frame): void {
    const request = {
      number, start: frame.ascii(), end: frame.ascii(), after: frame.revision(), follows: frame.byte() === 1,
      previous: frame.byte() === 1
    }
    const over = (): void => { this.#watches.delete(number) }
    this.#watches.set(number, new PushedWatch(this.#backend, this.#connection, request, over))
  }
}

function writeOptions (frame: Frame): WriteOptions {
  const [lease, deleting] = [frame.ascii(), frame.byte() === 1]
  return { ...(lease === '' ? {} : { lease }), ...(deleting ? { deleting } : {}) }
}

const outcome = (result: WriteResult) => (answer: FrameWriter): void => {
  answer.byte(result.succeeded ? 1 : 0).number(result.revision)
  if (!result.succeeded) answer.optional(result.current)
}
