/**
 * Routes changes to subscribers of all keys, of keys below a path (a namespace) or of one key. Each change costs only
 * the subscribers it concerns. A subscriber is notified again only after it has taken its events.
 */
import type { Revision } from '../backend.js'
import type { StorageError } from '../errors.js'

export interface Subscriber {
  /** Called when events are available, at most once per event loop turn. */
  wake: () => void
  /** No more events follow; the position is lost. */
  end: (error: StorageError) => void
}

/** A subscriber's position in the window of events. */
export class Place {
  /** A path that ends in '/', for all keys below it, or one key. */
  readonly scope: string
  readonly subscriber: Subscriber
  /** Changes up to this revision are skipped. */
  readonly after: Revision
  /** Number of the first event to take; -1 if there is none. */
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
  /** The scope that contains all keys. */
  readonly #all: string
  readonly #unscoped = new Set<Place>()
  readonly #byScope = new Map<string, Set<Place>>()
  #lastNotified: Place[] = []
  #waking = false

  constructor (all: string) { this.#all = all }

  get size (): number {
    let size = this.#unscoped.size
    for (const places of this.#byScope.values()) size += places.size
    return size
  }

  add (place: Place): void {
    if (place.scope === this.#all) {
      this.#unscoped.add(place)
      return
    }
    const places = this.#byScope.get(place.scope)
    if (places === undefined) this.#byScope.set(place.scope, new Set([place]))
    else places.add(place)
  }

  delete (place: Place): void {
    if (this.#unscoped.delete(place)) return
    const places = this.#byScope.get(place.scope)
    if (places?.delete(place) === true && places.size === 0) this.#byScope.delete(place.scope)
  }

  /** Records an event with its number in the window. */
  notify (key: string, revision: Revision, number: number): void {
    if (this.#unscoped.size > 0) this.#notifyPlaces(this.#unscoped, revision, number)
    if (this.#byScope.size === 0) return
    const path = pathOf(key)
    const inPath = path === this.#all ? undefined : this.#byScope.get(path)
    if (inPath !== undefined) this.#notifyPlaces(inPath, revision, number)
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

  /** Number of subscribers to a key, or to new keys below a path that ends in '/'. */
  concernedBy (scope: string): number {
    const path = pathOf(scope)
    const inPath = path === this.#all ? 0 : this.#byScope.get(path)?.size ?? 0
    return this.#unscoped.size + inPath + (scope === path ? 0 : this.#byScope.get(scope)?.size ?? 0)
  }

  /** Wakes the notified subscribers in the next event loop turn. */
  wake (): void {
    if (this.#waking || this.#lastNotified.length === 0) return
    this.#waking = true
    setImmediate(() => {
      this.#waking = false
      const notified = this.#lastNotified
      this.#lastNotified = []
      for (const { subscriber } of notified) subscriber.wake()
    })
  }

  /** Ends all subscribers. */
  end (error: StorageError): void {
    const places = [...this.#unscoped, ...[...this.#byScope.values()].flatMap(set => [...set])]
    this.#unscoped.clear()
    this.#byScope.clear()
    this.#lastNotified = []
    for (const { subscriber } of places) subscriber.end(error)
  }
}
