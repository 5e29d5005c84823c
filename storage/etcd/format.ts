/**
 * A key that holds the format of the data below the prefix, as a number, and so keeps out releases that are too old. No
 * other request is sent until the key has been read. It is written only if it is absent or older, in a transaction that
 * compares it, so that servers may start concurrently.
 */
import type { KeyValue } from '../backend.js'
import { StorageError } from '../errors.js'
import type { Connection } from './connection.js'
import { CallError } from './failures.js'

/** Raise it when this release writes what earlier ones would misread. The embedded store has a format of its own. */
export const FORMAT = 1
/** Below the prefix. No resource begins with a dot. */
export const FORMAT_KEY = '.format'

export interface FormatOptions {
  /** The path above all keys. */
  readonly prefix: string
  /** Receives what an operator should know: once for each change of the key. */
  readonly note: (text: string, level: 'info' | 'warn') => void
  /** Called once, before anything else learns of it, if the format is newer. */
  readonly refused: (error: StorageError) => void
  /** The newest format that is known here. Default that of this release. */
  readonly known?: number
}

type Calls = Pick<Connection,
  'offset' | 'range' | 'size' | 'mark' | 'compact' | 'other' | 'txn' | 'watchStream' | 'close' | 'failure'>

/**
 * A connection whose calls wait for the format check, and fail if it fails. If the format is newer, they fail with
 * 'Unavailable' from then on.
 */
export class CheckedConnection implements Calls {
  readonly #connection: Calls
  readonly #options: FormatOptions
  readonly #key: Buffer
  readonly #known: number
  #checked = false
  #checking: Promise<void> | undefined
  #refusal: StorageError | undefined

  constructor (connection: Calls, options: FormatOptions) {
    this.#connection = connection
    this.#options = options
    this.#key = Buffer.from(`${options.prefix}/${FORMAT_KEY}`, 'latin1')
    this.#known = options.known ?? FORMAT
    // Starts the check at once, beside the rest of the start-up. The first call repeats it if it fails.
    this.#check().catch(() => {})
  }

  get offset (): number { return this.#connection.offset }
  failure (error: CallError): StorageError { return this.#connection.failure(error) }

  readonly range: Calls['range'] = (...args) =>
    this.#checked ? this.#connection.range(...args) : this.#check().then(() => this.#connection.range(...args))

  readonly size: Calls['size'] = (...args) =>
    this.#checked ? this.#connection.size(...args) : this.#check().then(() => this.#connection.size(...args))

  readonly mark: Calls['mark'] = (...args) =>
    this.#checked ? this.#connection.mark(...args) : this.#check().then(() => this.#connection.mark(...args))

  readonly txn: Calls['txn'] = (...args) =>
    this.#checked ? this.#connection.txn(...args) : this.#check().then(() => this.#connection.txn(...args))

  readonly watchStream: Calls['watchStream'] = (...args) => this.#checked
    ? this.#connection.watchStream(...args)
    : this.#check().then(() => this.#connection.watchStream(...args))

  readonly compact: Calls['compact'] = (...args) =>
    this.#checked ? this.#connection.compact(...args) : this.#check().then(() => this.#connection.compact(...args))

  async other<Answer> (...args: Parameters<Calls['other']>): Promise<Answer> {
    await this.#check()
    return await this.#connection.other<Answer>(...args)
  }

  close (): void { this.#connection.close() }

  #check (): Promise<void> {
    if (this.#checked) return Promise.resolve()
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal)
    this.#checking ??= this.#look().then(() => { this.#checked = true }).finally(() => { this.#checking = undefined })
    return this.#checking
  }

  /** @throws StorageError */
  async #look (): Promise<void> {
    let mark = (await this.#connection.range({ key: this.#key })).kvs[0]
    for (;;) {
      const marked = formatOf(mark)
      if (marked === undefined || marked.format > this.#known) throw this.#refuse(mark)
      const { format, offset } = marked
      if (format === this.#known) return this.#use(offset)
      try {
        const { succeeded, kv } = await this.#connection.txn({
          key: this.#key, expected: mark?.modRevision ?? 0,
          value: Buffer.from(formatText({ format: this.#known, offset })), lease: undefined
        })
        if (succeeded) {
          this.#noteChange(format)
          return this.#use(offset)
        }
        mark = kv // another server was faster
      } catch (error) {
        if (!(error instanceof CallError)) throw error
        if (error.transient) throw this.#connection.failure(error)
        // Reads still work if etcd is full, or if the user may not write.
        this.#options.note(
          `the format of the store could not be written to ${this.#key.toString('latin1')} in etcd, the next start ` +
            `tries again: ${error.message}`,
          'warn'
        )
        return this.#use(offset)
      }
    }
  }

  /** Sets the offset; earlier calls used etcd's own revisions. */
  #use (offset: number): void {
    if (offset > 0) this.#connection.offset = offset
  }

  #noteChange (before: number): void {
    const { prefix, note } = this.#options
    if (before ===
      0) {
      note(
        `the store below ${prefix} in etcd is marked as format ${this.#known}: releases that know only older formats ` +
          'end their start there',
        'info'
      )
    } else {
      note(`the store below ${prefix} in etcd is of format ${this.#known} from now on, it was of format ${before}: ` +
        `releases that know only format ${before} can read it no longer; end those that still run`, 'warn')
    }
  }

  #refuse (mark: KeyValue | undefined): StorageError {
    const { prefix, refused } = this.#options
    this.#refusal = new StorageError('Unavailable', faultOfMark(prefix, mark, this.#known))
    refused(this.#refusal)
    return this.#refusal
  }
}

interface Format {
  readonly format: number
  /** Added to etcd's revisions. The key then holds `FORMAT+OFFSET`; releases without offsets refuse such a store. */
  readonly offset: number
}

/** Format 0 without a mark; undefined for any other text. */
export function formatOf (mark: KeyValue | undefined): Format | undefined {
  if (mark === undefined) return { format: 0, offset: 0 }
  const [, format, offset = '0'] = /^([1-9]\d{0,8})(?:\+([1-9]\d{0,14}))?$/.exec(textOf(mark)) ?? []
  return format === undefined ? undefined : { format: Number(format), offset: Number(offset) }
}

export const formatText = ({ format, offset }: Format): string => offset === 0 ? String(format) : `${format}+${offset}`

const RESTORING = 'restoring '

/**
 * Stands in place of the format while a restore writes; every release refuses it.
 * @param before the offset of the range until then
 */
export const restoringText = (id: string, before: number): string => `${RESTORING}${id}+${before}`

/** The offset from before an unfinished restore; undefined if there is none. */
export const offsetBefore = (mark: KeyValue | undefined): number | undefined =>
  mark !== undefined && textOf(mark).startsWith(RESTORING)
    ? Number(/\+(\d{1,15})$/.exec(textOf(mark))?.[1] ?? 0)
    : undefined

/** Why this release does not use a store with this mark. */
export const faultOfMark = (prefix: string, mark: KeyValue | undefined, known: number): string =>
  offsetBefore(mark) === undefined
    ? `the store below --etcd-prefix=${prefix} is of format ${mark === undefined ? '' : textOf(mark).slice(0, 40)}, ` +
    `this release reads up to format ${known}: start the release that wrote it, or a newer one, or name another ` +
    '--etcd-prefix'
    : `the store below --etcd-prefix=${prefix} is being restored, or a restore was interrupted: wait for it, or run ` +
      'it ' +
    'again'

const textOf = ({ value }: KeyValue): string => Buffer.from(value).toString('latin1')
