/** Writes a store with that many objects without a server, because that takes only seconds. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pool } from './http1.js'
import { key, object } from './objects.js'
import { ourOperations } from './writers.js'

/** @returns the folder, for `launch`, whose `stop` removes it */
export async function filled (count: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-server-'))
  const { create, close } = await ourOperations({ kind: 'embedded', directory: join(folder, 'data') })
  await pool(count, 64, async at => {
    const name = key(at)
    await create({ name, body: Buffer.from(object(name, at % 10 === 0)) })
  })
  await close()
  return folder
}
