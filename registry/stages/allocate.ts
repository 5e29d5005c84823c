/** Allocates what only one object may have, and releases what an object no longer has. */
import type { Stage } from './run.js'
import type { Undo } from './write.js'
import type { ChangeWrite, StoredWrite } from './writes.js'
import { removable } from './change.js'

async function allocate (write: StoredWrite, of: Undo['of']): Promise<void> {
  const { store: { allocation }, object, oldObject, dryRun } = write
  const allocated = write.allocated = await allocation?.allocate(object, oldObject, dryRun)
  if (allocated === undefined) return
  write.undo.push({
    of,
    revert: () => {
      write.allocated = undefined
      return allocated.revert()
    }
  })
}

export const ALLOCATE_NEW: Stage<StoredWrite> = {
  name: 'allocate',
  when: ({ store }) => store.allocation !== undefined,
  run: write => allocate(write, ALLOCATE_NEW)
}

/** Whether the change may need other values. */
export const allocates = ({ store, subresource, object }: ChangeWrite): boolean =>
  store.allocation !== undefined && subresource === '' && !removable(store, object)

export const ALLOCATE_CHANGE: Stage<ChangeWrite> = {
  name: 'allocate', when: allocates, run: write => allocate(write, ALLOCATE_CHANGE)
}

/** The object is written: what the old one had and the new one has not is free. */
export const COMMIT: Stage = {
  name: 'commit',
  when: ({ allocated }) => allocated !== undefined,
  run: write => write.allocated?.commit()
}

/** The object is removed. */
export const RELEASE: Stage<ChangeWrite> = {
  name: 'release',
  when: ({ store, removes, dryRun }) => store.allocation !== undefined && removes && !dryRun,
  run: ({ store, base }) => store.allocation?.release(store.entries.read(base))
}
