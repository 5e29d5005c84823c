/** The writes of objects: of a new one, and of a change of an existing one. */
import type { ApiObject } from '../../schemas/resource.js'
import type { FieldError } from '../../schemas/status.js'
import type { WriteOptions } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { PendingWrite } from '../../storage/cache/pending-writes.js'
import type { AdmissionOperation } from '../admission.js'
import type { Manager } from '../apply/managers.js'
import type { Target, WriteContext } from '../write-context.js'
import type { ResourceStore } from '../resource-store.js'
import { Write } from './write.js'

/** Decodes the body of a request: an object in the version of the store, without its defaults. */
export type Sent = () => Promise<ApiObject>

/** A write that may put an object into the store. */
export class StoredWrite extends Write {
  declare object: ApiObject
  /** Default: the object is there, in the stored version. */
  sent: Sent | undefined = undefined
  /** Of a new object: once its name is known. */
  key: string
  /** For objects that expire. */
  lease: WriteOptions | undefined = undefined
  /** As the store gets it, and what the cache reads it as. */
  encoded: PendingWrite | undefined = undefined

  constructor (store: ResourceStore, target: Target, context: WriteContext, operation: AdmissionOperation) {
    super(store, target, context, operation)
    this.key = store.key(target.namespace, target.name)
  }
}

export class CreateWrite extends StoredWrite {
  /** The managers after an apply; admission then adds none. */
  applied: readonly Manager[] | undefined = undefined
  /** The entries of managers, which admission cannot change. */
  managedFields: ApiObject['metadata']['managedFields'] = undefined
  /** What is wrong with the object as it was sent. */
  findings: readonly FieldError[] = []
  /** The name is generated at each attempt. */
  isGenerated = false
  attempt = 1
  /** The name that the client or the server chose. Admission may rename the object, but asks about this one. */
  chosenName = ''

  constructor (store: ResourceStore, object: ApiObject | Sent, target: Target, context: WriteContext) {
    super(store, target, context, 'CREATE')
    if (typeof object === 'function') this.sent = object
    else this.object = object
  }

  override get name (): string { return this.chosenName }
}

export class ChangeWrite extends StoredWrite {
  declare oldObject: ApiObject
  /** The newest object that is known; undefined if it is missing. */
  current: Entry | undefined = undefined
  /** The object that this attempt replaces. */
  base!: Entry // set by the first stage
  /** Whether the base is known to be the newest object, rather than that of the cache. */
  isNewest = false
  /** The object may be missing: the write is then done, without a result. */
  mayBeMissing = false
  /** The write removes the object. */
  removes = false
  /** Bytes of JSON up to which size limits do not apply: an object over the limits may still shrink. */
  unlimitedBytes = 0
}
