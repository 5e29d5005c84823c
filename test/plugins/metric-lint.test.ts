/** `/metrics` of a real server with many options, checked by Prometheus' own tool. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchApart, TOKEN } from '../benchmarks/process.js'
import { startEtcd } from '../etcd-process.js'
import { authority } from '../serving/authority.js'
import { promtoolProgram } from '../tools.js'

const ca = authority('clients')
const CONFIGS = '/api/v1/namespaces/default/configmaps'

/**
 * Findings of the tool about upstream's names, which we cannot change: counters without _total, and names that end like
 * parts of a histogram, or like a unit.
 */
const CONVENTION: ReadonlyArray<readonly [name: string, finding: string]> = [
  ['apiserver_admission_step_admission_duration_seconds_summary', 'metric name should not include type \'summary\''],
  ['apiserver_admission_webhook_fail_open_count', 'counter metrics should have "_total" suffix'],
  [
    'apiserver_admission_webhook_fail_open_count',
    'non-histogram and non-summary metrics should not have "_count" suffix'
  ],
  ['apiserver_admission_webhook_rejection_count', 'counter metrics should have "_total" suffix'],
  [
    'apiserver_admission_webhook_rejection_count',
    'non-histogram and non-summary metrics should not have "_count" suffix'
  ],
  ['apiserver_flowcontrol_latest_s', 'metric names should not contain abbreviated units'],
  ['authenticated_user_requests', 'counter metrics should have "_total" suffix'],
  ['authentication_attempts', 'counter metrics should have "_total" suffix'],
  [
    'authentication_token_cache_active_fetch_count',
    'non-histogram and non-summary metrics should not have "_count" suffix'
  ]
]

interface Asked {
  readonly method?: string
  readonly body?: object
  readonly certificate?: { readonly certificate: string, readonly key: string }
}

function ask (port: number, path: string, { method = 'GET', body, certificate }: Asked = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(certificate === undefined ? { authorization: `Bearer ${TOKEN}` } : {}), 'content-type': 'application/json'
    }
    const call = request({
      port,
      host: '127.0.0.1',
      path,
      method,
      headers,
      rejectUnauthorized: false,
      agent: false,
      ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key })
    }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => { text += part }).on('end', () => { resolve(text) })
    })
    call.on('error', reject)
    call.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

t.test('Prometheus finds nothing in a scrape but names that are the convention\'s', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-metric-lint-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  writeFileSync(join(folder, 'ca.crt'), ca.certificate)
  const etcd = await startEtcd(t)
  const server = await launchApart([
    `--etcd-servers=${etcd.url}`, `--client-ca-file=${join(folder, 'ca.crt')}`,
    `--audit-log-path=${join(folder, 'audit.log')}`, '--authorization-mode=Node,RBAC,AlwaysAllow'
  ])
  t.teardown(() => server.stop())
  await ask(server.port, CONFIGS, { method: 'POST', body: { metadata: { name: 'one' } } })
  await ask(server.port, CONFIGS, { certificate: ca.issue({ commonName: 'ann', uses: ['client'] }) })
  let scrape = await ask(server.port, '/metrics')
  while (!scrape.includes('etcd_db_total_size_in_bytes{')) scrape = await ask(server.port, '/metrics')

  const { status, stdout, stderr } = spawnSync(
    promtoolProgram(), ['check', 'metrics'], { input: scrape, encoding: 'utf8' }
  )
  const findings = `${stdout}${stderr}`.trim().split('\n').filter(line => line !== '')
  t.same(
    findings.filter(line => !CONVENTION.some(([name, finding]) => line === `${name} ${finding}`)), [],
    `exit code ${status}`
  )
  t.match(scrape, /^etcd_db_total_size_in_bytes\{endpoint="http:\/\/127\.0\.0\.1:\d+"\} \d+$/m)
  t.match(scrape, /^apiserver_client_certificate_expiration_seconds_bucket\{le="\+Inf"\} 1$/m)
  t.match(scrape, /^apiserver_tls_handshake_errors_total \d+$/m)
  t.match(scrape, /^orch_apiserver_clusterip_allocator_allocated_ips\{cidr="10\.0\.0\.0\/24"\} \d+$/m)
  t.match(scrape, /^orch_apiserver_clusterip_allocator_available_ips\{cidr="10\.0\.0\.0\/24"\} 2\d\d$/m)
  t.match(scrape, /^etcd_request_duration_seconds_count\{operation="create",type="configmaps"\} \d+$/m)
})
