/**
 * GET of one object with priority and fairness and idle queues, compared to plain limits; creates of more writers than
 * there are seats; and the latency of a quiet client beside an elephant (a client with hundreds of eager lists) and
 * alone.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { roleBinding, ROLE_BINDINGS } from './binding-objects.js'
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { gets } from './http1.js'
import { CONFIGS, fill, key } from './objects.js'
import { launch, nodeFlags } from './process.js'
import { p99s, QUIET_GETS } from './quiet.js'
import { UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'
import { written } from './structured.js'

const CALLERS = 16 // fewer than the seats of their level, so that none waits

export async function fairness (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const fair = ends.add(await launch([]))
  const plain = ends.add(await launch(['--enable-priority-and-fairness=false']))
  for (const server of [fair, plain]) await fill(server, 100)
  const costs = await cpuInTurns(
    [fair, plain], scale.rounds, scale.gets,
    async server => { await gets(server.port, `${CONFIGS}/${key(7)}`, scale.gets, CALLERS) }
  )
  report({
    work: `GET, ${CALLERS} connections, priority and fairness beside plain limits`,
    unit: 'µs of CPU a request',
    ours: costs.get(fair) ?? [],
    limit: costs.get(plain) ?? [],
    most: 1.03
  })

  // More writers than seats, so that most of them wait.
  const unbounded = ends.add(await launch(UNBOUNDED))
  const creates: [ours: number[], limit: number[]] = [[], []]
  for (let round = 0; round < scale.rounds; round++) {
    for (const [at, server] of [fair, unbounded].entries()) {
      creates[at]?.push(await written(server, 'POST', ROLE_BINDINGS, roleBinding, round * scale.writes, scale.writes))
    }
  }
  report({
    work: 'create, 64 writers outside system:masters, priority and fairness beside no limits',
    unit: 'µs of CPU a request',
    ours: creates[0],
    limit: creates[1]
  })

  const count = Math.min(QUIET_GETS, scale.gets)
  const lists = scale.watchers / 2
  for (const [server, by] of [[fair, 'priority and fairness'], [plain, 'plain limits']] as const) {
    const alone = await p99s(server.port, count, scale.rounds)
    const elephant = fork(
      new URL('elephant.js', import.meta.url), [String(server.port), CONFIGS, String(lists)], { execArgv: nodeFlags() }
    )
    await once(elephant, 'message')
    const beside = await p99s(server.port, count, scale.rounds)
    elephant.kill('SIGKILL')
    report({
      work: `one GET at a time beside ${lists} eager lists of another, ${by}, p99`,
      unit: 'ms',
      ours: beside,
      limit: alone,
      ...(server === fair ? { most: 2 } : {})
    })
  }
}
