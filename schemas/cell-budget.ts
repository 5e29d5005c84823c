/**
 * What the cells of an answer may cost, counted while they are made: each value that is looked at for a cell, and each
 * 16 characters of it, is a unit of some 0.3 µs. Only cells of columns that a definition declares are counted: those of
 * built-in types are short, or as long as a part of their object.
 */

/** Maximum units of a cell, 64,000 characters. */
const MAX_CELL = 4_000
/** Maximum units of a row. */
const MAX_ROW = 8_000
/** Maximum units of an answer, for each of its rows. */
const MEAN_ROW = 1_000
const CHARACTERS_PER_UNIT = 16

/** Thrown by `spend`: the cell is left empty. One error for all, because hundreds of cells of a row may end with it. */
export const OVER_BUDGET = new Error('a cell costs more than its budget')

/** Maximum characters of a cell. */
export const MAX_CELL_TEXT = MAX_CELL * CHARACTERS_PER_UNIT

export class CellBudget {
  #answer: number
  #row = MAX_ROW
  #cell = MAX_CELL
  /** Units that all cells have cost, which tests bound. */
  spent = 0

  /** @param rows of the answer */
  constructor (rows = 1) { this.#answer = MAX_ROW + rows * MEAN_ROW }

  startRow (): void { this.#row = MAX_ROW }

  startCell (): void { this.#cell = MAX_CELL }

  /** @throws OVER_BUDGET */
  spend (units = 1): void {
    this.spent += units
    this.#cell -= units
    this.#row -= units
    this.#answer -= units
    if (this.#cell < 0 || this.#row < 0 || this.#answer < 0) throw OVER_BUDGET
  }

  /** Spends what the text of a JSON value costs. @throws OVER_BUDGET */
  spendText (value: unknown): void {
    if (typeof value === 'string') return this.spend(1 + value.length / CHARACTERS_PER_UNIT)
    this.spend()
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) return value.forEach(item => { this.spendText(item) })
    for (const [name, member] of Object.entries(value)) {
      this.spend(name.length / CHARACTERS_PER_UNIT)
      this.spendText(member)
    }
  }
}
