/** Parses the text of an expression. Its size and depth are bounded, as what visits the syntax tree is recursive. */
import { expand } from './macros.js'
import { Problem } from './problem.js'
import {
  call, constant, measure, name, qualifiedName, type Entry, type Field, type Literal, type Node
} from './syntax.js'
import { tokens, type Token } from './tokens.js'

/** Maximum characters of an expression. */
const MAX_LENGTH = 100_000
/** Nested parentheses, lists and the like. */
const MAX_NESTED = 250
const MAX_DEPTH = 500
/** So many take 25 ms to compile. */
const MAX_PARTS = 2500

const RESERVED: ReadonlySet<string> = new Set([
  'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'in', 'let', 'loop', 'package',
  'namespace', 'return', 'var', 'void', 'while'
])
const ARGUMENT = '\'[\', \'{\', \'(\', \'.\', \'-\', \'!\', \'true\', \'false\', \'null\', NUM_FLOAT, NUM_INT, ' +
  'NUM_UINT, STRING, BYTES, IDENTIFIER'
const RELATIONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '!=', 'in'])

/** @param binds whether `cel.bind` is known @throws Problem */
export function parse (text: string, binds: boolean): Node {
  if (text.length > MAX_LENGTH) {
    throw new Problem(`expression code point size exceeds limit: size: ${text.length}, limit ${MAX_LENGTH}`, text, 0)
  }
  const parser = new Parser(text, binds)
  const node = parser.expression()
  parser.finish()
  return node
}

class Parser {
  readonly #tokens: readonly Token[]
  #next = 0
  #nested = 0
  /** Some are not yet in a node. */
  #parts = 0

  constructor (readonly text: string, readonly binds: boolean) {
    this.#tokens = tokens(text)
  }

  get #token (): Token { return this.#tokens[Math.min(this.#next, this.#tokens.length - 1)] as Token } // one at least

  #fail (problem: string, at: number): never { throw new Problem(problem, this.text, at) }

