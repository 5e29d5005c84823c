/**
 * How a client sees the objects of a store: in its version and under its names. Each form of a stored entry is made of
 * its bytes when it is first asked for, and kept beside it (`storage/cache/forms.ts`).
 */
import { rawJson } from '../schemas/codec/json/escape.js'
import { parseExactly } from '../schemas/codec/json/exact.js'
import { metadataIn, withoutManagers } from '../schemas/codec/json/metadata.js'
import { renamedInSteps, renamedJson } from '../schemas/codec/json/rename.js'
import { transcodeOnce } from '../schemas/codec/protobuf/transcode.js'
import { Facts } from '../schemas/language/types.js'
import type { CellBudget } from '../schemas/cell-budget.js'
import { LONG_FORM_BYTES } from '../schemas/limits.js'
import { PartialObjectMetadata } from '../schemas/meta/answers.js'
import { agesAt } from '../schemas/meta/duration.js'
import { OWN_NAMES, type Naming } from '../schemas/naming.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import { PUBLIC_END_OF_INITIAL_EVENTS } from '../schemas/public-names.js'
import { MarkedAges, RowTemplate } from '../schemas/row-template.js'
import { finish, type Steps } from '../schemas/steps.js'
import { tableRow, type RowView } from '../schemas/table.js'
import { oncePer } from '../schemas/once-per.js'
import { copyOf, ownBytes } from '../storage/bytes.js'
import { Entry } from '../storage/cache/entry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { View } from './view.js'

const NO_NAMES = Buffer.alloc(0)

export class StoredView extends View {
  readonly store: ResourceStore
  readonly kind: string
  readonly apiVersion: string
  /** True if clients see the stored bytes. */
  readonly isStored: boolean
  /** Tells the view apart from others of its type. */
  readonly id: string
  readonly #messageForm: string
  readonly #metadataForm: string
  readonly #metadataMessageForm: string
  readonly #rowForm: string

  constructor (store: ResourceStore, naming: Naming) {
    super(naming)
    const { kind, apiVersion, conversion } = store.representation
    this.store = store
    this.kind = kind
    this.apiVersion = naming.group(apiVersion)
    this.isStored = conversion === undefined && !naming.renames
    this.id = `${apiVersion}${naming.id}`
    this.#messageForm = `${this.id} protobuf`
    this.#metadataForm = `${this.id} metadata`
    this.#metadataMessageForm = `${this.id} metadata as protobuf`
    this.#rowForm = `${this.id} row`
  }

  /** The object of a bookmark: kind, resourceVersion and the mark after the initial state. */
  bookmark (revision: number, isMark: boolean) {
    const { kind, apiVersion } = this
    const resourceVersion = String(revision)
    const metadata = isMark ? { resourceVersion, annotations: endOf(this.naming) } : { resourceVersion }
    return { kind, apiVersion, metadata }
  }

