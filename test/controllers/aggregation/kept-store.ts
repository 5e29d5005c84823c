import type { Backend } from '../../../storage/backend.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import type { Test } from '../../build.js'

/** A store that outlives its servers. */
export function kept (t: Test): Backend {
  const backend = openMemory()
  t.teardown(() => backend.close())
  return new Proxy(backend, {
    get: (target, name) => {
      const value = target[name as keyof Backend] as unknown
      return name === 'close' ? async () => {} : typeof value === 'function' ? value.bind(target) as unknown : value
    }
  })
}
