/**
 * Routes changes to subscribers of all keys, of keys below a path (a namespace) or of one key, and to those that want
 * one value of an indexed field, such as the pods of a node. Each change costs only the subscribers it concerns. A
 * subscriber is notified again only after it has taken its events.
 */
import type { Revision } from '../backend.js'
import type { StorageError } from '../errors.js'
import type { CacheEvent } from './event.js'
import type { EventWindow } from './window.js'

/** A value that a subscriber wants, by the place of its field in `Entry.fields`. */
export interface Selected { readonly at: number, readonly value: string }

export interface Subscriber {
  /** Set before it gets a place: only changes of objects that have the value, or had it, need to reach it. */
  selected?: Selected | undefined
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
  readonly selected: Selected | undefined
  /** Changes up to this revision are skipped. */
  readonly after: Revision
  /** Number of the first event to take; -1 if there is none. */
  first = -1

  constructor (scope: string, after: Revision, subscriber: Subscriber) {
    this.scope = scope
    this.after = after
    this.subscriber = subscriber
    this.selected = subscriber.selected
  }

  wants (key: string): boolean {
    return this.scope.endsWith('/') ? key.startsWith(this.scope) : key === this.scope
  }
}

const pathOf = (key: string): string => key.slice(0, key.lastIndexOf('/') + 1)

export class Subscribers {
  /** The scope that contains all keys. */
  readonly #all: string
  /** Of those that want a value: by the place of the field, then by the value. */
  readonly #selecting = new Map<number, Map<string, Set<Place>>>()
  readonly #unscoped = new Set<Place>()
  readonly #byScope = new Map<string, Set<Place>>()
  #lastNotified: Place[] = []
  #waking = false

  constructor (all: string) { this.#all = all }

  get size (): number {
    let size = this.#unscoped.size
    for (const places of [...this.#byScope.values(), ...this.#allSelecting()]) size += places.size
    return size
  }

  * #allSelecting (): Iterable<Set<Place>> { for (const byValue of this.#selecting.values()) yield * byValue.values() }

  add (place: Place): void {
    const { selected } = place
    if (selected !== undefined) {
      let byValue = this.#selecting.get(selected.at)
      if (byValue === undefined) this.#selecting.set(selected.at, byValue = new Map())
      const places = byValue.get(selected.value)
      if (places === undefined) byValue.set(selected.value, new Set([place]))
      else places.add(place)
      return
    }
    if (place.scope === this.#all) {
      this.#unscoped.add(place)
      return
    }
    const places = this.#byScope.get(place.scope)
    if (places === undefined) this.#byScope.set(place.scope, new Set([place]))
    else places.add(place)
  }

  delete (place: Place): void {
    const { selected } = place
    if (selected !== undefined) {
      const byValue = this.#selecting.get(selected.at)
      const places = byValue?.get(selected.value)
      if (places?.delete(place) !== true || places.size > 0) return
      byValue?.delete(selected.value)
      if (byValue?.size === 0) this.#selecting.delete(selected.at)
      return
    }
    if (this.#unscoped.delete(place)) return
    const places = this.#byScope.get(place.scope)
    if (places?.delete(place) === true && places.size === 0) this.#byScope.delete(place.scope)
  }

  /** Records an event with its number in the window, which may have dropped it already. */
  notify (key: string, revision: Revision, number: number, window?: EventWindow): void {
    for (const [at, byValue] of this.#selecting) {
      for (const places of concerned(byValue, at, window?.at(number))) {
        for (const place of places ?? []) if (place.wants(key)) this.#notifyPlace(place, revision, number)
      }
    }
    if (this.#unscoped.size > 0) this.#notifyPlaces(this.#unscoped, revision, number)
    if (this.#byScope.size === 0) return
    const path = pathOf(key)
    const inPath = path === this.#all ? undefined : this.#byScope.get(path)
    if (inPath !== undefined) this.#notifyPlaces(inPath, revision, number)
    const exact = this.#byScope.get(key)
    if (exact !== undefined) this.#notifyPlaces(exact, revision, number)
  }

  #notifyPlaces (places: ReadonlySet<Place>, revision: Revision, number: number): void {
    for (const place of places) this.#notifyPlace(place, revision, number)
  }

  #notifyPlace (place: Place, revision: Revision, number: number): void {
    if (place.first >= 0 || revision <= place.after) return
    place.first = number
    this.#lastNotified.push(place)
  }

  /**
   * Number of subscribers to a key, or to new keys below a path that ends in '/'. Those that want a value are left out,
   * as few of them are concerned.
   */
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
    const sets = [this.#unscoped, ...this.#byScope.values(), ...this.#allSelecting()]
    const places = sets.flatMap(set => [...set])
    this.#selecting.clear()
    this.#unscoped.clear()
    this.#byScope.clear()
    this.#lastNotified = []
    for (const { subscriber } of places) subscriber.end(error)
  }
}

/**
 * Those whose value an object has or had. If what it was is unknown, anybody may have to hear that it has it no more.
 */
function concerned (
  byValue: ReadonlyMap<string, Set<Place>>, at: number, event: CacheEvent | undefined
): Iterable<Set<Place> | undefined> {
  if (event === undefined || (event.previous === undefined && event.type !== 'ADDED')) return byValue.values()
  const { entry, previous } = event
  return new Set([byValue.get(entry.fields[at] ?? ''), byValue.get(previous?.fields[at] ?? '')])
}