  #unexpected (expecting: string): never {
    const { text, at } = this.#token
    return this.#fail(`Syntax error: mismatched input '${text}' expecting ${expecting}`, at)
  }

  #is (...texts: string[]): boolean { return this.#token.kind !== 'literal' && texts.includes(this.#token.text) }

  #take (text: string): Token | undefined { return this.#is(text) ? this.#tokens[this.#next++] : undefined }

  #expect (text: string): Token { return this.#take(text) ?? this.#unexpected(`'${text}'`) }

  #node<T extends Node> (node: T): T {
    if (node.depth > MAX_DEPTH) this.#fail('expression recursion limit exceeded', 0)
    if (++this.#parts > MAX_PARTS || node.size > MAX_PARTS) {
      this.#fail(`an expression has at most ${MAX_PARTS} parts`, 0)
    }
    return node
  }

  finish (): void {
    const { kind, text, at } = this.#token
    if (kind === 'end') return
    const isLast = this.#tokens[this.#next + 1]?.kind === 'end'
    this.#fail(`Syntax error: ${isLast ? 'extraneous' : 'mismatched'} input '${text}' expecting <EOF>`, at)
  }

  expression (): Node {
    if (++this.#nested > MAX_NESTED) this.#fail(`expression recursion limit exceeded: ${MAX_NESTED}`, 0)
    const condition = this.#logic('||', true)
    const mark = this.#take('?')
    if (mark !== undefined) {
      const yes = this.#logic('||', true)
      this.#expect(':')
      const no = this.expression()
      this.#nested--
      return this.#node({
        op: 'choice', args: [condition, yes, no], at: mark.at, ...measure(condition, yes, no)
      })
    }
    this.#nested--
    return condition
  }

  #logic (sign: '||' | '&&', decisive: boolean): Node {
    const part = (): Node => sign === '||' ? this.#logic('&&', false) : this.#relation()
    const args = [part()]
    let at: number | undefined
    for (let token = this.#take(sign); token !== undefined; token = this.#take(sign)) {
      at ??= token.at
      args.push(part())
    }
    return at === undefined
      ? args[0] as Node // the first is always there
      : this.#node({ op: 'logic', decisive, args, at, ...measure(...args) })
  }

  #binary (part: () => Node, isSign: () => boolean): Node {
    let left = part()
    while (isSign()) {
      const { text, at } = this.#tokens[this.#next++] as Token // isSign saw it
      left = this.#node(call(text === 'in' ? '@in' : `_${text}_`, undefined, [left, part()], at))
    }
    return left
  }

  #relation (): Node {
    return this.#binary(
      () => this.#binary(
        () => this.#binary(() => this.#unary(), () => this.#is('*', '/', '%')), () => this.#is('+', '-')
      ), () => this.#token.kind !== 'literal' && RELATIONS.has(this.#token.text)
    )
  }

  #unary (): Node {
    const first = this.#token
    for (const sign of ['!', '-'] as const) {
      if (!this.#is(sign)) continue
      let count = 0
      while (this.#take(sign) !== undefined) count++
      const value = this.#token.value
      // A sign belongs to the number behind it.
      if (sign === '-' && count % 2 === 1 && (typeof value === 'bigint' || typeof value === 'number')) {
        this.#next++
        return this.#rest(this.#node(constant(-value, first.at)))
      }
      const of = this.#member()
      return count % 2 === 0 ? of : this.#node(call(`${sign}_`, undefined, [of], first.at))
    }
    return this.#member()
  }

  #member (): Node { return this.#rest(this.#primary()) }

  #rest (of: Node): Node {
    for (let node = of; ; of = node) {
      const dot = this.#take('.')
      if (dot !== undefined) {
        node = this.#selected(node, dot.at)
        continue
      }
      const bracket = this.#take('[')
      if (bracket !== undefined) {
        const optional = this.#take('?') !== undefined
        const index = this.expression()
        this.#expect(']')
        node = this.#node(call(optional ? '_[?_]' : '_[_]', undefined, [node, index], bracket.at))
        continue
      }
      const qualified = this.#is('{') ? qualifiedName(node) : undefined
      if (qualified === undefined) return node
      node = this.#struct(qualified)
    }
  }

  #selected (of: Node, at: number): Node {
    const optional = this.#take('?') !== undefined
    const field = this.#name(false)
    if (optional) {
      return this.#node(call('_?._', undefined, [of, this.#node(constant(field.text, field.at))], at))
    }
    const open = this.#take('(')
    return open === undefined
      ? this.#node({ op: 'select', of, field: field.text, test: false, at, ...measure(of) })
      : this.#called(field.text, of, open.at)
  }

  #called (called: string, target: Node | undefined, at: number): Node {
    const args: Node[] = []
    if (this.#take(')') === undefined) {
      do args.push(this.expression()); while (this.#take(',') !== undefined)
      this.#expect(')')
    }
    return this.#node(expand(this.text, call(called, target, args, at), this.binds))
  }

  #name (isVariable: boolean): Token {
    const token = this.#token
    if (token.kind !== 'name' || token.text === 'in') return this.#unexpected('IDENTIFIER')
    if (isVariable && RESERVED.has(token.text)) this.#fail(`reserved identifier: ${token.text}`, token.at)
    this.#next++
    return token
  }

  #primary (): Node {
    const { kind, at, value } = this.#token
    if (kind === 'literal') {
      if (value === 2n ** 63n) this.#fail('invalid int literal', at)
      this.#next++
      return this.#node(constant(value as Literal, at)) // of a literal
    }
    if (this.#take('(') !== undefined) {
      const inner = this.expression()
      this.#expect(')')
      return inner
    }
    if (this.#take('[') !== undefined) return this.#list(at)
    if (this.#take('{') !== undefined) return this.#map(at)
    this.#take('.')
    if (this.#token.kind !== 'name' || this.#token.text === 'in') return this.#unexpected(`{${ARGUMENT}}`)
    const { text, at: start } = this.#name(true)
    const open = this.#take('(')
    return open === undefined ? this.#node(name(text, start)) : this.#called(text, undefined, open.at)
  }

  #list (at: number): Node {
    const items: Node[] = []
    const optional = new Set<Node>()
    while (this.#take(']') === undefined) {
      const isOptional = this.#take('?') !== undefined
      const item = this.expression()
      items.push(item)
      if (isOptional) optional.add(item)
      if (this.#take(',') === undefined && !this.#is(']')) this.#unexpected('{\']\', \',\'}')
    }
    return this.#node({ op: 'list', items, optional, at, ...measure(...items) })
  }

  #map (at: number): Node {
    const entries: Entry[] = []
    while (this.#take('}') === undefined) {
      const optional = this.#take('?') !== undefined
      const key = this.expression()
      this.#expect(':')
      entries.push({ key, value: this.expression(), optional })
      if (this.#take(',') === undefined && !this.#is('}')) this.#unexpected('{\'}\', \',\'}')
    }
    return this.#node({
      op: 'map', entries, at, ...measure(...entries.flatMap(({ key, value }) => [key, value]))
    })
  }

  #struct (called: string): Node {
    const { at } = this.#expect('{')
    const fields: Field[] = []
    while (this.#take('}') === undefined) {
      const optional = this.#take('?') !== undefined
      const { text } = this.#name(false)
      const colon = this.#expect(':')
      fields.push({ name: text, value: this.expression(), optional, at: colon.at })
      if (this.#take(',') === undefined && !this.#is('}')) this.#unexpected('{\'}\', \',\'}')
    }
    return this.#node({
      op: 'struct', name: called, fields, at, ...measure(...fields.map(({ value }) => value))
    })
  }
}
