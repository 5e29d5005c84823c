/** `/metrics` of a whole server, by name, labels, type and stability, compared to upstream's list for release 1.24. */
import t from 'tap'
import { build, listen, Watch } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'

interface Family {
  readonly type: string
  readonly stability: string
  readonly labels: ReadonlySet<string>
  readonly series: string[]
}

/** By name; labels without `le` and `quantile`. */
function families (text: string): Map<string, Family> {
  const found = new Map<string, Family>()
  const helps = new Map<string, string>()
  let last = ''
  for (const line of text.split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (kind === 'HELP') helps.set(name, rest)
    if (kind === 'TYPE') {
      found.set(last = name, {
        type: rest, stability: /^\[(\w+)\] /.exec(helps.get(name) ?? '')?.[1] ?? '', labels: new Set(), series: []
      })
    }
    if (line === '' || line.startsWith('#')) continue
    const family = found.get(last)
    family?.series.push(line)
    for (const [, label = ''] of line.matchAll(/[{,](\w+)="/g)) {
      if (label !== 'le' && label !== 'quantile') (family?.labels as Set<string>).add(label)
    }
  }
  return found
}

const SUBJECT = 'component group resource scope subresource verb version'
const FLOW = 'flow_schema priority_level'

/** name, type, labels in order; a star is STABLE */
const EXPECTED: ReadonlyArray<readonly [name: string, type: string, labels: string]> = [
  ['aggregator_unavailable_apiservice', 'gauge', ''],
  ['aggregator_unavailable_apiservice_total', 'counter', ''],
  ['apiserver_orch_aggregator_x509_insecure_sha1_total', 'counter', ''],
  ['apiserver_orch_aggregator_x509_missing_san_total', 'counter', ''],
  ['apiserver_admission_controller_admission_duration_seconds*', 'histogram', 'name operation rejected type'],
  ['apiserver_admission_step_admission_duration_seconds*', 'histogram', 'operation rejected type'],
  ['apiserver_admission_step_admission_duration_seconds_summary', 'summary', 'operation rejected type'],
  ['apiserver_cache_list_fetched_objects_total', 'counter', 'index resource_prefix'],
  ['apiserver_cache_list_returned_objects_total', 'counter', 'resource_prefix'],
  ['apiserver_cache_list_total', 'counter', 'index resource_prefix'],
  ['apiserver_client_certificate_expiration_seconds', 'histogram', ''],
  ['apiserver_current_inflight_requests*', 'gauge', 'request_kind'],
  ['apiserver_current_inqueue_requests', 'gauge', 'request_kind'],
  ['apiserver_encoded_objects_cache_bytes', 'gauge', 'form resource'],
  ['apiserver_encoded_objects_cache_hits_total', 'counter', 'form resource'],
  ['apiserver_encoded_objects_cache_limit_bytes', 'gauge', ''],
  ['apiserver_encoded_objects_cache_misses_total', 'counter', 'form resource'],
  ['apiserver_flowcontrol_current_executing_requests', 'gauge', FLOW],
  ['apiserver_flowcontrol_current_inqueue_requests', 'gauge', FLOW],
  ['apiserver_flowcontrol_current_r', 'gauge', 'priority_level'],
  ['apiserver_flowcontrol_dispatch_r', 'gauge', 'priority_level'],
  ['apiserver_flowcontrol_dispatched_requests_total', 'counter', FLOW],
  ['apiserver_flowcontrol_latest_s', 'gauge', 'priority_level'],
  ['apiserver_flowcontrol_priority_level_request_count_samples', 'histogram', 'phase priority_level'],
  ['apiserver_flowcontrol_priority_level_request_count_watermarks', 'histogram', 'mark phase priority_level'],
  ['apiserver_flowcontrol_priority_level_seat_count_samples', 'histogram', 'phase priority_level'],
  ['apiserver_flowcontrol_priority_level_seat_count_watermarks', 'histogram', 'mark phase priority_level'],
  ['apiserver_flowcontrol_read_vs_write_request_count_samples', 'histogram', 'phase request_kind'],
  ['apiserver_flowcontrol_read_vs_write_request_count_watermarks', 'histogram', 'mark phase request_kind'],
  ['apiserver_flowcontrol_request_concurrency_in_use', 'gauge', FLOW],
  ['apiserver_flowcontrol_request_concurrency_limit', 'gauge', 'priority_level'],
  ['apiserver_flowcontrol_request_execution_seconds', 'histogram', `${FLOW} type`],
  ['apiserver_flowcontrol_request_queue_length_after_enqueue', 'histogram', FLOW],
  ['apiserver_flowcontrol_request_wait_duration_seconds', 'histogram', `execute ${FLOW}`],
  ['apiserver_flowcontrol_watch_count_samples', 'histogram', FLOW],
  ['apiserver_flowcontrol_work_estimated_seats', 'histogram', FLOW],
  ['apiserver_init_events_total', 'counter', 'resource'],
  ['apiserver_longrunning_requests*', 'gauge', SUBJECT],
  [
    'apiserver_request_duration_seconds*', 'histogram',
    'component dry_run group resource scope subresource verb version'
  ],
  ['apiserver_request_filter_duration_seconds', 'histogram', 'filter'],
  ['apiserver_request_slo_duration_seconds', 'histogram', SUBJECT],
  ['apiserver_request_total*', 'counter', 'code component dry_run group resource scope subresource verb version'],
  ['apiserver_requested_deprecated_apis*', 'gauge', 'group removed_release resource subresource version'],
  ['apiserver_response_sizes*', 'histogram', SUBJECT],
  ['apiserver_storage_data_key_generation_duration_seconds', 'histogram', ''],
  ['apiserver_storage_data_key_generation_failures_total', 'counter', ''],
  ['apiserver_storage_envelope_transformation_cache_misses_total', 'counter', ''],
  ['apiserver_storage_objects*', 'gauge', 'resource'],
  ['apiserver_storage_transformation_duration_seconds', 'histogram', 'transformation_type'],
  ['apiserver_storage_transformation_operations_total', 'counter', 'status transformation_type transformer_prefix'],
  ['apiserver_watch_cache_events_dispatched_total', 'counter', 'resource'],
  ['apiserver_watch_cache_watch_cache_initializations_total', 'counter', 'resource'],
  ['apiserver_watch_events_sizes', 'histogram', 'group kind version'],
  ['apiserver_watch_events_total', 'counter', 'group kind version'],
  ['authenticated_user_requests', 'counter', 'username'],
  ['authentication_attempts', 'counter', 'result'],
  ['authentication_duration_seconds', 'histogram', 'result'],
  ['etcd_bookmark_counts', 'gauge', 'resource'],
  ['etcd_lease_object_counts', 'histogram', ''],
  ['etcd_request_duration_seconds', 'histogram', 'operation type'],
  ['orch_apiserver_pod_logs_pods_logs_backend_tls_failure_total', 'counter', ''],
  [
    'orch_build_info', 'gauge',
    'build_date compiler git_commit git_tree_state git_version go_version major minor platform'
  ],
  ['watch_cache_capacity', 'gauge', 'resource'],
  ['workqueue_adds_total', 'counter', 'name'],
  ['workqueue_depth', 'gauge', 'name'],
  ['workqueue_longest_running_processor_seconds', 'gauge', 'name'],
  ['workqueue_queue_duration_seconds', 'histogram', 'name'],
  ['workqueue_retries_total', 'counter', 'name'],
  ['workqueue_unfinished_work_seconds', 'gauge', 'name'],
  ['workqueue_work_duration_seconds', 'histogram', 'name']
]

t.test('names, labels, types and stability are those of the convention', async t => {
  const server = await listen(t, {
    limits: { priorityAndFairness: true },
    storage: {
      encryption: {
        resources: [
          {
            resources: ['configmaps'],
            providers: [{ aesgcm: { keys: [{ name: 'one', secret: Buffer.alloc(32).toString('base64') }] } }]
          }
        ]
      }
    }
  })
  const watch = await Watch.open(t, `${server.url}${CONFIGS}?watch=1`)
  await server.post(CONFIGS, { metadata: { name: 'one' } })
  await watch.take(1)
  await server.get(CONFIGS)
  await server.get(`${CONFIGS}/one`, { accept: 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1' })
  await server.get('/apis/flowcontrol.apiserver.orch.io/v1beta1/flowschemas')
  let found = families('')
  do found = families((await server.get('/metrics')).body)
  while (!found.has('apiserver_storage_objects') || !found.has('workqueue_adds_total'))
  for (const [name, type, labels] of EXPECTED) {
    const plain = name.replace('*', '')
    const family = found.get(plain)
    if (family === undefined) {
      // Without such an event there is no series, but the help text is there.
      t.match(plain, /queue_length|no_accommodation|lease_object|client_certificate/, `${plain} is there`)
      continue
    }
    t.same(
      [family.type, family.stability, [...family.labels].sort().join(' ')],
      [type, name.endsWith('*') ? 'STABLE' : 'ALPHA', labels.split(' ').sort().join(' ')], plain
    )
  }
  const unnamed = [...found].filter(([name, { stability }]) => stability === '' && !/^(nodejs|process)_/.test(name))
  t.same(unnamed, [], 'each of the server itself says how stable it is')
})

t.test('under 1.36 some have that release\'s names', async t => {
  const server = await listen(t, { limits: { priorityAndFairness: true }, emulatedVersion: '1.36' })
  await server.get(CONFIGS)
  const { body } = await server.get('/metrics')
  const found = families(body)
  for (const name of [
    'request_slo_duration_seconds', 'flowcontrol_request_concurrency_in_use', 'flowcontrol_request_concurrency_limit'
  ]) t.notOk(found.has(`apiserver_${name}`), name)
  t.same(found.get('apiserver_request_sli_duration_seconds')?.type, 'histogram')
  for (const name of [
    'current_executing_seats', 'nominal_limit_seats'
  ]) t.match(found.get(`apiserver_flowcontrol_${name}`), { type: 'gauge', stability: 'BETA' }, name)
  const watch = await Watch.open(t, `${server.url}${CONFIGS}?watch=1`)
  await server.post(CONFIGS, { metadata: { name: 'watched' } })
  await watch.take(1)
  const later = (await server.get('/metrics')).body
  for (const series of [
    'apiserver_resource_objects{group="",resource="configmaps"}',
    'apiserver_storage_objects{resource="configmaps"}',
    'apiserver_storage_events_received_total{group="",resource="configmaps"}',
    'apiserver_watch_cache_events_received_total{group="",resource="configmaps"}',
    'apiserver_watch_cache_events_dispatched_total{group="",resource="configmaps"}',
    'apiserver_watch_cache_initializations_total{group="",resource="configmaps"}',
    'apiserver_cache_list_total{group="",resource="configmaps",index=""}',
    'apiserver_cache_list_returned_objects_total{group="",resource="configmaps"}',
    'apiserver_watch_events_total{group="",version="v1",resource="configmaps"}',
    'apiserver_watch_events_sizes_count{group="",version="v1",resource="configmaps"}',
    'apiserver_init_events_total{group="",resource="configmaps"}',
    'watch_cache_capacity{group="",resource="configmaps"}',
    'etcd_request_duration_seconds_count{operation="create",group="",resource="configmaps"}',
    'etcd_requests_total{operation="create",group="",resource="configmaps"}',
    'apiserver_storage_size_bytes{storage_cluster_id="memory"}',
    'authorization_attempts_total{result="allowed"}', 'authorization_duration_seconds_count{result="allowed"}'
  ]) t.match(later, `\n${series} `, series)
  // Of 245 shares workload-low has 100, of which it lends 90 %; it may borrow all seats of others.
  for (const [name, seats] of [
    ['nominal', 245], ['lower', 24], ['upper', 602], ['current', 245]
  ] as const) t.match(body, `apiserver_flowcontrol_${name}_limit_seats{priority_level="workload-low"} ${seats}\n`)
})

t.test('without an audit log no level of it is counted', async t => {
  const { body } = await (await listen(t, {})).get('/metrics')
  t.notMatch(body, /^apiserver_audit_level_total\{/m)
})

t.test('events of watches are counted and measured, those a watch begins with apart', async t => {
  const server = await listen(t, {})
  for (let index = 0; index < 3; index++) {
    await server.post(CONFIGS, { metadata: { name: `c${index}`, labels: { odd: String(index % 2) } } })
  }
  const all = await Watch.open(t, `${server.url}${CONFIGS}?watch=1&labelSelector=odd`)
  const odd = await Watch.open(t, `${server.url}${CONFIGS}?watch=1&labelSelector=odd%3D1`)
  await all.take(3)
  await odd.take(1)
  await server.post(CONFIGS, { metadata: { name: 'c4', labels: { odd: '0' } } })
  await server.post(CONFIGS, { metadata: { name: 'c5', labels: { odd: '1' } } })
  await all.take(5)
  await odd.take(2)
  const text = (await server.get('/metrics')).body
  t.match(text, /^apiserver_watch_events_total\{group="",version="v1",kind="ConfigMap"\} 7$/m)
  t.match(text, /^apiserver_watch_events_sizes_count\{group="",version="v1",kind="ConfigMap"\} 7$/m)
  t.match(text, /^apiserver_init_events_total\{resource="configmaps"\} 4$/m)
  const bytes = [...all.events, ...odd.events].reduce(
    (sum, event) => sum + Buffer.byteLength(JSON.stringify(event)) + 1, 0
  )
  const measured = Number(/^apiserver_watch_events_sizes_sum\{.*kind="ConfigMap"\} (.*)$/m.exec(text)?.[1])
  t.ok(measured >= bytes && measured < bytes + 7 * 20, `${measured} of ${bytes}, with the framing of HTTP`)
})

t.test('release 1.36 counts how long watches take to send the state that they begin with', async t => {
  const server = await listen(t, { emulatedVersion: '1.36' })
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  for (const url of [`${CONFIGS}?${query}`, `/api/v1/configmaps?${query}`]) {
    const watch = await Watch.open(t, server.url + url)
    await watch.until(() => watch.events.some(({ type }) => type === 'BOOKMARK'))
  }
  const { body } = await server.get('/metrics')
  for (const scope of ['namespace', 'cluster']) {
    t.match(
      body,
      `apiserver_watch_list_duration_seconds_count{group="",version="v1",resource="configmaps",scope="${scope}"} 1\n`
    )
  }
})

t.test('lists are counted by where they were answered, with what was looked at and what was found', async t => {
  const memory = await build(t, {})
  const store = await build(t, { watchCache: { sizes: { '/configmaps': 0 } } })
  for (const server of [memory, store]) {
    for (let index = 0; index < 4; index++) {
      await server.post('/api/v1/namespaces/orch-public/configmaps', {
        metadata: { name: `c${index}`, labels: { odd: String(index % 2) } }
      })
    }
  }
  const before = async (server: typeof memory, metric: string): Promise<number> => Number(
    new RegExp(`^${metric}\\{.*configmaps".*\\} (.*)$`, 'm').exec((await server.get('/metrics')).body)?.[1] ?? 0
  )
  for (const [server, names] of [
    [
      memory,
      [
        'apiserver_cache_list_total', 'apiserver_cache_list_fetched_objects_total',
        'apiserver_cache_list_returned_objects_total'
      ]
    ],
    [
      store,
      [
        'apiserver_storage_list_total', 'apiserver_storage_list_fetched_objects_total',
        'apiserver_storage_list_returned_objects_total'
      ]
    ]
  ] as const) {
    const path = '/api/v1/namespaces/orch-public/configmaps?labelSelector=odd%3D1'
    const [lists, looked, answered] = await Promise.all(names.map(name => before(server, name)))
    const { json } = await server.get(path)
    const there = (await server.get('/api/v1/namespaces/orch-public/configmaps')).json['items'].length as number
    const now = await Promise.all(names.map(name => before(server, name)))
    t.equal(json['items'].length, 2)
    t.ok((now[0] ?? 0) >= (lists ?? 0) + 2, `${names[0]} ${now[0]}`)
    t.ok((now[1] ?? 0) >= (looked ?? 0) + there, `${names[1]} ${now[1]}`)
    t.ok((now[2] ?? 0) >= (answered ?? 0) + 2 + 4, `${names[2]} ${now[2]}`)
  }
})

t.test(
  'each filter on the way of a request is timed, the one that refuses it only where that is authentication',
  async t => {
    const server = await build(t, {
      limits: { priorityAndFairness: true },
      authorization: { modes: ['RBAC'] },
      authentication: { tokens: 'root,root,1,system:masters\nsesame,ann,2\n' }
    })
    const as = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` })
    const filters = ['authentication', 'audit', 'impersonation', 'priorityandfairness', 'authorization']
    const counts = async (): Promise<number[]> => {
      const { body } = await server.get('/metrics', as('root'))
      return filters.map(filter => {
        const name = 'apiserver_request_filter_duration_seconds_count'
        return Number(new RegExp(`^${name}\\{filter="${filter}"\\} (\\d+)$`, 'm').exec(body)?.[1])
      })
    }
    let before = await counts()
    for (const [token, code, expected] of [
      ['wrong', 401, [1, 0, 0, 0, 0]], ['sesame', 403, [1, 1, 1, 1, 0]], ['root', 200, [1, 1, 1, 1, 1]]
    ] as const) {
      t.equal((await server.get(CONFIGS, as(token))).code, code)
      const now = await counts()
      t.same(now.map((count, at) => count - (before[at] ?? 0) - 1), expected, `${code}, beside the scrape`)
      before = now
    }
  }
)
