import t from 'tap'
import type { ResourceStore } from '../../registry/resource-store.js'
import { ServedVersions } from '../../registry/served-versions.js'
import { compareGroups, compareVersions } from '../../schemas/groups.js'
import { random } from '../random.js'

const GROUPS = ['', 'apps', 'example.com', 'other.example.com', 'policy']
const VERSIONS = ['v1', 'v1beta1', 'v2alpha1', 'v2']

/** What it reads of a store. */
const storeOf = (group: string, version: string): ResourceStore => ({
  representation: { group, version }
}) as ResourceStore

t.test('stores are in the order of discovery after any changes, and versions without a change keep their array', t => {
  const { seed, int } = random()
  const served = new ServedVersions()
  const all = new Set<ResourceStore>()
  for (let step = 0; step < 500; step++) {
    const before = served.inOrder()
    const [known] = [...all].slice(int(all.size + 1))
    const store = known !== undefined && int(5) < 2 ? known : storeOf(GROUPS[int(5)] ?? '', VERSIONS[int(4)] ?? '')
    const { group, version } = store.representation
    if (all.delete(store)) served.delete(store)
    else {
      all.add(store)
      served.add(store)
    }
    const expected = [...all].sort(({ representation: one }, { representation: other }) =>
      compareGroups(one.group, other.group) || compareVersions(one.group, one.version, other.version))
    const stores = served.stores()
    if (stores.length !== expected.length || stores.some((one, at) => one !== expected[at])) {
      t.fail(`SEED=${seed}, step ${step}: other stores`)
    }
    for (const one of before) {
      const isChanged = one.group === group && one.version === version
      if (!isChanged && served.of(one.group, one.version) !== one.stores) {
        t.fail(`SEED=${seed}, step ${step}: ${one.group}/${one.version} has changed`)
      }
    }
    const versions = served.inOrder()
    if (versions.some(one => one.stores.length === 0 || one.stores !== served.of(one.group, one.version))) {
      t.fail(`SEED=${seed}, step ${step}: versions`)
    }
  }
  t.same(served.of('nothing', 'v1'), [])
  t.end()
})
