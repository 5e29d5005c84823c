import t from 'tap'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from './build.js'
import { selfSigned } from '../serving/certify.js'
import { admission } from './benchmarks/admission.js'
import { authentication } from './benchmarks/authentication.js'
import { auditing } from './benchmarks/audit.js'
import { authorization } from './benchmarks/authorization.js'
import { backup } from './benchmarks/backup.js'
import { cluster } from './benchmarks/cluster.js'
import { compatNames } from './benchmarks/compat.js'
import { forms } from './benchmarks/forms.js'
import { securityHeaders } from './benchmarks/headers.js'
import { fairness } from './benchmarks/fairness.js'
import { cores } from './benchmarks/cores.js'
import { crowd } from './benchmarks/crowd.js'
import { documents } from './benchmarks/documents.js'
import { encryption } from './benchmarks/encryption.js'
import { growth } from './benchmarks/growth.js'
import { launching } from './benchmarks/process.js'
import { ratiosOf, smaller, worse } from './benchmarks/check.js'
import { custom } from './benchmarks/custom.js'
import { hooks } from './benchmarks/hooks.js'
import { listing } from './benchmarks/lists.js'
import { informers } from './benchmarks/informers.js'
import { memoryUse } from './benchmarks/memory.js'
import { versions } from './benchmarks/nodes.js'
import { owners } from './benchmarks/owners.js'
import { pods } from './benchmarks/pods.js'
import { production } from './benchmarks/production.js'
import { reads, readsHttp2 } from './benchmarks/reads.js'
import { readmeTables } from './benchmarks/readme.js'
import { lines, out, type Line } from './benchmarks/report.js'
import { TINY } from './benchmarks/scale.js'
import { start } from './benchmarks/start.js'
import { tenants } from './benchmarks/tenants.js'
import { structured } from './benchmarks/structured.js'
import { watching } from './benchmarks/watch.js'
import { Watchers } from './benchmarks/watchers.js'
import { writes } from './benchmarks/writes.js'

const shown: string[] = []
launching.here = true
out.print = text => { shown.push(text) }

for (const [name, part] of Object.entries({
  start,
  reads,
  readsHttp2,
  listing,
  pods,
  authentication,
  authorization,
  auditing,
  fairness,
  production,
  forms,
  compatNames,
  securityHeaders,
  tenants,
  admission,
  encryption,
  hooks,
  custom,
  watching,
  writes,
  structured,
  owners,
  documents,
  backup,
  informers,
  memoryUse,
  growth,
  crowd,
  cluster,
  cores,
  versions
})) {
  t.test(`the figures of ${name} are measured`, async t => {
    lines.length = 0
    shown.length = 0
    await part(TINY)
    t.not(shown.length, 0)
    t.notMatch(shown.join('\n'), /NaN|undefined/)
    for (const { work, ours } of lines) t.match(ours, /^-?[\d.,]+(e[+-]\d+)? \S/, work)
  })
}

/** Two watches of a server; `write` sends one text to each. */
async function twoWatches (t: Test): Promise<{
  watchers: Watchers
  write: (first: string, second: string) => Promise<void>
  end: () => Promise<void>
}> {
  const { certificate, key } = selfSigned('localhost', ['localhost'], new Date())
  const open: ServerResponse[] = []
  const server = createServer({ cert: certificate, key }, (_request, response) => {
    response.flushHeaders()
    open.push(response)
  })
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  const watchers = new Watchers()
  await watchers.open(1, (server.address() as AddressInfo).port, '/', 2) // it listens on a port
  t.teardown(() => {
    watchers.close()
    server.close()
  })
  return {
    watchers,
    write: async (...texts) => { for (const [at, text] of texts.entries()) open[at]?.write(text) },
    end: async () => { open[0]?.end() }
  }
}

