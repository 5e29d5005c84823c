/**
 * Searches a text for a compiled expression in steps. re2js does that without a pause, which holds the event loop where
 * the text is long and the expression heavy. This is Thompson's simulation of an NFA: each character visits each
 * instruction of the program once at most.
 */
import type { RE2JS } from 're2js'
import type { Steps } from '../../steps.js'

/** Where a match begins and ends. */
export type Found = readonly [start: number, end: number]

/**
 * Called with what has been done since the last call. It may throw to end the search.
 * @returns whether other work is due
 */
export type Visited = (count: number) => boolean

/** The instructions of re2js. Those that read a character are the last. */
const [ALT, ALT_MATCH, CAPTURE, EMPTY_WIDTH, MATCH, NOP, READS] = [1, 2, 3, 4, 6, 7, 8]
/** What an empty part of an expression may ask of its place. */
const [BEGIN_LINE, END_LINE, BEGIN_TEXT, END_TEXT, WORD_BOUNDARY, NO_WORD_BOUNDARY] = [1, 2, 4, 8, 16, 32]
const NEWLINE = 10
const VISITED_AT_ONCE = 1000

interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  readonly matchRune: (code: number) => boolean
}

interface Program { readonly inst: readonly Instruction[], readonly start: number }

const isWord = (unit: number): boolean => (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || unit === 95 ||
  (unit >= 97 && unit <= 122)

function placeIn (text: string, at: number): number {
  const [before, after] = [at === 0 ? -1 : text.charCodeAt(at - 1), at === text.length ? -1 : text.charCodeAt(at)]
  const beginning = before === -1 ? BEGIN_TEXT | BEGIN_LINE : before === NEWLINE ? BEGIN_LINE : 0
  const end = after === -1 ? END_TEXT | END_LINE : after === NEWLINE ? END_LINE : 0
  return beginning | end | (isWord(before) === isWord(after) ? NO_WORD_BOUNDARY : WORD_BOUNDARY)
}

/** The instructions that a text has come to, the preferred way first, and where each way began. */
class Ways {
  readonly at: Int32Array
  readonly starts: Int32Array
  readonly #places: Int32Array
  readonly #pending: Int32Array
  size = 0

  constructor (private readonly program: Program) {
    const { length } = program.inst
    this.at = new Int32Array(length)
    this.starts = new Int32Array(length)
    this.#places = new Int32Array(length)
    this.#pending = new Int32Array(length + 1)
  }

  /** Adds an instruction, and those that follow it without a character. */
  add (first: number, start: number, place: number): void {
    let pending = 0
    this.#pending[pending++] = first
    while (pending > 0) {
      let next = this.#pending[--pending] as number // it was put there
      while (next !== 0 && !this.#has(next)) {
        this.#places[next] = this.size
        this.at[this.size] = next
        this.starts[this.size++] = start
        const { op, out, arg } = this.program.inst[next] as Instruction // programs are closed
        if (op === ALT || op === ALT_MATCH) this.#pending[pending++] = arg
        const goesOn = op <= CAPTURE || op === NOP || (op === EMPTY_WIDTH && (arg & ~place) === 0)
        next = goesOn ? out : 0
      }
    }
  }

  #has (instruction: number): boolean {
    const place = this.#places[instruction] as number
    return place < this.size && this.at[place] === instruction
  }
}

/** Follows the ways by one character. @returns where a way began that is a match, which ends less preferred ones */
function follow (
  program: Program, [now, next]: readonly [Ways, Ways], code: number, place: number
): number | undefined {
  next.size = 0
  for (let way = 0; way < now.size; way++) {
    const [instruction, start] = [program.inst[now.at[way] as number] as Instruction, now.starts[way] as number]
    if (instruction.op === MATCH) return start
    if (instruction.op >= READS && code >= 0 && instruction.matchRune(code)) next.add(instruction.out, start, place)
  }
  return undefined
}

/** The first match from a position on; if only `some` match is wanted, perhaps another one. */
export function * search (
  { re2Input }: RE2JS, text: string, { from = 0, some = false }: { readonly from?: number, readonly some?: boolean },
  visited: Visited
): Steps<Found | undefined> {
  const program: Program = re2Input.prog
  let [now, next] = [new Ways(program), new Ways(program)]
  let [count, place, found] = [0, placeIn(text, from), undefined as Found | undefined]
  for (let at = from; at <= text.length;) {
    if (found === undefined) now.add(program.start, at, place)
    const code = text.codePointAt(at) ?? -1
    const after = at + (code > 0xffff ? 2 : 1)
    place = code < 0 ? 0 : placeIn(text, after)
    const start = follow(program, [now, next], code, place)
    if (start !== undefined) found = [start, at]
    if (found !== undefined && (some || next.size === 0)) break
    if ((count += now.size) >= VISITED_AT_ONCE) {
      if (visited(count)) yield
      count = 0
    }
    ;[now, next, at] = [next, now, after]
  }
  visited(count)
  return found
}
