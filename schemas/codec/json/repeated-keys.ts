/** Keys of JSON text that occur more than once, which JSON.parse says nothing of, and where they stand among those nobody knows. */

export const MAX_DUPLICATES = 100

const [QUOTE, BACKSLASH, CLOSE_LIST, OPEN_LIST, OPEN_OBJECT] = [0x22, 0x5c, 0x5d, 0x5b, 0x7b]

/** Paths of keys that occur again, at most 100. @param text that JSON.parse has accepted */
export function findDuplicates (text: string): string[] {
  const found: string[] = []
  new Walk(text, (path, again) => {
    if (again && found.length < MAX_DUPLICATES) found.push(path)
    return true
  }).value()
  return found
}

/** Longer ones are not looked for, as each look takes time by the length: they come last. */
const LONGEST_PATH = 1000

/**
 * What is wrong with the keys of a text, as it is read: unknown ones where they first occur, others where they occur again. What is
 * below an unknown one, or that it occurs again, is not told.
 */
export function inOrderOfText (text: string, unknown: readonly string[]): Array<readonly [finding: 'unknown' | 'duplicate', path: string]> {
  const left = new Set(unknown)
  const known = new Set(unknown)
  const lengths = new Set(unknown.map(({ length }) => length).filter(length => length <= LONGEST_PATH))
  const found: Array<readonly ['unknown' | 'duplicate', string]> = []
  let duplicates = 0
  new Walk(text, (path, again) => {
    if (lengths.has(path.length) && known.has(path)) {
      if (left.delete(path)) found.push(['unknown', path])
      return false
    }
    if (again && duplicates++ < MAX_DUPLICATES) found.push(['duplicate', path])
    return true
  }).value()
  return [...found, ...[...left].map(path => ['unknown', path] as const)]
}

/** Walks text that JSON.parse has accepted, so the grammar needs no checks. `onKey` says whether it wants to hear of what is below. */
class Walk {
  readonly #text: string
  readonly #onKey: (path: string, again: boolean) => boolean
  /** As `pathText` has it. */
  #path = ''
  #silent = 0
  #at = 0

  constructor (text: string, onKey: (path: string, again: boolean) => boolean) {
    this.#text = text
    this.#onKey = onKey
  }

  value (): void {
    this.#skipTo(/[^\s]/g)
    const first = this.#text.charCodeAt(this.#at)
    if (first === QUOTE) this.#string()
    else if (first === OPEN_OBJECT) this.#object()
    else if (first === OPEN_LIST) this.#list()
    else this.#skipTo(/[\s,\]}]/g)
  }

  #skipTo (wanted: RegExp): void {
    wanted.lastIndex = this.#at
    this.#at = wanted.exec(this.#text)?.index ?? this.#text.length
  }

  /** As it stands in the text, with its quotes. */
  #string (): string {
    const start = this.#at++
    while (this.#text.charCodeAt(this.#at) !== QUOTE) this.#at += this.#text.charCodeAt(this.#at) === BACKSLASH ? 2 : 1
    return this.#text.slice(start, ++this.#at)
  }

  #object (): void {
    const keys = new Set<string>()
    const outer = this.#path
    this.#at++
    for (;;) {
      this.#skipTo(/["}]/g)
      if (this.#text.charCodeAt(this.#at) !== QUOTE) break
      const key = JSON.parse(this.#string()) as string
      this.#path = outer === '' ? key : `${outer}.${key}`
      const quiet = this.#silent > 0 || !this.#onKey(this.#path, keys.has(key))
      keys.add(key)
      this.#skipTo(/:/g)
      this.#at++
      if (quiet) this.#silent++
      this.value()
      if (quiet) this.#silent--
    }
    this.#path = outer
    this.#at++
  }

  #list (): void {
    const outer = this.#path
    this.#at++
    for (let index = 0; ; index++) {
      this.#skipTo(/[^\s,]/g)
      if (this.#text.charCodeAt(this.#at) === CLOSE_LIST) break
      this.#path = `${outer}[${index}]`
      this.value()
    }
    this.#path = outer
    this.#at++
  }
}

/** `spec.list[0].name`. */
export function pathText (path: ReadonlyArray<string | number>): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else text += text === '' ? part : `.${part}`
  }
  return text
}
