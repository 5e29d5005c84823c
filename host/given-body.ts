/**
 * Bodies of requests in this process: a copy of what the caller gives, so that neither sees later changes of the other,
 * within the bounds of all bodies. Members are read as JSON.stringify reads them.
 */
import { GivenBody } from '../answers/answer.js'
import { MAX_DEPTH, OF_BODIES, tooManyValues } from '../schemas/codec/json/parse.js'
import { setMember } from '../schemas/language/values.js'
import { MAX_BODY_BYTES } from '../schemas/limits.js'
import { mayHavePublicNames } from '../schemas/public-names.js'
import { badRequest, tooLarge } from '../schemas/status.js'

/** @throws StatusError 400, 413; DecodeError for too many values */
export function givenBody (value: unknown): GivenBody {
  const reader = new Reader()
  const copy = reader.read(value, '', 0)
  if (copy === undefined) throw badRequest('the request body is empty')
  return new GivenBody(copy, reader.length, reader.mayBeMisnamed)
}

class Reader {
  length = 0
  mayBeMisnamed = false
  #values = 0

  /** @returns undefined for what JSON leaves out */
  read (value: unknown, path: string, depth: number): unknown {
    this.#count(4)
    switch (typeof value) {
      case 'string': return this.#text(value)
      case 'boolean':
      case 'bigint': return value
      case 'number':
        if (!Number.isFinite(value)) throw badRequest(`${path}: ${value} is no number that JSON has`)
        return value
      case 'undefined': return undefined
      case 'object': return value === null ? null : this.#structure(value, path, depth)
      default: throw badRequest(`${path}: a ${typeof value} is no data`)
    }
  }

  #structure (value: object, path: string, depth: number): unknown {
    if (depth > MAX_DEPTH) throw badRequest(`${path.slice(0, 100)}…: nested too deeply, or part of itself`)
    if (Array.isArray(value)) {
      this.#add(value.length)
      return Array.from(value, (item: unknown, at) => this.read(item, `${path}[${at}]`, depth + 1) ?? null)
    }
    if ('toJSON' in value && typeof value.toJSON === 'function') {
      return this.read((value.toJSON as () => unknown)(), path, depth + 1)
    }
    if (!isPlain(value)) throw badRequest(`${path}: ${nameOf(value)} is no plain data`)
    const copy = {}
    for (const [name, member] of Object.entries(value)) {
      const read = this.read(member, path === '' ? name : `${path}.${name}`, depth + 1)
      if (read === undefined) continue
      this.#add(1)
      setMember(copy, this.#text(name), read)
    }
    return copy
  }

  /** As its bytes would be read: each half of a character is replaced. */
  #text (text: string): string {
    this.#count(text.length)
    this.mayBeMisnamed ||= mayHavePublicNames(text)
    return /\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text
  }

  #add (values: number): void {
    this.#values += values
    if (this.#values > OF_BODIES.values) throw tooManyValues(OF_BODIES.values)
  }

  #count (bytes: number): void {
    this.length += bytes
    if (this.length > MAX_BODY_BYTES) throw tooLarge(`the object has more than ${MAX_BODY_BYTES} bytes`)
  }
}

/** Of this realm or another one: Jest runs its tests in one of their own. */
function isPlain (value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function nameOf ({ constructor }: object): string {
  return typeof constructor === 'function' ? `a ${constructor.name.slice(0, 100)}` : 'an object with a prototype'
}
