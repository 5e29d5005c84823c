/** Cost of the default admission plugins for creates of a ConfigMap of 2 KiB and of a pod of 8 KB, over HTTPS, compared to no plugins. */
import { CATALOGUE } from '../../admission/catalogue.js'
import { Ends } from './ends.js'
import { call, pool } from './http1.js'
import { CONFIGS, object } from './objects.js'
import { pod, PODS } from './pod-objects.js'
import { cpu, launch } from './process.js'
import { UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

const WRITERS = 16
const DEFAULTS = CATALOGUE.filter(plugin => plugin.default).map(({ name }) => name)

export async function admission (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const admitting = ends.add(await launch([...UNBOUNDED]))
  const bare = ends.add(await launch([...UNBOUNDED, `--disable-admission-plugins=${DEFAULTS.join(',')}`]))
  const servers = [admitting, bare]
  let made = 0
  for (const [what, path, body, most] of [['a ConfigMap of 2 KiB', CONFIGS, object, 1.10], ['a pod of 8 KB', PODS, pod, 1.35]] as const) {
    const costs = new Map(servers.map(server => [server, [] as number[]]))
    const count = Math.ceil(scale.writes / 5)
    for (let round = 0; round <= scale.rounds; round++) {
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        const before = cpu(server)
        await pool(count, WRITERS, async () => {
          const { code, body: answer } = await call(server.port, 'POST', path, body(`made-${made++}`))
          if (code !== 201) throw new Error(`a create was answered ${code}: ${answer()}`)
        })
        if (round > 0) costs.get(server)?.push((cpu(server) - before) * 1000 / count)
      }
    }
    report({ work: `create of ${what} with the default admission plugins, beside none`, unit: 'µs at the server', ours: costs.get(admitting) ?? [], limit: costs.get(bare) ?? [], most })
  }
}
