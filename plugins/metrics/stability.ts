/**
 * How long names and labels of a metric last: STABLE ones by the rules of deprecation, ALPHA ones may change with any
 * release. The help text of each begins with it, as tools that read it expect. (Interface: Deprecation rules 9.)
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
  'apiserver_storage_objects'
])

/** The help text of a metric, with its stability. */
export const describe = (name: string, help: string): string => `[${STABLE.has(name) ? 'STABLE' : 'ALPHA'}] ${help}`