t.test('a run fails when watches get wrong, additional or reordered events', async t => {
  const { watchers, write } = await twoWatches(t)
  t.equal(await watchers.expectSame(2, () => write('{"a":1}\n{"b":2}\n', '{"a":1}\n{"b":2}\n')), '{"a":1}\n{"b":2}\n')
  await t.rejects(watchers.expectSame(2, () => write('{"a":1}\n{"b":2}\n', '{"b":2}\n{"a":1}\n')), /different bytes/)
  await t.rejects(watchers.expect(1, () => write('{"a":1}\n{"a":1}\n', '')), /got/)
})

t.test('a run fails when a watch is ended', async t => {
  const { watchers, end } = await twoWatches(t)
  await t.rejects(watchers.expect(1, end), /a watch was ended/)
})

t.test('check names figures that are more than a tenth slower or no longer measured', async t => {
  const kept = { get: 1.5, list: 1, watch: 2 }
  t.same(worse({ get: 1.6, list: 1.2 }, kept), ['list: 1.20 × bare, 1.00 before', 'watch: not measured'])
  t.same(worse(kept, kept), [])
  t.same(smaller({ get: 1.6, list: 1 }, { get: 1.5 }), { get: 1.5, list: 1 })
  const line = { work: 'get', ours: '3 µs of CPU a request', limit: '2', ratio: '1.50', goal: '', kept: '' }
  t.same(
    ratiosOf([line, { ...line, work: 'memory', limit: '', ratio: '' }, { ...line, work: 'time', ours: '3 ms' }]),
    { get: 1.5 }
  )
})

t.test('README gets a table of pods, and one beside a bare server', async t => {
  const measured = (work: string, ours: string, ratio = ''): Line => ({
    work, ours, limit: '', ratio, goal: '', kept: ''
  })
  const pods = [
    'LIST 4,000 pods, protobuf, public names', 'LIST 4,000 pods, JSON, public names',
    'LIST 1,500 pods, Table, public names', 'LIST 1,500 pods, metadata, public names'
  ]
  const printed = readmeTables([
    ...pods.flatMap(work => [
      measured(`first ${work}`, '1,234 ms of CPU'), measured(`${work}; kube-apiserver 251 ms`, '22.0 ms of CPU', '1.10')
    ]),
    ...[
      'GET a pod among 4,000 pods, protobuf, public names', 'pods of one node among 4,000 pods, protobuf, public names'
    ].map(work => measured(`${work}; kube-apiserver 5,195 µs`, '98.0 µs of CPU')),
    ...[
      'GET, 64 connections, HTTP/1.1, etcd', 'LIST 5,000 objects, 11.5 MB, HTTP/1.1',
      'one event at a time to 1,000 watchers, HTTP/1.1', 'burst of 200 events to 1,000 watchers, HTTP/1.1'
    ].map(work => measured(work, '1 µs of CPU', '1.50')),
    ...[
      'create, the first 5,000 of a process, ClusterRoleBindings, etcd, beside a bare server',
      'update, warm, ClusterRoleBindings, etcd, beside a bare server'
    ].map(work => measured(work, '1 µs at the server', '4.00')),
    measured('start to /readyz, empty', '580 ms'), measured('memory, idle for half a minute', '84.0 MB resident')
  ])
  t.match(printed, '| LIST of 4,000 pods, protobuf | 22.0 ms; the first 1,234 ms | 251 ms |')
  t.match(printed, '| the 80 pods of a node, protobuf | 0.0980 ms | 5.20 ms |')
  t.match(printed, '| GET of an object over etcd | 1 µs | 436 µs |')
  t.match(printed, '| memory, idle for half a minute | 84.0 MB | 277 MB |')
  t.throws(() => readmeTables([]), /nothing measured/)

  const names = (text: string): string[] => [...text.matchAll(/^\| ([^|]+) \|/gm)].map(([, name = '']) => name)
    .filter(name => !/^(?:---|Work)$/.test(name))
  const documented = (file: string, from: string, to: string): string[] => {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    return names(text.slice(text.indexOf(from), text.indexOf(to)))
  }
  t.strictSame(documented('README.md', '# orch-apiserver', '## Two commands'), names(printed), 'its rows are those')
  t.strictSame(
    documented('docs/performance.md', '## In one table', '## Figures'), names(printed), 'and those of the reader'
  )
})
