/** Cost of encryption for a create of a Secret of 2 KiB, over HTTPS, compared to a server that does not encrypt. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { call, pool } from './http1.js'
import { launch } from './process.js'
import { UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

const SECRETS = '/api/v1/namespaces/default/secrets'
const WRITERS = 16
const KEYS = [{ name: 'one', secret: Buffer.alloc(32, 1).toString('base64') }]
const TEXT = Buffer.alloc(2048, 'x').toString('base64')

const secret = (name: string): string =>
  JSON.stringify({ metadata: { name, labels: { app: 'bench' } }, data: { text: TEXT } })

export async function encryption (scale: Scale): Promise<void> {
  for (const [provider, most] of [['aesgcm', 1.1], ['secretbox', undefined]] as const) {
    await using ends = new Ends()
    const folder = mkdtempSync(join(tmpdir(), 'orch-server-'))
    const file = join(folder, 'encryption.json')
    writeFileSync(file, JSON.stringify({
      apiVersion: 'apiserver.config.orch.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources: ['secrets'], providers: [{ [provider]: { keys: KEYS } }] }]
    }))
    const encrypting = ends.add(await launch([...UNBOUNDED, `--encryption-provider-config=${file}`], folder))
    const plain = ends.add(await launch([...UNBOUNDED]))
    let made = 0
    const count = Math.ceil(scale.writes / 5)
    const costs = await cpuInTurns([encrypting, plain], scale.rounds, count, async server => {
      await pool(count, WRITERS, async () => {
        const { code, body } = await call(server.port, 'POST', SECRETS, secret(`made-${made++}`))
        if (code !== 201) throw new Error(`a create was answered ${code}: ${body()}`)
      })
    })
    report({
      work: `create of a Secret of 2 KiB with ${provider}, beside none`,
      unit: 'µs of CPU a request',
      ours: costs.get(encrypting) ?? [],
      limit: costs.get(plain) ?? [],
      ...(most === undefined ? {} : { most })
    })
  }
}
