/**
 * Parses YAML that JSON can represent. Scalars follow YAML 1.1 as upstream (`scalars.ts`), duplicate keys are reported
 * as for JSON, alias expansion is limited, and `<<` merges maps. The library is loaded at first use.
 */
import type * as Yaml from 'yaml'
import { DecodeError, DocumentError, TooManyError, isDecodeError } from '../../language/decode-error.js'
import {
  decodeText, tooManyValues, parseJson, OF_BODIES, tooManyEntries, MAX_DEPTH, type Parsed, type ValueBounds
} from '../json/parse.js'
import { MAX_DUPLICATES, pathText } from '../json/repeated-keys.js'
import { MAX_BODY_BYTES } from '../../limits.js'
import { onDemand } from '../../on-demand.js'
import { setMember } from '../../language/values.js'
import { taggedScalar, plainScalar, type Scalar } from './scalars.js'

const yaml = onDemand<typeof Yaml>('yaml')

/** Nodes per value, aliases expanded: a member is a key and a value. */
const NODES = 2
/** Nodes repeated by aliases, against alias bombs. */
const MAX_REPEATED = 10_000
/**
 * Flow collections, and nested block collections on one line (`- - -`): the parser recurses before nodes can be
 * counted.
 */
const MAX_FLOW_DEPTH = 200
/**
 * Tokens per value, comments and white space included; a value on a line of its own has about seven. Each takes the
 * library some two microseconds, whatever it stands for.
 */
const TOKENS = 12

/**
 * Parses one document within the bounds.
 * @throws DecodeError for anything JSON cannot represent, several documents, or deep nesting
 */
export function parseYaml (bytes: Uint8Array, most = OF_BODIES): Parsed {
  const text = decodeText(bytes)
  if (/^\s*[{[]/.test(text)) {
    try {
      const parsed = parseJson(bytes, most)
      if (parsed.duplicates.length === 0) return parsed
    } catch (error) {
      if (error instanceof TooManyError && isJson(text)) throw error
      // Not JSON, but perhaps flow style. Duplicate keys also go to the YAML parser, for their line numbers.
    }
  }
  refuseDepth(text)
  const document = documentOf(text, most.tokens ?? TOKENS * most.values)
  const [first] = document.errors
  if (first !== undefined) {
    const fault = first.code.toLowerCase().replaceAll('_', ' ')
    throw new DocumentError(`is not valid YAML: ${fault} in line ${lineOf(text, first.pos[0])}`, { cause: first })
  }
  return new Conversion(document, text, most).result()
}

/** @throws DecodeError for more than one document, or more tokens */
function documentOf (text: string, maxTokens: number): Yaml.Document.Parsed {
  const { Composer, Lexer, Parser } = yaml()
  const composer = new Composer({
    version: '1.2',
    schema: 'failsafe',
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
    stringKeys: false
  })
  // They are counted before the first is parsed, because lexing is the cheapest part.
  const lexemes: string[] = []
  for (const lexeme of new Lexer().lex(text)) {
    if (lexemes.push(lexeme) <= maxTokens) continue
    const limit = `${maxTokens} tokens, comments and blank lines included`
    throw new DocumentError(`is a YAML document of more than ${limit}; use JSON`)
  }
  const tokens = function * (): Generator<Yaml.CST.Token> {
    const parser = new Parser()
    for (const lexeme of lexemes) yield * parser.next(lexeme)
    yield * parser.end()
  }
  // The library makes an error for each fault, thousands of them; their stacks would take most of the time.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    const [document, another] = composer.compose(tokens(), true, text.length)
    if (another !== undefined) throw new DocumentError('holds more than one YAML document')
    return document as Yaml.Document.Parsed // the composer makes at least one
  } catch (error) {
    if (error instanceof DecodeError) throw error
    throw new DocumentError('is not valid YAML: it nests too deeply or is malformed', { cause: error })
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Whether the text is JSON, which then only was too large. */
function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const lineOf = (text: string, position: number) => text.slice(0, position).split('\n').length

/** @throws DecodeError for flow collections, or block collections of one line (`- - -`), that nest too deep */
function refuseDepth (text: string): void {
  let depth = 0
  let inLine = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case OPEN_LIST: case OPEN_MAP:
        // Brackets within quoted text count too, but only hundreds of unclosed ones matter.
        if (++depth > MAX_FLOW_DEPTH) {
          throw new DocumentError(`nests more than ${MAX_FLOW_DEPTH} levels of [ or { deep, which YAML here may not`)
        }
        inLine = 0
        break
      case CLOSE_LIST: case CLOSE_MAP:
        if (depth > 0) depth--
        inLine = 0
        break
      case SPACE: case TAB: break
      case DASH: case QUESTION: case COLON:
        inLine = isBlank(text.charCodeAt(at + 1)) ? inLine + 1 : 0
        if (inLine >= MAX_FLOW_DEPTH) throw new DocumentError('nests too many YAML collections in one line')
        break
      default: inLine = 0
    }
  }
}

const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d]
const [SPACE, TAB, DASH, QUESTION, COLON] = [0x20, 0x09, 0x2d, 0x3f, 0x3a]
const isBlank = (character: number): boolean => character === SPACE || character === TAB

