/** What is kept of one request for its events, as far as the policy asks for it. */
import { parseExactly, stringify } from '../../schemas/index.js'
import type { Status } from '../../schemas/status.js'
import type { ObjectRecorder, Recorded } from '../context.js'
import { TRUNCATED } from './event.js'
import type { Ruling } from './policy.js'
import { Subject, type RequestFacts } from './subject.js'

/** Characters of an object; a larger one is left out, and its event says so. */
const MOST_TEXT = 16 * 1024 * 1024

export class Recording implements ObjectRecorder {
  readonly ruling: Ruling
  readonly subject: Subject
  readonly wantsRequest: boolean
  readonly wantsResponse: boolean
  requestJson: string | undefined
  responseJson: string | undefined
  /** Of an answer that is one. */
  answered: Omit<Status, 'code'> | undefined
  /** An object was too large to be kept. */
  truncated = false

  constructor (ruling: Ruling, asked: RequestFacts) {
    this.ruling = ruling
    this.subject = new Subject(asked)
    this.wantsResponse = ruling.level === 'RequestResponse'
    this.wantsRequest = this.wantsResponse || ruling.level === 'Request'
  }

  request (sent: Recorded | undefined, json: () => string): void {
    const { name, namespace, uid, resourceVersion } = sent?.metadata ?? {}
    if (sent?.metadata !== undefined) this.subject.object = { name, namespace, uid, resourceVersion }
    if (this.wantsRequest) this.requestJson = this.#kept(json())
  }

  response (json: () => string): void {
    if (this.wantsResponse) this.responseJson = this.#kept(json())
  }

  status (status: Omit<Status, 'code'>): void {
    this.answered = status
    this.response(() => JSON.stringify(status))
  }

  tooLarge (): void { this.truncated = true }

  /** @param annotations of the request so far */
  annotate (annotations: Readonly<Record<string, string>>): void {
    this.subject.annotations = this.truncated ? { ...annotations, ...TRUNCATED } : annotations
  }

  #kept (json: string): string | undefined {
    if (json.length > MOST_TEXT) {
      this.truncated = true
      return undefined
    }
    const text = json.endsWith('\n') ? json.slice(0, -1) : json
    return this.ruling.omitManagedFields && text.includes('"managedFields"') ? withoutManagedFields(text) : text
  }
}

interface Managed { metadata?: { managedFields?: unknown } }

/** Of an object, a list, or a table with the objects of its rows. */
function withoutManagedFields (json: string): string {
  const object = parseExactly(Buffer.from(json)) as Managed & { items?: Managed[], rows?: Array<{ object?: Managed }> } // JSON that we wrote
  const all: ReadonlyArray<Managed | undefined> = [object, ...Array.isArray(object.items) ? object.items : [], ...Array.isArray(object.rows) ? object.rows.map(row => row.object) : []]
  for (const one of all) delete one?.metadata?.managedFields
  return stringify(object) ?? json
}
