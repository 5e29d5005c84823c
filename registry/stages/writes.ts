/** The writes of objects: of a new one, and of a change of an existing one. */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { FieldError } from '../../schemas/status.js'
import type { WriteOptions } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { PendingWrite } from '../../storage/cache/pending-writes.js'
import type { UnversionedJson } from '../../storage/cache/unversioned.js'
import type { AdmissionOperation, ForeignChange } from '../admission.js'
import type { Manager } from '../apply/managers.js'
import type { ObjectWrite } from '../write-context.js'
import { Given, present, Write, type Sent } from './write.js'

/** Approximate bytes of JSON per value. */
const BYTES_PER_VALUE = 16

/** A write that may put an object into the store. */
export class StoredWrite extends Write {
  #object: ApiObject | undefined = undefined
  #storedForm: ApiObject | undefined = undefined
  /** Of a new object: once its name is known. */
  key: string
  attempt = 1
  /** For objects that expire. */
  lease: WriteOptions | undefined = undefined
  /** How many the object had when it was measured: defaults and patches can enlarge it tenfold. */
  values = 0
  /** The object as it will be stored, with its owners. */
  json: UnversionedJson | undefined = undefined
  /** As the store gets it, and what the cache reads it as. */
  encoded: PendingWrite | undefined = undefined

  constructor (write: ObjectWrite, operation: AdmissionOperation) {
    super(write, operation)
    this.key = write.store.keys.of(write.target.namespace, write.target.name)
  }

  /** Admission and stages change it in place. */
  override get object (): ApiObject { return present(this.#object, 'object') }
  override set object (object: ApiObject) {
    this.#object = object
    this.#storedForm = undefined
  }

  /** As readers will get the object, once it is encoded. */
  get storedForm (): ApiObject { return this.#storedForm ?? this.object }
  set storedForm (object: ApiObject) { this.#storedForm = object }

  override get size (): number { return Math.max(super.size, this.values * BYTES_PER_VALUE, this.json?.length ?? 0) }

  /** Bytes of JSON up to which size limits do not apply. */
  get unlimitedBytes (): number { return 0 }
}

export class CreateWrite extends StoredWrite {
  /** In the stored version, or sent: in the version of the store, without its defaults. */
  readonly given: Given<ApiObject>
  /** The managers after an apply; admission then adds none. */
  readonly applied: readonly Manager[] | undefined
  /** The entries of managers, which admission cannot change. */
  managedFields: ApiObject['metadata']['managedFields'] = undefined
  /** Names without effect in the object as it was sent. */
  misnamed: readonly FieldError[] = []
  /** The name that the client sent; '' if it left that to the server. */
  sentName = ''
  /** The name that the server chose for this attempt, if it had to. */
  generatedName: string | undefined = undefined
  /** By admission; empty where the managers are those of an apply. */
  foreignChanges: readonly ForeignChange[] = []

  constructor (write: ObjectWrite, given: ApiObject | Sent<ApiObject>, applied?: readonly Manager[]) {
    super(write, 'CREATE')
    this.given = new Given(given)
    if (this.given.sent === undefined) this.object = this.given.value
    this.applied = applied
  }

  /** What admission asks about, even if it renames the object. */
  override get name (): string { return this.generatedName ?? this.sentName }
}

export class ChangeWrite extends StoredWrite {
  #oldObject: ApiObject | undefined = undefined
  /** The newest object that is known, which the attempt replaces; undefined if it is missing. */
  current: Entry | undefined = undefined
  /** Whether that is known to be the newest one, rather than that of the cache. */
  isNewest = false
  /** A missing object is created. */
  mayCreate = false
  /** The write removes the object. */
  removes = false

  constructor (write: ObjectWrite, operation: AdmissionOperation = 'UPDATE') {
    super(write, operation)
  }

  get base (): Entry { return present(this.current, 'base') }
  override get oldObject (): ApiObject { return present(this.#oldObject, 'old object') }
  override set oldObject (object: ApiObject) { this.#oldObject = object }

  override get size (): number { return Math.max(super.size, this.current?.json.length ?? 0) }

  /** An object over the limits may still shrink. */
  override get unlimitedBytes (): number { return this.base.json.length }

  /** Forgets the attempt before. */
  begin (): void {
    this.result = undefined
    this.encoded = undefined
    this.removes = false
    this.values = 0
    this.json = undefined
  }
}
