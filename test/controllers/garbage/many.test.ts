/** Four thousand dependents of one object are deleted while others are served. */
import t from 'tap'
import { randomUUID } from 'node:crypto'
import type { Backend } from '../../../storage/backend.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { slowness } from '../../bad-input/refusal.js'
import { turns } from '../../turns.js'
import { collectingServer, owner, CONFIGS, until } from './server.js'

const DEPENDENTS = 4_000
const PREFIX = '/registry/configmaps/default/'
const childName = (at: number): string => `child-${String(at).padStart(5, '0')}`
/** On a machine of the reference's speed: milliseconds of CPU in one turn, and for all. */
const MAX_TURN_MS = 25
const MAX_MS = 12_000

/**
 * Copies the stored first child, with names and UIDs of their own: requests would cost as much as all that is measured.
 */
async function addSiblings (backend: Backend): Promise<void> {
  const { kv } = await backend.get(PREFIX + childName(0))
  const template = Buffer.from(kv?.value ?? [])
  const text = template.toString('latin1')
  const [name, uid] = [text.indexOf(childName(0)), text.search(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/)]
  if (name < 0 || uid < name) throw new Error('the stored form of an object has no name, or no UID behind it')
  for (let at = 1; at < DEPENDENTS; at++) {
    const value = Buffer.from(template)
    value.write(childName(at), name, 'latin1')
    value.write(randomUUID(), uid, 'latin1')
    await backend.create(PREFIX + childName(at), value)
  }
}

t.test('four thousand dependents are deleted in short turns', async t => {
  const backend = await openMemory()
  const server = await collectingServer(t, { storage: backend })
  const top = await server.make('top')
  await server.make(childName(0), [owner(top, { blockOwnerDeletion: true })])
  await addSiblings(backend)
  t.equal(
    (await server.get(`${CONFIGS}?limit=1`)).json['metadata'].remainingItemCount, DEPENDENTS,
    'all children and their owner'
  )
  const measured = turns()
  await server.remove('top', 'Background')
  await until(async () =>
    (await server.get(`${CONFIGS}?limit=2`)).json['items'].length === 0 && await server.config('top') === undefined)
  const { longest, all } = measured.stop()
  t.comment(`${longest.toFixed(1)} ms in the longest turn, ${all.toFixed(0)} ms in all`)
  const times = slowness()
  t.ok(longest < MAX_TURN_MS * times, `${longest.toFixed(1)} ms in the longest turn`)
  t.ok(all < MAX_MS * times, `${all.toFixed(0)} ms in all`)
})
