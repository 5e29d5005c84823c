/**
 * What is made of the entries of one type for those who read them: protobuf, metadata, rows, another version, other
 * names. Each is a form. It is made once of an entry, and kept beside it for as long as anybody asks for the form;
 * forms that nobody has asked for in some minutes go, and the entries that a newer state has replaced keep nothing.
 * Benchmark: `npm run bench -- forms`, 'LIST pods, protobuf, public names': some ten times as much without.
 */
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { forget, giveBack, Keeper, makeRoom } from './forms-budget.js'

export class Form extends Keeper {
  /** What was kept before the form was dropped is of an earlier time. */
  time = 0
  readonly #dropped: () => void

  constructor (type: string, name: string, dropped: () => void) {
    super(type, name)
    this.#dropped = dropped
  }

  /** What an entry keeps, beside what it has; undefined if there is no room. */
  keep (value: unknown, bytes: number, next: Kept | undefined): Kept | undefined {
    return makeRoom(this, bytes) ? { form: this, time: this.time, value, bytes, next } : undefined
  }

  override drop (): void {
    if (this.bytes === 0) return
    forget(this)
    this.time++
    this.#dropped()
  }
}

/** What one entry keeps: a list of few. */
export interface Kept {
  readonly form: Form
  readonly time: number
  readonly value: unknown
  readonly bytes: number
  next: Kept | undefined
}

/** Accounts for what an entry kept that is no longer present. */
export function giveUp (kept: Kept | undefined): void {
  for (let held = kept; held !== undefined; held = held.next) {
    if (held.time === held.form.time) giveBack(held.form, held.bytes)
  }
}

/** Without what was kept of a form before it was dropped. */
export function withoutDropped (kept: Kept | undefined): Kept | undefined {
  let first = kept
  while (first !== undefined && first.time !== first.form.time) first = first.next
  for (let held = first; held?.next !== undefined;) {
    if (held.next.time !== held.next.form.time) held.next = held.next.next
    else held = held.next
  }
  return first
}

/** An entry. */
interface Holder { readonly forgetDropped: () => void }

export class Forms {
  readonly #type: string
  readonly #present: () => Iterable<readonly Holder[]>
  readonly #byName = new Map<string, Form>()

  /**
   * @param type named in metrics, such as `deployments.apps`
   * @param present the entries that are the present state of the type, in runs
   */
  constructor (type: string, present: () => Iterable<readonly Holder[]>) {
    this.#type = type
    this.#present = present
  }

  get (name: string): Form {
    let form = this.#byName.get(name)
    if (form === undefined) {
      form = new Form(this.#type, name, () => { void this.#unlink() })
      this.#byName.set(name, form)
    }
    return form
  }

  /** Frees the memory of forms that were dropped. Yields to the event loop. */
  async #unlink (): Promise<void> {
    for (const run of this.#present()) {
      for (const entry of run) entry.forgetDropped()
      if (turnIsOver()) await nextTurn()
    }
  }
}
