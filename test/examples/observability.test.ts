/**
 * examples/observability/ against real scrapes of a loaded server: every series that is queried exists, and alerts fire
 * when they should.
 */
import t, { type Test as Tap } from 'tap'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, stringify } from 'yaml'
import { promtoolProgram, SHORT_LIVED } from '../tools.js'
import {
  familyOf, inputSeries, loadedServer, parseScrape, scrape, trouble, work, type Edit, type Family
} from './scrapes.js'

const EXAMPLE = fileURLToPath(new URL('../../../examples/observability/', import.meta.url))
const RECORDING = join(EXAMPLE, 'recording-rules.yaml')
const ALERTING = join(EXAMPLE, 'alerting-rules.yaml')
/** The longest alert waits for 15 minutes after rates have risen. */
const MINUTES = 25

interface Rule { readonly record?: string, readonly alert?: string, readonly expr: string }
interface Panel {
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly targets?: ReadonlyArray<{ readonly expr: string }>
}

const rulesOf = (file: string): Rule[] =>
  (parse(readFileSync(file, 'utf8')) as { groups: Array<{ rules: Rule[] }> }).groups.flatMap(({ rules }) => rules)
const dashboard = JSON.parse(readFileSync(join(EXAMPLE, 'dashboard.json'), 'utf8')) as { panels: Panel[] }
const panels = dashboard.panels.filter(({ type }) => type !== 'row')
const recorded = new Map(rulesOf(RECORDING).map(({ record = '', expr }) => [record, expr]))

/** Names that differ between releases are alternatives in an expression; the scrape has those of 1.24. */
const of124 = (expr: string): string => expr.replace(
  /\{__name__=~"([^"]*)",?/g,
  (_, name: string) => `${name.replace('[io]', 'o').replace(/\((\w+)\|\w+\)/, '$1').replace(/\((\w+)\)\?/, '$1')}{`
)
/** Labels that series of 1.36 have in place of others of 1.24, as `test/plugins/metric-names.test.ts` shows. */
const LATER_LABELS = new Map([
  ['apiserver_watch_events_total', 'resource'], ['apiserver_watch_events_sizes', 'resource'],
  ['apiserver_cache_list_fetched_objects_total', 'resource'], ['apiserver_storage_size_bytes', 'storage_cluster_id']
])

/** Metric names in an expression, and labels by which it groups. */
const namesIn = (expr: string): string[] => of124(expr).replace(/"[^"]*"/g, '""').match(
  /\b(?:apiserver|authentication|etcd|nodejs|orch|process|watch_cache|workqueue|job\w*:)[\w:]*/g
) ?? []
const labelsIn = (expr: string): string[] => [...expr.matchAll(/\b(?:by|on) ?\(([^)]*)\)/g)].flatMap(
  ([, list = '']) => list.split(',').map(label => label.trim())
)

const folder = mkdtempSync(join(tmpdir(), 'orch-observability-'))
t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })

function promtool (args: readonly string[], input?: string): { ok: boolean, output: string } {
  const { status, stdout, stderr } = spawnSync(promtoolProgram(), args, {
    cwd: folder, encoding: 'utf8', input, env: { ...process.env, ...SHORT_LIVED }
  })
  return { ok: status === 0, output: `${stdout}${stderr}` }
}

