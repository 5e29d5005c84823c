/** Collects the parts of one request that its audit events need at the policy's level. */
import { parseExactly, stringify } from '../../schemas/codec/json/exact.js'
import type { Status } from '../../schemas/status.js'
import type { ObjectRecorder, Recorded } from '../../answers/request-context.js'
import { TRUNCATED } from './event.js'
import type { RequestAuditConfig } from './policy.js'
import { Subject, type RequestFacts } from './subject.js'

/** Maximum characters of an object; a larger one is omitted and the event annotated. */
const MAX_OBJECT_LENGTH = 16 * 1024 * 1024

export class Recording implements ObjectRecorder {
  readonly auditConfig: RequestAuditConfig
  readonly subject: Subject
  readonly wantsRequest: boolean
  readonly wantsResponse: boolean
  requestJson: string | undefined
  responseJson: string | undefined
  /** Set if the response is a Status. */
  answered: Omit<Status, 'code'> | undefined
  /** True if an object was omitted because of its size. */
  truncated = false

  constructor (auditConfig: RequestAuditConfig, facts: RequestFacts) {
    this.auditConfig = auditConfig
    this.subject = new Subject(facts)
    this.wantsResponse = auditConfig.level === 'RequestResponse'
    this.wantsRequest = this.wantsResponse || auditConfig.level === 'Request'
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

  /** @param annotations current annotations of the request */
  annotate (annotations: Readonly<Record<string, string>>): void {
    this.subject.annotations = this.truncated ? { ...annotations, ...TRUNCATED } : annotations
  }

  #kept (json: string): string | undefined {
    if (json.length > MAX_OBJECT_LENGTH) {
      this.truncated = true
      return undefined
    }
    const text = json.endsWith('\n') ? json.slice(0, -1) : json
    return this.auditConfig.omitManagedFields && text.includes('"managedFields"') ? withoutManagedFields(text) : text
  }
}

interface Managed { metadata?: { managedFields?: unknown } }

/** Handles objects, lists, and tables with objects in their rows. */
function withoutManagedFields (json: string): string {
  // JSON from this server
  const object = parseExactly(Buffer.from(json)) as Managed & { items?: Managed[], rows?: Array<{ object?: Managed }> }
  const all: ReadonlyArray<Managed | undefined> = [
    object, ...Array.isArray(object.items) ? object.items : [],
    ...Array.isArray(object.rows) ? object.rows.map(row => row.object) : []
  ]
  for (const managed of all) delete managed?.metadata?.managedFields
  return stringify(object) ?? json
}
