/**
 * GET of one object under public names, `--compat-names`, beside the same without the flag: an object with such names,
 * and one without; and what the first GET after a change costs.
 */
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { call, gets } from './http1.js'
import { CONFIGS, fill, key } from './objects.js'
import { pod, PODS, podWithStatus } from './pod-objects.js'
import { cpu, launch, type Child } from './process.js'
import { UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

const UNIT = 'µs of CPU a request'
/** At most. */
const CHANGES = 200

async function sent (server: Child, method: string, path: string, body: string): Promise<void> {
  const { code, body: text } = await call(server.port, method, path, body)
  if (code >= 300) throw new Error(`${method} ${path} answered ${code}: ${text().slice(0, 500)}`)
}

export async function compatNames (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const [renamed, plain] = [
    ends.add(await launch(['--compat-names', '--emulated-version=1.24', ...UNBOUNDED])),
    ends.add(await launch(UNBOUNDED))
  ]
  for (const server of [renamed, plain]) {
    await fill(server, 100)
    await sent(server, 'POST', PODS, pod('web'))
  }
  for (const [what, path] of [
    ['a config map', `${CONFIGS}/${key(7)}`], ['a pod with such names', `${PODS}/web`]
  ] as const) {
    const costs = await cpuInTurns(
      [renamed, plain], scale.rounds, scale.gets, server => gets(server.port, path, scale.gets, 64)
    )
    report({
      work: `GET ${what}, 64 connections, HTTP/1.1, public names beside none`,
      unit: UNIT,
      ours: costs.get(renamed) ?? [],
      limit: costs.get(plain) ?? [],
      most: 1.1
    })
  }
  const first: number[] = []
  const changes = Math.min(CHANGES, scale.gets)
  for (let round = 0; round < scale.rounds; round++) {
    let spent = 0
    for (let at = 0; at < changes; at++) {
      await sent(renamed, 'PUT', `${PODS}/web/status`, podWithStatus('web', round * changes + at))
      const before = cpu(renamed)
      await call(renamed.port, 'GET', `${PODS}/web`)
      spent += cpu(renamed) - before
    }
    first.push(spent * 1000 / changes)
  }
  report({ work: 'GET a pod with such names after a change, public names', unit: UNIT, ours: first })
}
