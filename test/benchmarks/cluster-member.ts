/**
 * A program of the simulated cluster: requests and informers over one HTTP/2 connection, as the user of its
 * certificate.
 */
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { certify } from '../../serving/certify.js'
import type { Json } from '../build.js'
import { ACCEPTED, ACCEPTED_EVENTS, decoded, encoded, Frames, listOf, PROTOBUF, type List } from './cluster-wire.js'
import { Latencies } from './cluster-latencies.js'

/** What all members of a cluster have done and seen. */
export class Tally {
  readonly requests = new Map<string, number>()
  /** Milliseconds. */
  readonly patches: number[] = []
  readonly seen: number[] = []
  /** Of lease renewals, and of status patches: until they are answered, and until a controller sees them. */
  readonly leases = new Latencies()
  readonly statuses = new Latencies()
  /** When a pod's binding was sent. */
  readonly bound = new Map<string, number>()
  /** Pods that a node agent has seen. */
  readonly arrived = new Set<string>()
  /** Events that were acknowledged. */
  events = 0
  refusals = 0
  /** Informers that had to list again. */
  restarts = 0
  readonly faults: string[] = []

  count (what: string): void { this.requests.set(what, (this.requests.get(what) ?? 0) + 1) }

  /** A fault ends the run: its figures would mean nothing. @throws Error */
  check (): void {
    if (this.faults.length > 0 || this.restarts > 0) {
      throw new Error(`${this.restarts} informers were restarted; ${this.faults.slice(0, 5).join('; ')}`)
    }
  }
}

const HOUR = 3_600_000

export interface Authority {
  readonly certificate: string
  readonly issue: (user: string, groups: readonly string[]) => { readonly cert: string, readonly key: string }
}

export function authority (): Authority {
  const commonName = 'bench'
  const from = new Date(Date.now() - HOUR)
  const until = new Date(Date.now() + 24 * HOUR)
  const own = certify({ commonName, uses: ['client'], authority: true, from, until })
  return {
    certificate: own.certificate,
    issue: (user, organizations) => {
      const { certificate: cert, key } = certify({
        commonName: user, organizations, uses: ['client'], from, until, issuer: { commonName, key: own.key }
      })
      return { cert, key }
    }
  }
}

export interface Place {
  readonly port: number
  readonly authority: Authority
  readonly tally: Tally
  /** Aborts when the cluster ends. */
  readonly over: AbortSignal
}

export type Heard = (type: string, object: Json) => void

/** Milliseconds between two attempts of an informer. */
const AGAIN = 200
const STRATEGIC = 'application/strategic-merge-patch+json'

export class Member {
  readonly tally: Tally
  readonly over: AbortSignal
  readonly #open: () => ClientHttp2Session
  #session: ClientHttp2Session

  constructor ({ port, authority, tally, over }: Place, user: string, groups: readonly string[]) {
    this.tally = tally
    this.over = over
    const credentials = authority.issue(user, groups)
    this.#open = () =>
      connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, ...credentials }).on('error', () => {})
    this.#session = this.#open()
  }

  close (): void { this.#session.destroy() }

  /**
   * Sends an object in protobuf, and a patch as JSON, as clients written in Go do.
   * @param kind for the tally @returns the answer @throws Error if it is a failure other than 429, which is tried again
   */
  async ask (kind: string, method: string, path: string, body?: Json): Promise<Json> {
    return decoded(await this.#asked(kind, { method, path, body }))
  }

  /** @param isWhole items have not only their metadata */
  async list (path: string, isWhole: boolean): Promise<List> {
    return listOf(await this.#asked('list', { method: 'GET', path }), isWhole)
  }

  async empty (path: string): Promise<void> { await this.#asked('others', { method: 'DELETE', path }) }

  async #asked (
    kind: string, { method, path, body }: { method: string, path: string, body?: Json | undefined }
  ): Promise<Buffer> {
    const isObject = body?.['kind'] !== undefined
    const sent = body === undefined ? undefined : isObject ? encoded(body) : Buffer.from(JSON.stringify(body))
    // A body of unknown length would count as a large one.
    const about = sent === undefined
      ? {}
      : {
          'content-type': isObject ? PROTOBUF : method === 'PATCH' ? STRATEGIC : 'application/json',
          'content-length': String(sent.length)
        }
    for (;;) {
      this.tally.count(kind)
      const { headers, bytes } = await this.#send({ ':method': method, ':path': path, ...about }, sent)
      const code = headers[':status'] ?? 0
      if (code < 400) return bytes
      if (code !== 429) throw new Error(`${method} ${path} was answered ${code}: ${bytes.toString().slice(0, 300)}`)
      this.tally.refusals++
      await sleep(Number(headers['retry-after'] ?? 1) * 1000)
    }
  }

  /** Notes what fails, instead of rejecting; after the end of the cluster it does not matter. */
  try (work: Promise<unknown>): void {
    work.catch((error: unknown) => { if (!this.over.aborted) this.tally.faults.push(String(error)) })
  }

  #send (headers: Record<string, string>, body?: Buffer, data?: (piece: Buffer) => void): Promise<{
    readonly headers: IncomingHttpHeaders & { readonly ':status'?: number }
    readonly bytes: Buffer
  }> {
    if (this.#session.closed || this.#session.destroyed) this.#session = this.#open()
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = []
      let answer: IncomingHttpHeaders = {}
      const stream = this.#session.request({ accept: ACCEPTED, ...headers }, { endStream: body === undefined })
      if (body !== undefined) stream.end(body)
      stream.on('response', got => { answer = got })
      stream.on('data', (piece: Buffer) => {
        if (data !== undefined && answer[':status'] as unknown === 200) data(piece); else pieces.push(piece)
      })
      stream.on('error', reject)
      stream.on('close', () => { resolve({ headers: answer, bytes: Buffer.concat(pieces) }) })
    })
  }

  /**
   * Lists, then watches from there; a watch that ends is resumed where it was. Resolves with the first list.
   * @param isWhole otherwise objects have only their metadata, which takes the client less time
   */
  async inform (path: string, heard: Heard, isWhole = true): Promise<void> {
    const list = async (): Promise<string> => {
      const { items, version } = await this.list(path, isWhole)
      for (const item of items) heard('ADDED', item)
      return version
    }
    const version = await list()
    this.try(this.#follow({ path, version, heard, isWhole, list }))
  }

  async #follow ({ path, version: from, heard, isWhole, list }: Following): Promise<void> {
    let version = from
    while (!this.over.aborted) {
      const frames = new Frames()
      let isLost = false
      this.tally.count('watch')
      const { headers } = await this.#send({
        accept: ACCEPTED_EVENTS,
        ':path': `${path}${path.includes('?') ? '&' : '?'}watch=1&allowWatchBookmarks=true&resourceVersion=${version}`
      }, undefined, piece => {
        for (const [type, object] of frames.read(piece, isWhole)) {
          if (type === 'ERROR') isLost = true
          else version = object['metadata'].resourceVersion as string
          if (type !== 'ERROR' && type !== 'BOOKMARK') heard(type, object)
        }
      })
      if (this.over.aborted) return
      isLost ||= headers[':status'] === 410
      if (isLost) {
        this.tally.restarts++
        version = await list()
      }
      await sleep(AGAIN)
    }
  }
}

/** An informer after its first list. */
interface Following {
  readonly path: string
  readonly version: string
  readonly heard: Heard
  readonly isWhole: boolean
  readonly list: () => Promise<string>
}
