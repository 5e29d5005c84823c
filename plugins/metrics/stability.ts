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

/** Prefixes the help text with the stability level. */
export const describe = (name: string, help: string): string => `[${STABLE.has(name) ? 'STABLE' : 'ALPHA'}] ${help}`
