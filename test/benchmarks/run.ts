/** `npm run bench [-- reads|start|writes|growth …]`: every figure beside its limit, measured in the same run. */
import { growth } from './growth.js'
import { reads } from './reads.js'
import { start } from './start.js'
import { writes } from './writes.js'

const all: Record<string, () => Promise<boolean>> = { start, reads, writes, growth }
const chosen = process.argv.slice(2)
for (const [name, run] of Object.entries(all)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  await run()
}
process.exit()
