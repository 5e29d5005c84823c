/** Serves the store of a directory until it is killed. For `shared-faults.test.ts`. */
import { serveEmbedded } from '../../storage/open.js'

await serveEmbedded({ kind: 'embedded', directory: process.argv[2] ?? '' }, error => { throw error })
process.send?.('served')
process.on('disconnect', () => process.exit(1))
