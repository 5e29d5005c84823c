import t from 'tap'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, CONFIGS, eventually, kept, processesIn, several } from './server.js'

const POLICY = 'apiVersion: audit.orch.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n'

t.test('a process that cannot be replaced does not affect the others, and is replaced later', {
  timeout:
    300_000
}, async t => {
  const folder = t.testdir()
  const policy = join(folder, 'policy.yaml')
  writeFileSync(policy, POLICY)
  const server = await several(t, 2, [
    `--audit-policy-file=${policy}`, `--audit-log-path=${folder}/audit.log`, '--audit-log-maxsize=1'
  ])
  const { port, pidOf, log } = server
  writeFileSync(policy, 'kind: Nothing\n')
  process.kill(pidOf('1'), 'SIGKILL')
  await eventually('the next one could not start', () => /orch-apiserver: --audit-policy-file=/.test(log()) &&
    /serving process 1 \(pid \d+\) ended with exit code 1/.test(log()))
  // Another process now does the work of the first one.
  const agent = kept(t)
  while (!readdirSync(folder).some(name => name.startsWith('audit-'))) {
    t.equal((await ask(port, 'GET', `${CONFIGS}?is=${'x'.repeat(7000)}`, undefined, agent))?.code, 200)
  }
  // As long as five attempts would take without the delay.
  await new Promise(resolve => { setTimeout(resolve, 6000) })
  t.equal(server.process.exitCode, null)
  t.match(log(), /ended with exit code 1: it could not start, which is tried again in 20 s\n/)
  t.equal((await ask(port, 'GET', CONFIGS, undefined, kept(t)))?.code, 200)
  writeFileSync(policy, POLICY)
  await eventually('it is replaced', async () => await processesIn(port) === 2)
  t.equal(log().match(/could not start/g)?.length, 1)
})
