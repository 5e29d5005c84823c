/**
 * The child of the crash test: writes to the store in the given directory with many writers at once, and prints each
 * acknowledged write as a line: key, revision, value. It continues until it is killed.
 */
import { writeSync } from 'node:fs'
import { openBackend } from '../../storage/open.js'

const [, , directory = '', round = ''] = process.argv
const backend = await openBackend({ kind: 'embedded', directory })
writeSync(1, `open ${await backend.revision()}\n`)

async function write (writer: number): Promise<void> {
  for (let i = 0; ; i++) {
    const key = `/crash/${round}/${writer}/${i % 20}`
    const value = Buffer.alloc(600, `${round}-${writer}-${i};`)
    const { kv } = await backend.get(key)
    const result =
      kv === undefined ? await backend.create(key, value) : await backend.update(key, value, kv.modRevision)
    // Written synchronously by the kernel, so that the parent gets it whatever happens next.
    if (result.succeeded) writeSync(1, `${key} ${result.revision} ${round}-${writer}-${i}\n`)
    if (i % 50 === 49) backend.compact(result.revision - 200).catch(() => {})
  }
}

await Promise.all(Array.from({ length: 64 }, (_, writer) => write(writer)))
