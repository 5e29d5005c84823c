/** Writes of ConfigMaps, as the stages before the tested one leave them. */
import { clone } from '../../../schemas/language/values.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import type { Sent } from '../../../registry/stages/write.js'
import { ChangeWrite, CreateWrite } from '../../../registry/stages/writes.js'
import type { Allocation } from '../../../registry/allocation.js'
import type { WriteContext } from '../../../registry/write-context.js'
import { create } from '../../../registry/verbs/create.js'
import type { Entry } from '../../../storage/cache/entry.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { config, configMapStore, context, target } from '../../storage/store.js'
import type { Test } from '../../build.js'

export const creation = (
  t: Test, object: ApiObject | Sent<ApiObject> = config('a'), given: Partial<WriteContext> = {}
): CreateWrite =>
  new CreateWrite(
    { store: configMapStore(t, openMemory()), target: target(''), context: { ...context, ...given } }, object
  )

/** A change of an object that is stored, of which `object` is a copy. */
export async function changing (
  t: Test, given: Partial<WriteContext> = {}
): Promise<ChangeWrite & { readonly stored: Entry }> {
  const store = configMapStore(t, openMemory())
  const stored = await create(store, config('a', { k: 'old' }), target(''), context)
  const write = new ChangeWrite({ store, target: target('a'), context: { ...context, ...given } })
  write.current = stored
  write.isNewest = true
  write.oldObject = store.entries.read(stored)
  write.object = clone(write.oldObject)
  return Object.assign(write, { stored })
}

/** Notes what is done with the values of an object. */
export function noted (): { readonly allocation: Allocation, readonly notes: string[] } {
  const notes: string[] = []
  const note = async (text: string): Promise<void> => { notes.push(text) }
  return {
    notes,
    allocation: {
      allocate: async () => {
        await note('allocate')
        return { commit: () => note('commit'), revert: () => note('revert') }
      },
      release: () => note('release')
    }
  }
}

/** What the work throws, or rejects with. */
export async function failureOf (work: () => unknown): Promise<unknown> {
  try {
    await work()
    return undefined
  } catch (failure) {
    return failure
  }
}
