/** The keys of a type's objects in the store. */
import type { ApiObject } from '../schemas/meta/api-object.js'
import { rangeOf } from '../storage/key.js'

/**
 * Keys are printable ASCII; all other characters, and the percent sign, are percent-encoded, so that no two names share
 * a key.
 */
function keyPart (name: string): string {
  return /^[!-$&-~]*$/.test(name) ? name : name.toWellFormed().replace(/[^!-$&-~]/gu, encodeURIComponent)
}

export class ObjectKeys {
  readonly #root: string
  readonly #namespaced: boolean

  /** @param root for example `/registry/pods` */
  constructor (root: string, namespaced: boolean) {
    this.#root = root
    this.#namespaced = namespaced
  }

  of (namespace: string, name: string): string {
    return this.#namespaced ? `${this.#root}/${keyPart(namespace)}/${keyPart(name)}` : `${this.#root}/${keyPart(name)}`
  }

  /** The key prefix of a namespace, or of all with ''; ends in '/'. */
  scope (namespace: string): string {
    return namespace === '' || !this.#namespaced ? `${this.#root}/` : `${this.#root}/${keyPart(namespace)}/`
  }

  /** The key range of a namespace, or of all with ''. */
  range (namespace: string): { start: string, end: string } { return rangeOf(this.scope(namespace)) }

  /** Whether the names that a stored object has are those of its key. */
  isOf (key: string, { metadata: { namespace = '', name = '' } }: ApiObject): boolean {
    if (name === '') return true
    return namespace === '' ? key.endsWith(`/${keyPart(name)}`) : key === this.of(namespace, name)
  }
}