/** Created once, for all tests. */
interface Scrapes { readonly idle: string, readonly worked: string, readonly troubled: string }
let made: Promise<Scrapes> | undefined
const scrapes = (): Promise<Scrapes> => made ??= (async () => {
  const server = await loadedServer(t, join(folder, 'audit.log'))
  await work(server, 2)
  let idle = await scrape(server)
  // Garbage is collected at some time, and reported from the next scrape on.
  while (!/^nodejs_gc_duration_seconds_sum\{/m.test(idle)) {
    await work(server, 10)
    idle = await scrape(server)
  }
  await work(server, 10)
  const worked = await scrape(server)
  await work(server, 5)
  await trouble(server, 5)
  return { idle, worked, troubled: await scrape(server) }
})()

t.test('rules and scrape configuration are right to Prometheus', t => {
  for (const file of [RECORDING, ALERTING]) t.match(promtool(['check', 'rules', file]), { ok: true }, file)
  const config = join(EXAMPLE, 'prometheus.yaml')
  t.match(promtool(['check', 'config', '--syntax-only', config]), { ok: true }, config)
  t.end()
})

/** Metrics without series on a healthy server; their declaration is still checked. */
const SELDOM =
  /^apiserver_(?:audit_error_total|request_aborts_total|request_terminations_total|flowcontrol_rejected_requests_total|terminated_watchers_total|admission_webhook_rejection_count)$/

/** Metrics of servers over etcd, or with client certificates; `test/plugins/metric-lint.test.ts` has such a server. */
const CONFIGURED = /^(?:etcd_db_total_size_in_bytes|apiserver_client_certificate_expiration_seconds_bucket)$/

function lookUp (
  t: Pick<Tap, 'ok' | 'not' | 'same'>, families: ReadonlyMap<string, Family>, expr: string, where: string
): void {
  const names = namesIn(expr)
  t.not(names.length, expr.includes('up{') ? -1 : 0, `${where} asks for something`)
  const known = new Set(['job', 'instance', 'le'])
  for (const name of names) {
    const source = recorded.get(name)
    if (source !== undefined) {
      for (const label of labelsIn(source)) known.add(label)
      continue
    }
    if (CONFIGURED.test(name)) continue
    const family = familyOf(families, name)
    t.ok(family !== undefined && (family.samples.size > 0 || SELDOM.test(name)), `${where}: ${name} is there`)
    for (const label of family?.labels ?? []) known.add(label)
    const later = LATER_LABELS.get(name.replace(/_sum$/, ''))
    if (later !== undefined) known.add(later)
    if (SELDOM.test(name)) {
      for (const label of ['plugin', 'code', 'resource', 'reason', 'priority_level', 'name']) known.add(label)
    }
  }
  t.same(labelsIn(expr).filter(label => !known.has(label)), [], `${where} goes by labels that there are`)
}

t.test('every series that a panel or a rule uses is in a real scrape', async t => {
  const families = parseScrape((await scrapes()).troubled)
  for (const { title, targets = [], description } of panels) {
    t.ok(description !== undefined && targets.length > 0, `${title} says what it is`)
    for (const { expr } of targets) lookUp(t, families, expr, title)
  }
  for (const { record, alert, expr } of [...rulesOf(RECORDING), ...rulesOf(ALERTING)]) {
    lookUp(t, families, expr, record ?? alert ?? '')
  }
})

t.test('every expression of the dashboard is one of Prometheus, and panels do not lie on each other', t => {
  const expressions = panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll('$instance', '.*').replaceAll('$job', 'orch-apiserver')))
  const file = join(folder, 'panels.yaml')
  writeFileSync(
    file,
    stringify({ groups: [{ name: 'panels', rules: expressions.map((expr, at) => ({ record: `panel_${at}`, expr })) }] })
  )
  t.match(promtool(['check', 'rules', file]), { ok: true, output: new RegExp(`${expressions.length} rules found`) })
  const taken = new Set<string>()
  for (const { gridPos: { x, y, w, h } } of dashboard.panels as unknown as Array<{
    gridPos: { x: number, y: number, w: number, h: number }
  }>) {
    for (let at = 0; at < w * h; at++) {
      const place = `${x + at % w},${y + Math.floor(at / w)}`
      if (taken.has(place) || x + w > 24) t.fail(`two panels at ${place}`)
      taken.add(place)
    }
  }
  t.end()
})

const wanted = new Set([...rulesOf(RECORDING), ...rulesOf(ALERTING)].flatMap(({ expr }) =>
  namesIn(expr)).flatMap(name => [name, name.replace(/_(?:bucket|sum|count)$/, '')]))

