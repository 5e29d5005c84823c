import t from 'tap'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkedFlags } from '../config/options.js'
import { claimPort } from './ports.js'
import { kubectlPrograms } from './tools.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/```(\w+)(?: (\w+))?\n([\s\S]*?)```/g)].map(
  ([, language = '', label = '', text = '']) => ({ language, label, text: text.trim() })
)
const [run, test, etcd] = blocks.filter(({ language, label }) => language === 'sh' && label === '')
const labelled = (label: string): string => blocks.find(block => block.label === label)?.text ?? ''

/** Runs a text as if pasted: stops at the first failure. */
function paste (text: string, cwd: string, env: Record<string, string> = {}): string {
  const { status, stdout, stderr } = spawnSync(
    'bash', ['-euo', 'pipefail', '-c', text],
    { cwd, env: { ...process.env, ...env }, encoding: 'utf8', timeout: 240_000 }
  )
  if (status !== 0) throw new Error(`${text}\n→ exit ${status}\n${stdout}${stderr}`)
  return stdout
}

t.test('every block of the README is known here', async t => {
  t.same(blocks.map(({ language, label }) => `${language} ${label}`.trim()), [
    'sh', 'sh', 'sh kubectl', 'sh merge', 'sh session', 'sh', 'ts', 'ts test'
  ])
})

t.test('the test command is what CI runs', async t => {
  const ci = readFileSync(join(root, '.ci/run'), 'utf8')
  t.equal(test?.text, 'npm ci && npm test')
  t.match(ci, /^npm ci\b/m)
  t.match(ci, /^npm test$/m)
})

t.test('its figures are those of the reader\'s table in docs/performance.md', async t => {
  const rowsOf = (text: string): string[][] =>
    (text.match(/^\| .*$/gm) ?? []).map(row => row.split('|').slice(1, -1).map(cell => cell.trim()))
  const [, rest = ''] = readFileSync(join(root, 'docs/performance.md'), 'utf8').split('## For a reader')
  const figures = new Map(rowsOf(rest.split('## For its keeper')[0] ?? '').map(
    ([what = '', unit = '', , theirs = '', ours = '']) => [what, [unit, ours, theirs]]
  ))
  const rows = rowsOf(
    readme.split('## Two commands')[0] ?? ''
  ).filter(([what = '']) => what !== '' && !what.startsWith('---'))
  t.ok(rows.length > 10, `${rows.length} rows`)
  for (const [what = '', ...cells] of rows) t.same(cells, figures.get(what), what)
})

t.test('the flags of the etcd block are ours', async t => {
  const [, flags = ''] = (etcd?.text ?? '').split(' -- --local=false ')
  t.equal(checkedFlags(flags.split(' ')).values['etcd-servers'].length, 2)
})

t.test('a clone, its one command, and the session that follows', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-readme-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  // Files that git knows and the working tree contains, without built or installed ones, and without the tests.
  const files = execFileSync(
    'git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' }
  ).trim().split('\n').filter(file => !/^test\/.*\.ts$/.test(file))
  execFileSync(
    'bash', ['-c', 'tar -c --ignore-failed-read -T - | tar -x -C "$0"', folder],
    { cwd: root, input: files.join('\n'), stdio: ['pipe', 'ignore', 'ignore'] }
  )

  t.equal(run?.text, 'npm ci && npm start')
  await claimPort(6443)
  const server = spawn(
    'bash', ['-c', `exec 2>&1; ${run?.text}`], { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'ignore'] }
  )
  const ended = once(server, 'exit')
  t.teardown(async () => {
    if (server.exitCode === null && server.pid !== undefined) process.kill(-server.pid, 'SIGKILL')
    await ended
  })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    server.stdout.on('data', (text: Buffer) => {
      output += text.toString()
      if (output.includes('KUBECONFIG')) resolve()
    })
    server.on('exit', () => { reject(new Error(output)) })
  })
  t.match(output, /serving on https:\/\/127\.0\.0\.1:6443, store: embedded in orch-data, authorization: RBAC/)

  const megabytes = Number(
    execFileSync('du', ['-sm', join(folder, 'node_modules')], { encoding: 'utf8' }).split('\t')[0]
  )
  t.ok(megabytes < 160, `what it needs to be built and to run is ${megabytes} MB`)
  t.notOk(existsSync(join(folder, 'test/node_modules')), 'and nothing that only tests need')

  // A newcomer types slower than a loaded machine starts.
  paste('until curl -skf https://localhost:6443/readyz; do sleep 0.1; done', folder)
  const session = paste(labelled('session'), folder)
  t.match(session, /^ok/)
  t.match(session, /"name":"viewers"/)
  t.match(session, /"type":"ADDED"/)
  t.match(session, /"status":"Success"/)

  for (const program of kubectlPrograms()) {
    const kubectl = paste(labelled('kubectl'), folder, { PATH: `${join(program, '..')}:${process.env.PATH}` })
    t.match(kubectl, /clusterrolebindings/)
    t.match(kubectl, /namespace\/team created/)
    t.match(kubectl, /configmap\/colours created/)
    t.match(kubectl, /team +colours/)
    t.match(kubectl, /"allowed":true/)
    t.match(kubectl, /namespace "team" deleted/)
  }

  const [newest = ''] = kubectlPrograms().slice(-1)
  const home = join(folder, 'home')
  mkdirSync(join(home, '.kube'), { recursive: true })
  writeFileSync(
    join(home, '.kube/config'),
    'apiVersion: v1\nkind: Config\nclusters: [{name: other, cluster: {server: "https://other.example"}}]\n' +
    'contexts: [{name: other, context: {cluster: other, user: me}}]\nusers: [{name: me, user: {token: x}}]\n' +
    'current-context: other\n'
  )
  const path = `${join(newest, '..')}:${process.env.PATH}`
  paste(labelled('merge'), folder, { PATH: path, HOME: home })
  t.equal(
    paste(
      'kubectl config get-contexts -o name; kubectl config current-context; ' +
      'kubectl --context=orch get namespace default -o name',
      folder,
      { PATH: path, HOME: home }
    ),
    'orch\nother\nother\nnamespace/default\n'
  )

  writeFileSync(
    join(folder, 'embed.mjs'),
    `${blocks.find(({ language }) => language === 'ts')?.text.replace('port: 8080', 'port: 0')}
const answer = await fetch(\`http://localhost:\${fastify.addresses()[0].port}/cluster/version\`)
console.log(answer.status)
await fastify.orch.ready()
console.log((await fastify.orch.client.of({ apiVersion: 'v1', kind: 'Namespace' }).get('default')).metadata.name)
await fastify.close()
`
  )
  t.equal(paste('node embed.mjs', folder), '401\ndefault\n', 'it admits nobody unasked')
  writeFileSync(join(folder, 'tests.mjs'), labelled('test'))
  t.equal(paste('node tests.mjs', folder), "blue\n[ 'test-admin 200' ]\n")

  if (server.pid !== undefined) process.kill(-server.pid, 'SIGTERM')
  await ended
  while (!server.stdout.readableEnded) await new Promise(resolve => { setTimeout(resolve, 5) })
  t.match(output, /SIGTERM: shutting down[^]*shutdown complete/, 'it ends in order')
})
