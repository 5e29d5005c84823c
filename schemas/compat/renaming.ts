/** The names in stored JSON that the public project calls otherwise, see `schemas/codec/renaming.ts`. */
import type { Message } from '../language/types.js'
import { Signs, type Renamed, type Renaming } from '../codec/renaming.js'
import { keptBy, rootOf } from './objects.js'
import type { Members, Place } from './places.js'
import { SIGNS, translateGroup } from './text.js'
import { translateFields } from './field-trees.js'
import { translateValue, valueOf } from './values.js'
import { oncePer } from '../once-per.js'

/** An object with more names is looked through as a whole. */
const MAX_SIGNS = 4096

function signsIn (json: Buffer): Signs {
  const places: number[] = []
  for (const sign of SIGNS) {
    for (let at = json.indexOf(sign); at !== -1; at = json.indexOf(sign, at + sign.length)) {
      if (places.push(at) > MAX_SIGNS) return EVERYWHERE
    }
  }
  return new Signs(places.sort((one, other) => one - other))
}

class Anywhere extends Signs {
  override get none (): boolean { return false }
  override between (): boolean { return true }
}
const EVERYWHERE = new Anywhere([])

/** The renaming of a message whose objects are stored. */
class OfMessage {
  readonly #message: Message
  readonly #known = new Map<Members, Renaming>()

  constructor (message: Message) { this.#message = message }

  get root (): Renaming {
    const { members } = rootOf(this.#message)
    const metadata = members.places.get('metadata')
    return this.#with(members, metadata?.kind === 'struct'
      ? { metadata: { kind: 'objects', inMap: false, renaming: this.#metadata(metadata.members) } }
      : {})
  }

  /** Field sets have the structure of the whole object. */
  #metadata (members: Members): Renaming {
    const managers = members.places.get('managedFields')
    if (managers?.kind !== 'items' || managers.item.kind !== 'struct') return this.#of(members)
    const of = (fields: unknown): unknown => translateFields(rootOf(this.#message), fields)
    const renaming = this.#with(managers.item.members, { fieldsV1: { kind: 'value', of } })
    return this.#with(members, { managedFields: { kind: 'objects', inMap: false, renaming } })
  }

  #of (members: Members): Renaming {
    let renaming = this.#known.get(members)
    if (renaming === undefined) this.#known.set(members, renaming = this.#with(members))
    return renaming
  }

  /** @param special of this object alone */
  #with (members: Members, special: Readonly<Record<string, Renamed>> = {}): Renaming {
    const known = new Map<string, Renamed | undefined>(Object.entries(special))
    const member = (name: string): Renamed | undefined => {
      if (!known.has(name)) {
        const place = members.places.get(name)
        if (members.typed && name === 'apiVersion') known.set(name, { kind: 'text', of: translateGroup })
        else if (place !== undefined) known.set(name, this.#renamed(place))
      }
      return known.get(name)
    }
    return { member, signsIn }
  }

  #renamed (place: Place): Renamed {
    if (place.kind === 'text') return { kind: 'text', of: place.of }
    const [item, inMap] = place.kind === 'items' ? [place.item, place.map] : [place, false]
    if (item.kind === 'struct') {
      const { members } = item
      if (members.beside === undefined) return { kind: 'objects', inMap, renaming: this.#of(members) }
    }
    const kept = keptBy(this.#message)
    if (place.kind === 'keys') return { kind: 'keys', of: place.of, valueOf: key => valueOf(key, kept) }
    return { kind: 'value', of: value => translateValue(place, value, kept) }
  }
}

export const publicRenaming = oncePer((message: Message): Renaming => new OfMessage(message).root)
