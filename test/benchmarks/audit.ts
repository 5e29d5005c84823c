/** GET of one object with the audit log in batch mode, compared to the same without it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { gets } from './http1.js'
import { CONFIGS, fill, key } from './objects.js'
import { launch } from './process.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

const CALLERS = 16
/** Maximum additional microseconds of CPU per request. */
const MAX = { None: 1, Metadata: 8 }

export async function auditing (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const folder = mkdtempSync(join(tmpdir(), 'orch-audit-'))
  ends.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const at = async (level: string) => {
    const policy = join(folder, `${level}.yaml`)
    writeFileSync(policy, `apiVersion: audit.orch.io/v1\nkind: Policy\nrules: [{ level: ${level} }]\n`)
    return ends.add(await launch([
      `--audit-policy-file=${policy}`, `--audit-log-path=${join(folder, level)}.log`, '--audit-log-mode=batch',
      '--audit-log-batch-max-size=400', '--audit-log-batch-max-wait=1s'
    ]))
  }
  const plain = ends.add(await launch([]))
  const servers = { None: await at('None'), Metadata: await at('Metadata') }
  for (const server of [plain, ...Object.values(servers)]) await fill(server, 100)
  const costs = await cpuInTurns(
    [plain, ...Object.values(servers)], scale.rounds, scale.gets,
    async server => { await gets(server.port, `${CONFIGS}/${key(7)}`, scale.gets, CALLERS) }
  )
  const without = costs.get(plain) ?? []
  for (const level of ['None', 'Metadata'] as const) {
    const more = (costs.get(servers[level]) ?? []).map((cost, round) => cost - (without[round] ?? NaN))
    report({
      work: `GET, audited at ${level}, more than without`, unit: 'µs of CPU a request', ours: more, bound: MAX[level]
    })
  }
  report({ work: 'GET, not audited', unit: 'µs of CPU a request', ours: without })
}
