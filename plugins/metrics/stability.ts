/**
 * Stability levels: STABLE metrics follow the deprecation rules, ALPHA metrics may change in any release. The help text
 * starts with the level, as upstream. (Interface: Deprecation rules 9.)
 */
const STABLE: ReadonlySet<string> = new Set([
  'apiserver_admission_controller_admission_duration_seconds',
  'apiserver_admission_step_admission_duration_seconds',
  'apiserver_admission_webhook_admission_duration_seconds',
  'apiserver_current_inflight_requests',
  'apiserver_longrunning_requests',
  'apiserver_request_duration_seconds',
  'apiserver_request_total',
  'apiserver_requested_deprecated_apis',
  'apiserver_response_sizes',
  'apiserver_storage_objects',
  'kubernetes_healthcheck',
  'kubernetes_healthchecks_total'
])

/** What release 1.36 has beyond that: it is stable, or may change with a notice. */
const LATER: ReadonlyMap<string, 'STABLE' | 'BETA'> = new Map([
  ['apiserver_storage_size_bytes', 'STABLE'],
  ...[
    'apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds',
    'apiserver_authentication_config_controller_automatic_reloads_total',
    'apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds',
    'apiserver_authorization_config_controller_automatic_reloads_total',
    'apiserver_cel_compilation_duration_seconds', 'apiserver_cel_evaluation_duration_seconds',
    'apiserver_flowcontrol_current_executing_requests', 'apiserver_flowcontrol_current_executing_seats',
    'apiserver_flowcontrol_current_inqueue_requests', 'apiserver_flowcontrol_dispatched_requests_total',
    'apiserver_flowcontrol_nominal_limit_seats', 'apiserver_flowcontrol_rejected_requests_total',
    'apiserver_flowcontrol_request_wait_duration_seconds', 'apiserver_storage_events_received_total',
    'apiserver_validating_admission_policy_check_duration_seconds',
    'apiserver_validating_admission_policy_check_total', 'apiserver_watch_list_duration_seconds',
    'kubernetes_feature_enabled', 'orch_build_info', 'workqueue_adds_total', 'workqueue_depth',
    'workqueue_longest_running_processor_seconds', 'workqueue_queue_duration_seconds', 'workqueue_retries_total',
    'workqueue_unfinished_work_seconds', 'workqueue_work_duration_seconds'
  ].map((name): [string, 'BETA'] => [name, 'BETA'])
])

/** Prefixes the help text with the stability level. @param isLater whether release 1.36 is emulated */
export function describe (name: string, help: string, isLater: boolean): string {
  const level = STABLE.has(name) ? 'STABLE' : (isLater ? LATER.get(name) : undefined) ?? 'ALPHA'
  return `[${level}] ${help}`
}
