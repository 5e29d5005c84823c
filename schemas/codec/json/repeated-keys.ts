/** Finds duplicate keys in JSON text, which JSON.parse ignores, and orders them among unknown fields. */

export const MAX_DUPLICATES = 100

const [QUOTE, BACKSLASH, CLOSE_LIST, OPEN_LIST, OPEN_OBJECT] = [0x22, 0x5c, 0x5d, 0x5b, 0x7b]

/** Paths of duplicate keys, at most 100. @param text that JSON.parse accepts */
export function findDuplicates (text: string): string[] {
  const repeated: string[] = []
  new Walk(text, (path, again) => {
    if (again && repeated.length < MAX_DUPLICATES) repeated.push(path)
    return true
  }).value()
  return repeated
}

/** Unknown paths beyond this length are not located, because lookups hash the whole path. They come last. */
const MAX_PATH = 1000

/**
 * Unknown and duplicate fields in text order: unknown ones at their first occurrence, duplicates at the repetition.
 * Below an unknown field nothing is reported, nor its repetition.
 */
export function inOrderOfText (
  text: string, unknown: readonly string[]
): Array<readonly [finding: 'unknown' | 'duplicate', path: string]> {
  const left = new Set(unknown)
  const known = new Set(unknown)
  const lengths = new Set(unknown.map(({ length }) => length).filter(length => length <= MAX_PATH))
  const findings: Array<readonly ['unknown' | 'duplicate', string]> = []
  let duplicates = 0
  new Walk(text, (path, again) => {
    if (lengths.has(path.length) && known.has(path)) {
      if (left.delete(path)) findings.push(['unknown', path])
      return false
    }
    if (again && duplicates++ < MAX_DUPLICATES) findings.push(['duplicate', path])
    return true
  }).value()
  return [...findings, ...[...left].map(path => ['unknown', path] as const)]
}

/** Walks text that JSON.parse accepts. `onKey` returns whether to report keys below. */
class Walk {
  readonly #text: string
  readonly #onKey: (path: string, again: boolean) => boolean
  /** In the form of `pathText`. */
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

  /** The raw string, with its quotes. */
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
