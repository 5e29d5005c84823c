/**
 * Reads an embedded store that no server has open, from its file instead of through LMDB, so that any damage can be
 * reported. Damage of the store prevents a start; damaged single values do not affect the others.
 */
import {
  addKey, CHECKED, describeTotalsMismatch, FIRST_FORMAT, FORMAT, metaKey, parseLease, parseTotals, parseVersionKey,
  TOTALS_KEY, UNCHECKED, unseal, type Totals
} from './record.js'
import { walkPages } from './pages.js'

export interface Inspection {
  /** Damage of the store. */
  readonly problems: string[]
  /** Damaged values, each with key and revision. */
  readonly values: string[]
  /** Versions of objects, past ones included. */
  readonly versions: number
  /** Keys that exist in the newest state. */
  readonly keys: number
  readonly bytes: number
  /** The file has no record, as when the first start ended before it wrote one. `problems` says so too. */
  readonly empty: boolean
}

/** Maximum number of findings of each kind. */
const MAX_FINDINGS = 1000

/** @param file must exist and not change during the call */
export async function inspect (file: string): Promise<Inspection> {
  const reader = new Reader()
  await walkPages(file, {
    problem: text => { reader.problem(text) },
    enough: () => false,
    valuePage: (_offset, _header, key) => { reader.valuePage(key) },
    record: (key, value) => { reader.record(key, value) }
  })
  return reader.end()
}

class Reader {
  readonly #problems: string[] = []
  readonly #values: string[] = []
  readonly #live = new Set<string>()
  #versions = 0
  #keys = 0
  #bytes = 0
  #revision = 0
  #records = 0
  #format: string | undefined
  #totals: Totals | undefined
  #badPage = ''

  problem (text: string): void {
    if (this.#problems.length < MAX_FINDINGS) this.#problems.push(text)
  }

  record (key: Buffer, value: Buffer): void {
    this.#bytes += value.length
    this.#records++
    try {
      const kind = key[0]
      if (kind === 0) this.#meta(key, value)
      else if (kind === 1) parseLease(value)
      else if (kind === UNCHECKED || kind === CHECKED) this.#version(key, value)
      else if (key.equals(
        TOTALS_KEY
      )) this.#totals = parseTotals(value) ?? this.#report('the count of its versions can not be read')
      else this.problem(`it has a record of the unknown kind ${kind}`)
    } catch (error) {
      this.problem(error instanceof Error ? error.message : String(error))
    }
  }

  /** The record follows. */
  valuePage (key: Buffer): void {
    this.#badPage = key.toString('latin1')
  }

  end (): Inspection {
    const totals = this.#totals
    const empty = this.#problems.length === 0 && this.#records === 0
    if (this.#problems.length === 0) {
      if (this.#format === undefined) this.problem('it holds the data of another program, or nothing')
      else if (totals === undefined && this.#format === FORMAT &&
        this.#versions > 0) this.problem('the count of its versions is missing')
      else if (totals !== undefined) {
        this.#report(
          describeTotalsMismatch({ revision: this.#revision, versions: this.#versions, keys: this.#keys }, totals)
        )
      }
    }
    return {
      problems: this.#problems, values: this.#values, versions: this.#versions, keys: this.#live.size,
      bytes: this.#bytes, empty
    }
  }

  #report (text: string | undefined): undefined {
    if (text !== undefined) this.problem(text)
  }

  #meta (key: Buffer, value: Buffer): void {
    const text = value.toString('latin1')
    if (key.equals(metaKey('format'))) {
      this.#format = text
      if (text !== FORMAT && text !== FIRST_FORMAT) {
        this.problem(`it is of the format '${text.slice(0, 40)}', this program reads '${FORMAT}': use the release ` +
          'that wrote it, or a newer one')
      }
    } else if (key.equals(metaKey('compacted'))) {
      if (!/^\d{1,16}$/.test(text)) this.problem('the revision it is compacted to can not be read')
    } else this.problem(`it has a record of the unknown name ${JSON.stringify(key.toString('latin1', 1, 41))}`)
  }

  #version (key: Buffer, stored: Buffer): void {
    this.#versions++
    this.#keys = addKey(this.#keys, key, 1)
    const version = parseVersionKey(key)
    if (version.revision <= this.#revision) {
      this.problem(`it has revision ${version.revision} after revision ${this.#revision}`)
    }
    this.#revision = version.revision
    if (version.created === 0) this.#live.delete(version.key)
    else this.#live.add(version.key)
    const value = version.kind === CHECKED ? unseal(key, stored) : stored
    const page = this.#badPage === key.toString('latin1') ? 'lies on a damaged page' : undefined
    const wrong = value === undefined
      ? 'does not have its checksum'
      : page !== undefined
        ? page
        : version.kind === CHECKED || version.created === 0
          ? undefined
          : faultOf(stored)
    if (wrong !== undefined && this.#values.length < MAX_FINDINGS) {
      this.#values.push(`the value of ${version.key} at revision ${version.revision} ${wrong}`)
    }
  }
}

/** Heuristic check for values of the first format, which have no checksum. */
function faultOf (value: Buffer): string | undefined {
  if (value.length === 0) return 'is empty'
  if (value[0] !== 0x7b) return undefined
  try {
    JSON.parse(value.toString())
    return undefined
  } catch {
    return 'is no JSON'
  }
}
