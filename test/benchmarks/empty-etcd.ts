/** Deletes all objects of an etcd, as an operator would before a restore. */
import { Connection } from '../../storage/etcd/connection.js'

const connection = new Connection({ servers: [process.argv[2] ?? ''] })
const key = Buffer.from('/registry/.format')
const { kvs: [mark] } = await connection.range({ key })
await connection.batch(
  {
    guard: { key, expected: mark?.modRevision ?? 0 },
    deletes: [{ key: Buffer.from('/registry/a'), rangeEnd: Buffer.from('/registry0') }]
  },
  60_000
)
connection.close()
