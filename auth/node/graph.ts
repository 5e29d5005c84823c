/** Which objects a node may access: pods by node, the objects they refer to, volumes by claim, and attachments. */
import { podReferences, volumeReferences, type VolumeReferences } from './references.js'
import type { PersistentVolume } from '../../schemas/api/core/persistentvolumes.js'
import type { Pod } from '../../schemas/api/core/pods.js'

interface BoundPod { readonly node: string, readonly references: ReadonlySet<string> }

/** A multimap; keys without values are removed. */
class Sets {
  readonly #sets = new Map<string, Set<string>>()

  of (key: string): ReadonlySet<string> { return this.#sets.get(key) ?? NONE }

  add (key: string, value: string): void {
    const existing = this.#sets.get(key)
    if (existing === undefined) this.#sets.set(key, new Set([value]))
    else existing.add(value)
  }

  remove (key: string, value: string): void {
    const existing = this.#sets.get(key)
    existing?.delete(value)
    if (existing?.size === 0) this.#sets.delete(key)
  }
}

const NONE: ReadonlySet<string> = new Set()

export class NodeGraph {
  /** By `namespace/name`. */
  readonly #pods = new Map<string, BoundPod>()
  /** Pods by the keys they refer to. */
  readonly #podsOf = new Sets()
  readonly #volumes = new Map<string, VolumeReferences>()
  /** Volumes by the secrets they are mounted with. */
  readonly #volumesOf = new Sets()
  /** Node by name of the attachment. */
  readonly #attachments = new Map<string, string>()
  /** Node by name of the slice, of devices of one node. */
  readonly #slices = new Map<string, string>()

  setPod (key: string, pod: Pod): void {
    this.deletePod(key)
    const node = pod.spec.nodeName ?? ''
    if (node === '') return
    const references = podReferences(pod)
    this.#pods.set(key, { node, references })
    for (const reference of references) this.#podsOf.add(reference, key)
  }

  deletePod (key: string): void {
    for (const reference of this.#pods.get(key)?.references ?? NONE) this.#podsOf.remove(reference, key)
    this.#pods.delete(key)
  }

  setVolume (name: string, volume: PersistentVolume): void {
    this.deleteVolume(name)
    const references = volumeReferences(volume)
    if (references === undefined) return
    this.#volumes.set(name, references)
    for (const secret of references.secrets) this.#volumesOf.add(secret, name)
  }

  deleteVolume (name: string): void {
    for (const secret of this.#volumes.get(name)?.secrets ?? NONE) this.#volumesOf.remove(secret, name)
    this.#volumes.delete(name)
  }

  setAttachment (name: string, node: string): void { this.#attachments.set(name, node) }
  deleteAttachment (name: string): void { this.#attachments.delete(name) }

  setSlice (name: string, node: string): void {
    if (node === '') this.#slices.delete(name)
    else this.#slices.set(name, node)
  }

  deleteSlice (name: string): void { this.#slices.delete(name) }

  /** Whether a pod of the node refers to the object, or to a claim whose volume uses it. @param key see `keyOf` */
  /** Whether a pod is bound to the node. */
  isOn (node: string, pod: string): boolean { return this.#pods.get(pod)?.node === node }

  refersTo (node: string, key: string): boolean {
    if (this.#podRefersTo(node, key)) return true
    for (const volume of this.#volumesOf.of(key)) if (this.usesVolume(node, volume)) return true
    return false
  }

  usesVolume (node: string, volume: string): boolean {
    const references = this.#volumes.get(volume)
    return references !== undefined && this.#podRefersTo(node, references.claim)
  }

  isAttachedTo (node: string, attachment: string): boolean { return this.#attachments.get(attachment) === node }
  hasSlice (node: string, slice: string): boolean { return this.#slices.get(slice) === node }

  #podRefersTo (node: string, key: string): boolean {
    for (const pod of this.#podsOf.of(key)) if (this.#pods.get(pod)?.node === node) return true
    return false
  }
}