/** As on an idle machine: no request took long, and the event loop was never late. */
const swift: Edit = (series, _value, _increase, total) => {
  if (series.startsWith('nodejs_eventloop_lag_p99')) return { value: 0.01 }
  return /_(?:seconds)_bucket\{/.test(series) && !series.startsWith('apiserver_client')
    ? { increase: total }
    : undefined
}

/** Whether exactly these alerts fire in the end. */
function firing (
  name: string, before: string, after: string, expected: readonly string[], edit: Edit = swift, up = 1
): { ok: boolean, output: string } {
  const file = join(folder, `${name}.yaml`)
  writeFileSync(file, stringify({
    rule_files: [RECORDING, ALERTING],
    evaluation_interval: '1m',
    tests: [{
      interval: '1m',
      input_series: [
        { series: 'up{job="orch-apiserver",instance="10.0.0.10:6443"}', values: `${up}+0x${MINUTES}` },
        ...inputSeries(before, after, wanted, MINUTES, edit)
      ],
      promql_expr_test: [
        {
          expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: `${MINUTES}m`,
          exp_samples: expected.map(alert => ({ labels: `{alertname="${alert}"}`, value: 1 }))
        }
      ]
    }]
  }, { lineWidth: 0 }))
  return promtool(['test', 'rules', file])
}

t.test('while all is well no alert fires', async t => {
  const { idle, worked } = await scrapes()
  t.match(firing('well', idle, worked, []), { ok: true })
})

t.test('server errors, failing webhooks and deprecated versions raise their alerts and no others', async t => {
  const { worked, troubled } = await scrapes()
  const expected = [
    'OrchAPIServerErrorBudgetBurnsFast', 'OrchAPIServerErrorBudgetBurns', 'OrchAPIServerWebhookFails',
    'OrchAPIServerDeprecatedAPIsInUse'
  ]
  t.match(firing('trouble', worked, troubled, expected), { ok: true })
})

t.test('requests slower than their objectives raise alerts', async t => {
  const { idle, worked } = await scrapes()
  const isBucket = (line: string, le: string): boolean =>
    line.startsWith('apiserver_request_slo_duration_seconds_bucket') && line.includes(`le="${le}"`)
  const beyond = (le: string): Edit => (...of) => isBucket(of[0], le) ? { value: 0, increase: 0 } : swift(...of)
  t.match(firing('slow', idle, worked, ['OrchAPIServerSlowForOneObject'], beyond('1')), { ok: true })
  t.match(firing('slow-lists', idle, worked, ['OrchAPIServerSlowLists'], beyond('30')), { ok: true })
})

t.test('exhausted resources, delays and lost data raise alerts', async t => {
  const { idle, worked } = await scrapes()
  const more = (text: string): string => `${worked}${text}`
  const cases: ReadonlyArray<readonly [alert: string, after: string, edit?: Edit, up?: number]> = [
    ['OrchAPIServerDown', worked, swift, 0],
    ['OrchAPIServerFilesRunOut', worked, (...of) => of[0] === 'process_max_fds' ? { value: 10 } : swift(...of)],
    [
      'OrchAPIServerEventLoopDelayed', worked,
      (...of) => of[0].startsWith('nodejs_eventloop_lag_p99') ? { value: 2 } : swift(...of)
    ],
    [
      'OrchAPIServerQueueStuck', worked,
      (...of) => of[0].startsWith('workqueue_longest_running') ? { value: 1000 } : swift(...of)
    ],
    [
      'OrchAPIServerAuditEventsLost',
      more('# TYPE apiserver_audit_error_total counter\napiserver_audit_error_total{plugin="log"} 60\n')
    ],
    [
      'OrchAPIServerRefusesRequests',
      more(
        '# TYPE apiserver_request_terminations_total counter\napiserver_request_terminations_total{code="429"} 500\n'
      )
    ],
    [
      'OrchAPIServerWatchersTerminated',
      more(
        '# TYPE apiserver_terminated_watchers_total counter\napiserver_terminated_watchers_total{resource="pods"} 60\n'
      )
    ],
    [
      'OrchAPIServerStoreNearlyFull',
      more(
        '# TYPE etcd_db_total_size_in_bytes gauge\netcd_db_total_size_in_bytes{endpoint="https://10.0.0.10:2379"} 2e9\n'
      )
    ]
  ]
  for (const [alert, after, edit, up] of cases) {
    t.match(firing(alert, idle, after, [alert], edit, up), { ok: true }, alert)
  }
})