/** An unquoted `<<`. */
function isMergeKey (key: unknown): boolean {
  return yaml().isScalar(key) && key.type === 'PLAIN' && key.value === '<<'
}

const tooMuchRepeated = (): DecodeError =>
  new DocumentError('is too large a YAML document once its aliases are followed')

class Conversion {
  readonly #document: Yaml.Document.Parsed
  readonly #text: string
  readonly #most: ValueBounds
  readonly #duplicates: string[] = []
  readonly #lines: string[] = []
  readonly #path: Array<string | number> = []
  /** The latest node of each anchor, which an alias refers to. */
  readonly #anchors = new Map<string, unknown>()
  #nodes = 0
  #repeated = 0
  #following = 0
  /** Characters repeated by aliases. */
  #copied = 0

  constructor (document: Yaml.Document.Parsed, text: string, most: ValueBounds) {
    this.#document = document
    this.#text = text
    this.#most = most
  }

  result (): Parsed {
    const value = this.#value(this.#document.contents, 0)
    return { value, duplicates: this.#duplicates, ...this.#lines.length === 0 ? {} : { lines: this.#lines } }
  }

  #value (node: unknown, depth: number): unknown {
    const { isAlias, isMap, isNode, isScalar, isSeq } = yaml()
    this.#nodes++
    if (this.#following > 0) this.#repeated++
    if (this.#nodes > NODES * this.#most.values || this.#repeated > MAX_REPEATED) {
      throw this.#repeated > 0 ? tooMuchRepeated() : tooManyValues(this.#most.values)
    }
    if (depth > MAX_DEPTH) throw new DocumentError(`nests more than ${MAX_DEPTH} levels deep`)
    if (node === null || node === undefined) return null
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source)
      if (target === undefined) throw new DocumentError('uses a YAML alias that was never defined')
      this.#following++
      const value = this.#value(target, depth + 1)
      this.#following--
      return value
    }
    if (this.#following === 0 && isNode(node) && node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    if (isScalar(node)) {
      if (this.#following > 0 && typeof node.value === 'string' &&
        (this.#copied += node.value.length) > MAX_BODY_BYTES) throw tooMuchRepeated()
      return this.#scalar(node)
    }
    if (isMap(node) && node.items.length > this.#most.members) throw tooManyEntries(this.#most.members)
    if (isSeq(node)) {
      return node.items.map((item, index) => {
        this.#path.push(index)
        const value = this.#value(item, depth + 1)
        this.#path.pop()
        return value
      })
    }
    if (isMap(node)) return this.#map(node, depth)
    throw new DocumentError('holds a YAML value that JSON does not know')
  }

  #map (node: Yaml.YAMLMap, depth: number): Record<string, unknown> {
    const target: Record<string, unknown> = {}
    const merged: unknown[] = []
    for (const pair of node.items) {
      if (isMergeKey(pair.key)) {
        merged.push(this.#value(pair.value, depth + 1))
        continue
      }
      const name = this.#value(pair.key, depth + 1)
      if (typeof name === 'object') {
        const kind = name === null ? 'null' : 'a list or map'
        throw new DocumentError(`has a YAML key that is ${kind}, at ${pathText(this.#path) || 'the top'}`)
      }
      const key = String(name)
      this.#path.push(key)
      const again = Object.hasOwn(target, key) && this.#duplicates.length < MAX_DUPLICATES
      if (again) this.#duplicates.push(pathText(this.#path))
      setMember(target, key, this.#value(pair.value, depth + 1))
      if (again) {
        this.#lines.push(`line ${this.#lineOf(pair.value) ?? this.#lineOf(pair.key) ?? 1}: key ` +
          `${typeof name === 'string' ? JSON.stringify(name) : key} already set in map`)
      }
      this.#path.pop()
    }
    for (const other of merged.flat()) this.#mergeInto(target, other)
    return target
  }

  #lineOf (node: unknown): number | undefined {
    const start = yaml().isNode(node) ? node.range?.[0] : undefined
    return start === undefined ? undefined : lineOf(this.#text, start)
  }

  /** The map's own members win, then those of the first merged map. */
  #mergeInto (target: Record<string, unknown>, other: unknown): void {
    if (typeof other !== 'object' || other === null || Array.isArray(other)) {
      throw new DocumentError(`merges what is no map, at ${pathText(this.#path) || 'the top'}`)
    }
    for (const [key, value] of Object.entries(other)) if (!Object.hasOwn(target, key)) setMember(target, key, value)
  }

  /** The failsafe schema leaves every scalar a string. */
  #scalar ({ value, type, tag }: Yaml.Scalar): Scalar {
    if (typeof value !== 'string') throw new DecodeError(`${this.#place}: a YAML value that JSON does not know`)
    if (tag === undefined && type !== 'PLAIN') return value
    try {
      return tag === undefined ? plainScalar(value) : taggedScalar(tag, value)
    } catch (error) {
      if (!isDecodeError(error)) throw error
      throw new DecodeError(`${this.#place}: ${error.message}`, { cause: error })
    }
  }

  get #place (): string { return pathText(this.#path) || 'the body' }
}
