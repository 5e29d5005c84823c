/**
 * Who waits for changes of which keys: of all, of those below a path (a namespace), or of one. A change wakes those
 * it concerns and costs the others nothing. Who has been told and has not looked yet is not told again.
 */
import type { Revision } from '../backend.js'
import type { StorageError } from '../errors.js'

export interface Subscriber {
  /** There is something new; called at most once per turn of the loop, and not again before it was looked at. */
  wake: () => void
  /** No more events will come; the place among them is lost. */
  end: (error: StorageError) => void
}

/** One subscriber's place in the window of events. */
export class Place {
  /** What it wants: below a path, which ends in '/', or one key. */
  readonly scope: string
  readonly subscriber: Subscriber
  /** Changes up to this revision are known to it. */
  readonly after: Revision
  /** Number of the first event it wants and has not taken; -1 while there is none. */
  first = -1

  constructor (scope: string, after: Revision, subscriber: Subscriber) {
    this.scope = scope
    this.after = after
    this.subscriber = subscriber
  }

  wants (key: string): boolean {
    return this.scope.endsWith('/') ? key.startsWith(this.scope) : key === this.scope
  }
}

const pathOf = (key: string): string => key.slice(0, key.lastIndexOf('/') + 1)

export class Subscribers {
  /** The scope of those who want everything. */
  readonly #all: string
  readonly #ofAll = new Set<Place>()
  readonly #byScope = new Map<string, Set<Place>>()
  #lastNotified: Place[] = []
  #waking = false

  constructor (all: string) { this.#all = all }

  get size (): number {
    let size = this.#ofAll.size
    for (const places of this.#byScope.values()) size += places.size
    return size
  }

  add (place: Place): void {
    if (place.scope === this.#all) {
      this.#ofAll.add(place)
      return
    }
    const places = this.#byScope.get(place.scope)
    if (places === undefined) this.#byScope.set(place.scope, new Set([place]))
    else places.add(place)
  }

  delete (place: Place): void {
    if (this.#ofAll.delete(place)) return
    const places = this.#byScope.get(place.scope)
    if (places?.delete(place) === true && places.size === 0) this.#byScope.delete(place.scope)
  }

  /** An event with this number in the window has happened. */
  notify (key: string, revision: Revision, number: number): void {
    if (this.#ofAll.size > 0) this.#notifyPlaces(this.#ofAll, revision, number)
    if (this.#byScope.size === 0) return
    const path = pathOf(key)
    const near = path === this.#all ? undefined : this.#byScope.get(path)
    if (near !== undefined) this.#notifyPlaces(near, revision, number)
    const exact = this.#byScope.get(key)
    if (exact !== undefined) this.#notifyPlaces(exact, revision, number)
  }

  #notifyPlaces (places: ReadonlySet<Place>, revision: Revision, number: number): void {
    for (const place of places) {
      if (place.first >= 0 || revision <= place.after) continue
      place.first = number
      this.#lastNotified.push(place)
    }
  }

  /** How many would be told of an event of a key, or of some new key below a path that ends in '/'. */
  concernedBy (scope: string): number {
    const path = pathOf(scope)
    const near = path === this.#all ? 0 : this.#byScope.get(path)?.size ?? 0
    return this.#ofAll.size + near + (scope === path ? 0 : this.#byScope.get(scope)?.size ?? 0)
  }

  /** Wakes those who were told something, in the next turn of the loop. */
  wake (): void {
    if (this.#waking || this.#lastNotified.length === 0) return
    this.#waking = true
    setImmediate(() => {
      this.#waking = false
      const told = this.#lastNotified
      this.#lastNotified = []
      for (const { subscriber } of told) subscriber.wake()
    })
  }

  /** Ends them all. */
  end (error: StorageError): void {
    const places = [...this.#ofAll, ...[...this.#byScope.values()].flatMap(set => [...set])]
    this.#ofAll.clear()
    this.#byScope.clear()
    this.#lastNotified = []
    for (const { subscriber } of places) subscriber.end(error)
  }
}
