/** A state of so many objects for a server to start with, written without a server: it takes seconds. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pool } from './http1.js'
import { key, object } from './objects.js'
import { ourOperations } from './writers.js'

/** Adds objects up to `count` to what is in the folder. @returns the folder, for `launch`, whose `stop` removes it */
export async function filled (count: number, from = 0, folder = mkdtempSync(join(tmpdir(), 'orch-server-'))): Promise<string> {
  const { create, close } = await ourOperations({ kind: 'embedded', directory: join(folder, 'data') })
  await pool(count - from, 64, async at => {
    const name = key(from + at)
    await create({ name, body: Buffer.from(object(name, (from + at) % 10 === 0)) })
  })
  await close()
  return folder
}