  /** With the JSON that the client sees. Its labels and fields, which selectors match, stay those that are stored. */
  entry (stored: Entry): Entry {
    return this.isStored ? stored : stored.derive(this.id, () => finish(this.#made(stored)), sizeOfEntry(stored))
  }

  * #made (stored: Entry): Steps<Entry> {
    const own = yield * this.#inVersion(stored)
    if (!this.naming.renames) return own
    const json = yield * this.#renamed(own.json)
    return json === own.json ? own : new Entry(own.key, own.revision, json, own.labels, own.fields)
  }

  /** Protobuf without an envelope. @throws TypeError for a type without a protobuf form */
  encoded (stored: Entry): Buffer {
    return stored.derive(this.#messageForm, () => {
      const { message } = this.store.representation
      return copyOf(transcodeOnce(message, finish(this.#inVersion(stored)).json, this.naming.renaming(message)))
    })
  }

  /** The JSON of its metadata. */
  metadata (stored: Entry): Buffer {
    return stored.derive(this.#metadataForm, () => {
      const own = metadataIn(finish(this.#inVersion(stored)).json)
      const renamed = this.naming.renaming(this.store.representation.message)?.member('metadata')
      const shown = renamed?.kind === 'objects' ? renamedJson(own, renamed.renaming) : own
      return partOrCopy(shown, stored)
    }, sizeOfPart(stored))
  }

  /** A PartialObjectMetadata as protobuf without an envelope. */
  metadataMessage (stored: Entry): Buffer {
    return stored.derive(this.#metadataMessageForm, () => messageOfMetadata(this.metadata(stored)))
  }

  /**
   * Makes a form of a large object, which the methods above find then, in steps: others than JSON of what is shown as
   * JSON, so that it alone is renamed.
   */
  * inSteps (stored: Entry, { protobuf, metadata }: Shape): Steps<void> {
    const shown = this.isStored
      ? stored
      : yield * stored.deriveInSteps(this.id, this.#made(stored), sizeOfEntry(stored))
    if (metadata) {
      const part = makeOf(() => partOrCopy(metadataIn(shown.json), stored))
      yield * stored.deriveInSteps(this.#metadataForm, part, sizeOfPart(stored))
      if (!protobuf) return
      yield * stored.deriveInSteps(this.#metadataMessageForm, makeOf(() => messageOfMetadata(this.metadata(stored))))
    } else if (protobuf) {
      const message = this.naming.message(this.store.representation.message)
      yield * stored.deriveInSteps(this.#messageForm, makeOf(() => copyOf(transcodeOnce(message, shown.json))))
    }
  }

  /** Whether the form is there, or takes little to make. */
  isReady (stored: Entry, { protobuf, metadata }: Shape): boolean {
    if (stored.json.length < LONG_FORM_BYTES || (this.isStored && !protobuf && !metadata)) return true
    const name = metadata
      ? protobuf ? this.#metadataMessageForm : this.#metadataForm
      : protobuf ? this.#messageForm : this.id
    return stored.known(name) !== undefined
  }

  /** Cells and conditions of its row: JSON whose end is open for the object. In steps, as an object may be large. */
  * row (stored: Entry, budget: CellBudget): Steps<RowTemplate> {
    const known = stored.known(this.#rowForm)
    if (known !== undefined) return known as RowTemplate // by `derive` below
    const { message } = this.store.representation
    const { json } = yield * this.#inVersion(stored)
    // Columns of definitions may show anything.
    const isCustom = message[Facts].given !== undefined
    const read = (): ApiObject => parseExactly(isCustom ? json : withoutManagers(json)) as ApiObject
    const named = (): ApiObject => this.naming.value(message, read())
    // Their paths have names too, which need not be in what is found.
    const isNamed = isCustom && this.naming.mayDiffer(json)
    let object = isNamed ? named() : read()
    yield
    let row = yield * this.#rowOf(object, { budget })
    if (!isNamed && this.naming.mayDiffer(row.sample)) {
      object = named()
      yield
      row = yield * this.#rowOf(object, { budget, named: this.naming.key })
    }
    const { template } = row
    return template === undefined
      ? RowTemplate.ofText(this.#rowText(object, { budget, ages: agesAt(this.store.clock.wall()) }))
      : stored.derive(this.#rowForm, () => template, ({ size }) => size)
  }

  /** Whether `row` finds it. */
  hasRow (stored: Entry): boolean { return stored.known(this.#rowForm) !== undefined }

  * #rowOf (object: ApiObject, view: RowView): Steps<{ sample: Buffer, template: RowTemplate | undefined }> {
    const ages = new MarkedAges()
    const text = this.#rowText(object, { ...view, ages })
    yield
    return { sample: this.naming.renames ? Buffer.from(text) : NO_NAMES, template: RowTemplate.of(text, ages) }
  }

  #rowText (object: ApiObject, view: RowView): string {
    const { cells, conditions } = tableRow(this.store.tabular, object, 0, view)
    return rawJson({ cells, ...(conditions.length === 0 ? {} : { conditions }) }).slice(0, -1)
  }

  /** In the version, under this server's names; not kept unless others ask for it. */
  * #inVersion (stored: Entry): Steps<Entry> {
    const { store } = this
    const { apiVersion, conversion } = store.representation
    if (conversion === undefined) return stored
    return stored.known(apiVersion) as Entry | undefined ?? (yield * store.conversion.onceForClients(stored))
  }

  * #renamed (json: Buffer): Steps<Buffer> {
    const { message } = this.store.representation
    if (this.naming.message(message) !== message) {
      const own = parseExactly(json) as ApiObject
      yield
      const shown = this.naming.shown(message, own)
      yield
      return ownBytes(rawJson(shown))
    }
    const renaming = this.naming.renaming(message)
    if (renaming === undefined) return json
    return json.length < LONG_FORM_BYTES ? renamedJson(json, renaming) : yield * renamedInSteps(json, renaming)
  }
}

/** Which form of an object is meant. */
export interface Shape { readonly protobuf: boolean, readonly metadata: boolean }

const sizeOfEntry = (stored: Entry) => ({ json }: Entry): number => json === stored.json ? 0 : json.length
const isPartOf = (bytes: Buffer, { json }: Entry): boolean => bytes.buffer === json.buffer
const sizeOfPart = (stored: Entry) => (shown: Buffer): number => isPartOf(shown, stored) ? 0 : shown.length
const partOrCopy = (shown: Buffer, stored: Entry): Buffer => isPartOf(shown, stored) ? shown : copyOf(shown)
const messageOfMetadata = (metadata: Buffer): Buffer =>
  copyOf(transcodeOnce(PartialObjectMetadata, Buffer.concat([METADATA, metadata, END])))

/** A step of its own. */
function * makeOf<T> (make: () => T): Steps<T> {
  yield
  return make()
}

const METADATA = Buffer.from('{"metadata":')
const END = Buffer.from('}')

const endOf = ({ key }: Naming): Record<string, string> =>
  ({ [key('orch.io/initial-events-end')]: 'true', [PUBLIC_END_OF_INITIAL_EVENTS]: 'true' })

const viewsOf = oncePer((store: ResourceStore) => oncePer((naming: Naming) => new StoredView(store, naming)))

export const storedViewOf = (store: ResourceStore, { naming }: { readonly naming: Naming }): StoredView =>
  viewsOf(store)(naming)

/** As this server sees them, and records them. */
export const ownViewOf = (store: ResourceStore): StoredView => viewsOf(store)(OWN_NAMES)
