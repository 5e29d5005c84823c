/** Streams a container's log from its node agent. */
import type { PassedAnswer } from '../../answers/answer.js'
import type { ServedRequest } from '../../answers/request-context.js'
import { viewOf } from '../../answers/view.js'
import type { Tunnel } from '../../clients/egress/tunnel.js'
import { isCertificateRefused, isClientError } from '../../clients/errors.js'
import { send } from '../../clients/outgoing.js'
import type { Gates } from '../../schemas/gates.js'
import { PodLogOptions } from '../../schemas/api/core/pod-options.js'
import { invalid, unexplained, type FieldError } from '../../schemas/status.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { failureOf } from '../shared/forwarding/responses.js'
import { hostPort, type NodeAgents } from './node-agents.js'
import { containerOf, find, hasNodes, NO_NODES } from './objects.js'
import { warningHeaders } from '../../schemas/warnings.js'
import { optionsFrom } from './options.js'
import type { Metrics } from '../shared/metric-series.js'

export interface LogTools {
  readonly gates: Gates
  readonly resources: ResourceRegistry
  readonly agents: NodeAgents
  /** Aborts at shutdown; ends followed logs. */
  readonly ending: AbortSignal
  /** To the cluster. Default direct. */
  readonly tunnel?: Tunnel | undefined
  readonly metrics: Metrics
}

const NAME = 'orch_apiserver_pod_logs_pods_logs'

export function readLog (tools: LogTools): (request: ServedRequest) => Promise<PassedAnswer> {
  const usage = tools.metrics.counter(
    `${NAME}_insecure_backend_total`,
    'Requested logs of pods, by whether the certificate of the node agent is verified: enforce_tls or ' +
      'skip_tls_allowed.',
    ['usage']
  )
  const failures = tools.metrics
    .counter(
      `${NAME}_backend_tls_failure_total`,
      'Logs of pods that could not be had as the certificate of the node agent was refused.'
    )
    .with()
  return async request => {
    const options = optionsFrom(PodLogOptions, request.orch.query)
    usage.with(options.insecureSkipTLSVerifyBackend === true ? 'skip_tls_allowed' : 'enforce_tls').add()
    return await logOf(tools, options, request).catch((error: unknown) => {
      if (isCertificateRefused(error)) failures.add()
      throw isClientError(error) ? unexplained(error.message, error) : error
    })
  }
}

async function logOf (
  { resources, agents, ending, tunnel, gates }: LogTools, options: PodLogOptions, request: ServedRequest
): Promise<PassedAnswer> {
  const { namespace, name } = request.orch.info
  const findings = [...findingsOf(options), ...findingsOfStream(options, gates)]
  if (findings.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, name, findings)
  const pod = await find(resources, 'pods', namespace, name)
  const container = containerOf(pod, options.container ?? '')
  // An unscheduled pod has no log.
  if (!pod.spec.nodeName) {
    const texts = await hasNodes(resources) ? [] : [viewOf(request.orch).words(`pod ${name} has no log${NO_NODES}`)]
    const headers = texts.length === 0 ? {} : { warning: warningHeaders(texts) }
    return { kind: 'passed', code: 204, headers, body: undefined, isProxied: false }
  }
  const { host, address, port } = await agents.of(pod.spec.nodeName)
  const query = parametersOf(options).toString()
  const path = `${agents.pathOf('containerLogs', namespace, name, container)}${query === '' ? '' : `?${query}`}`
  const { answer } = await send({
    method: 'GET',
    scheme: 'https',
    host,
    address,
    port,
    path,
    headers: ['Host', hostPort(host, port), 'User-Agent', 'orch-apiserver', 'Accept', '*/*'],
    secureContext: await agents.secureContext(),
    verify: agents.verifies && options.insecureSkipTLSVerifyBackend !== true,
    upgrade: false,
    tunnel,
    connectTimeout: agents.timeout,
    // No response timeout: the node agent may send no head until a followed or filtered log has a line.
    call: `Get ${JSON.stringify(`https://${hostPort(host, port)}${path}`)}`
  }, outgoing => { request.orch.onClosed(() => { outgoing.destroy() }) })
  const { statusCode = 0 } = answer
  if (statusCode >= 300 && statusCode < 400) {
    answer.destroy()
    throw unexplained(`Get ${JSON.stringify(`https://${hostPort(host, port)}${path}`)}: redirects forbidden`)
  }
  if (statusCode > 206) throw await failureOf(answer, 'pods/log', name)
  return {
    kind: 'passed',
    code: 200,
    headers: { 'content-type': 'text/plain' },
    body: answer,
    isProxied: false,
    ending: options.follow === true ? ending : undefined
  }
}

function findingsOf ({ tailLines, limitBytes, sinceSeconds, sinceTime }: PodLogOptions): FieldError[] {
  const findings: FieldError[] = []
  if (tailLines != null && tailLines < 0) {
    findings.push({
      type: 'FieldValueInvalid', field: 'tailLines', value: tailLines, detail: 'must be greater than or equal to 0'
    })
  }
  if (limitBytes != null && limitBytes < 1) {
    findings.push({
      type: 'FieldValueInvalid', field: 'limitBytes', value: limitBytes, detail: 'must be greater than 0'
    })
  }
  if (sinceSeconds != null &&
    sinceTime != null) {
    findings.push({
      type: 'FieldValueForbidden', field: '', detail: 'at most one of `sinceTime` or `sinceSeconds` may be specified'
    })
  } else if (sinceSeconds != null && sinceSeconds < 1) {
    findings.push({
      type: 'FieldValueInvalid', field: 'sinceSeconds', value: sinceSeconds, detail: 'must be greater than 0'
    })
  }
  return findings
}

const STREAMS = ['All', 'Stderr', 'Stdout']

/** Earlier releases do not know the parameter. */
function findingsOfStream ({ stream, tailLines }: PodLogOptions, gates: Gates): FieldError[] {
  if (stream == null || !gates.enabled('LogStreamsAreKnown')) return []
  const forbidden = (detail: string): FieldError => ({ type: 'FieldValueForbidden', field: 'stream', detail })
  if (!gates.enabled('PodLogsQuerySplitStreams')) return [forbidden('may not be specified')]
  if (!STREAMS.includes(stream)) {
    const detail = `supported values: ${STREAMS.map(name => `"${name}"`).join(', ')}`
    return [{ type: 'FieldValueNotSupported', field: 'stream', value: stream, detail }]
  }
  return tailLines != null && stream !== 'All' ? [forbidden('with tailLines only All may be specified')] : []
}

/** Parameters of the node agent's API, in order of their names. */
function parametersOf (options: PodLogOptions): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const name of [
    'follow', 'limitBytes', 'previous', 'sinceSeconds', 'sinceTime', 'stream', 'tailLines', 'timestamps'
  ] as const) {
    const value = options[name]
    if (value != null && value !== false) parameters.set(name, String(value))
  }
  return parameters
}
