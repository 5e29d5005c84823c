/** The words of an expression. */
import { Problem } from './problem.js'
import { Unsigned, type Literal } from './syntax.js'

export interface Token {
  readonly kind: 'name' | 'literal' | 'sign' | 'end'
  readonly text: string
  readonly at: number
  readonly value?: Literal
}

const BLANK = /(?:[ \t\r\n\f]|\/\/[^\n]*)*/y
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
/** Quoted text ends at a quote that no backslash escapes. */
const QUOTED = String.raw`"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\.|[^"\\\n\r])*"|'(?:\\.|[^'\\\n\r])*'`
const STRING = new RegExp(`([bB]?)([rR]?)(${QUOTED})`, 'y')
const RAW = /([bB]?)([rR])("""[^]*?"""|'''[^]*?'''|"[^"\n\r]*"|'[^'\n\r]*')/y
const DOUBLE = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y
const INTEGER = /(0x[0-9a-fA-F]+|\d+)([uU]?)/y
const SIGN = /==|!=|<=|>=|&&|\|\||[[\]{}().,\-!?:+*/%<>]/y
const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([['true', true], ['false', false], ['null', null]])

const LEAST = 2n ** 63n
/** More than the parts of an expression can have. */
const MAX_TOKENS = 10_000

export function tokens (text: string): Token[] {
  const all: Token[] = []
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(text)
  }
  for (;;) {
    at += match(BLANK)?.[0].length ?? 0
    if (at >= text.length) break
    const token = next(text, at, match)
    if (all.push(token) > MAX_TOKENS) throw new Problem('the expression is too long', text, 0)
    at += token.text.length
  }
  all.push({ kind: 'end', text: '<EOF>', at: text.length })
  return all
}

function next (text: string, at: number, match: (pattern: RegExp) => RegExpExecArray | null): Token {
  const string = match(RAW) ?? match(STRING)
  if (string !== null) {
    const [written, bytes = '', raw = '', quoted = ''] = string
    const marks = /^("""|''')/.test(quoted) ? 3 : 1
    const inner = quoted.slice(marks, -marks).replace(/\r\n?/g, '\n')
    try {
      return { kind: 'literal', text: written, at, value: unquoted(inner, bytes !== '', raw !== '') }
    } catch {
      throw new Problem(`Syntax error: token recognition error at: '${written}'`, text, at)
    }
  }
  const double = match(DOUBLE)
  if (double !== null) {
    const value = Number(double[0])
    if (!Number.isFinite(value)) throw new Problem('invalid double literal', text, at)
    return { kind: 'literal', text: double[0], at, value }
  }
  const integer = match(INTEGER)
  if (integer !== null) return { kind: 'literal', text: integer[0], at, value: whole(text, at, integer) }
  const name = match(NAME)
  if (name !== null) {
    const value = CONSTANTS.get(name[0])
    return value === undefined ? { kind: 'name', text: name[0], at } : { kind: 'literal', text: name[0], at, value }
  }
  const sign = match(SIGN)
  if (sign !== null) return { kind: 'sign', text: sign[0], at }
  if (text[at] === '`') throw new Problem('unsupported syntax: \'`\'', text, at)
  const [character] = text.slice(at, at + 2)
  throw new Problem(`Syntax error: token recognition error at: '${character}'`, text, at)
}

/** The smallest integer is 2^63 until its sign is read. */
function whole (text: string, at: number, [, digits = '', unsigned = '']: RegExpExecArray): Literal {
  const value = digits.length > 40 ? 2n ** 64n : BigInt(digits)
  if (unsigned !== '' && value < 2n ** 64n) return new Unsigned(value)
  if (unsigned !== '') throw new Problem('invalid uint literal', text, at)
  if (value > LEAST) throw new Problem('invalid int literal', text, at)
  return value
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\\': '\\', '?': '?', '"': '"', "'": "'", '`': '`'
}
const ESCAPE = /\\(?:([abfnrtv\\?"'`])|[xX]([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-3][0-7]{2})|([^]?))/g

/** @throws Error for an escape that does not exist */
function unquoted (text: string, isBytes: boolean, isRaw: boolean): Literal {
  if (isRaw || !text.includes('\\')) return isBytes ? Buffer.from(text) : text
  const pieces: Buffer[] = []
  let [made, last] = ['', 0]
  for (const match of text.matchAll(ESCAPE)) {
    const [all, plain, byte, short, long, octal] = match
    const code = parseInt(byte ?? short ?? long ?? '', 16)
    const value = octal === undefined ? code : parseInt(octal, 8)
    if (plain === undefined && Number.isNaN(value)) throw new Error('escape')
    const before = text.slice(last, match.index)
    last = match.index + all.length
    const isCodePoint = short !== undefined || long !== undefined
    if (isBytes) {
      if (isCodePoint) throw new Error('escape')
      pieces.push(Buffer.from(before), plain === undefined ? Buffer.of(value) : Buffer.from(ESCAPES[plain] ?? ''))
    } else made += before + (plain === undefined ? String.fromCodePoint(value) : ESCAPES[plain] ?? '')
  }
  const rest = text.slice(last)
  return isBytes ? Buffer.concat([...pieces, Buffer.from(rest)]) : made + rest
}
