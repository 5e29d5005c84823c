/** Writes a store with that many objects without a server, because that takes only seconds. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBackend } from '../../storage/open.js'
import { pool } from './http1.js'
import { key, object } from './objects.js'
import { ourOperations } from './writers.js'

const PLACE = '/registry/configmaps/default/'
const UID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/
const isTenth = (at: number): boolean => at % 10 === 0

/**
 * Our operations write the first two, one with the label and one without; the others are copies with names and UIDs of
 * their own.
 * @returns the folder, for `launch`, whose `stop` removes it
 */
export async function filled (count: number, size?: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-server-'))
  const options = { kind: 'embedded', directory: join(folder, 'data') } as const
  const ours = await ourOperations(options)
  const first = Math.min(2, count)
  for (let at = 0; at < first; at++) {
    await ours.create({ name: key(at), body: Buffer.from(object(key(at), isTenth(at), size)) })
  }
  await ours.close()
  const backend = await openBackend(options)
  const templates = await Promise.all(Array.from({ length: first }, async (_, at) => {
    const { kv } = await backend.get(PLACE + key(at))
    const value = Buffer.from(kv?.value ?? [])
    return { value, name: value.indexOf(key(at)), uid: value.toString('latin1').search(UID) }
  }))
  await pool(count - first, 64, async index => {
    const at = index + first
    const template = templates[isTenth(at) ? 0 : 1]
    if (template === undefined || template.name < 0 || template.uid < 0) {
      throw new Error('the stored form of an object has no name or no UID')
    }
    const value = Buffer.from(template.value)
    value.write(key(at), template.name, 'latin1')
    value.write(randomUUID(), template.uid, 'latin1')
    await backend.create(PLACE + key(at), value)
  })
  await backend.close()
  return folder
}
