/** The keys that one dry run takes: those of the store count too, and nothing is written. */
import type { Backend, KeyValue, ReadResult, Revision, WriteResult } from '../../storage/backend.js'

/** What a pool needs of a back end. */
export type PoolKeys = Pick<Backend, 'create' | 'get' | 'list' | 'delete'>

export class TrialKeys implements PoolKeys {
  readonly made = new Map<string, KeyValue>()
  readonly list: PoolKeys['list']
  readonly #store: PoolKeys

  constructor (store: PoolKeys) {
    this.#store = store
    this.list = request => store.list(request)
  }

  async get (key: string): Promise<ReadResult> {
    const result = await this.#store.get(key)
    return result.kv === undefined ? { ...result, kv: this.made.get(key) } : result
  }

  async create (key: string, value: Uint8Array): Promise<WriteResult> {
    const { kv: current, revision } = await this.get(key)
    if (current !== undefined) return { succeeded: false, revision, current }
    this.made.set(key, { key, value, createRevision: revision, modRevision: revision })
    return { succeeded: true, revision }
  }

  async delete (key: string, revision: Revision): Promise<WriteResult> {
    this.made.delete(key)
    return { succeeded: true, revision }
  }
}
