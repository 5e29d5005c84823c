/**
 * Ten clients that send the most expensive requests endlessly, in a process of their own: `tenant-crowd.js PORT
 * SHAPES`, where SHAPES is the number of shapes to use. Notifies its parent when they have begun.
 */
import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { send } from './tenant-client.js'
import { SHAPES } from './tenant-shapes.js'

const CLIENTS = 10
const REFUSED = 429
const RETRY_AFTER = 1000
const port = Number(process.argv[2])
const shapes = SHAPES.slice(0, Number(process.argv[3]))

// As in elephant.ts: the kernel's scheduling of two cores is not measured.
for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), constants.priority.PRIORITY_LOW)

for (const { before = [] } of shapes) for (const one of before) await send(port, one)
process.send?.('begun')
await Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
  for (let at = client * 3; ; at++) {
    const code = await send(port, (shapes[at % shapes.length] as typeof SHAPES[number]).call) // within its length
    if (code === REFUSED) await sleep(RETRY_AFTER)
  }
}))
