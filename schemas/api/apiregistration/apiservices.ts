/** APIService (v1): which server serves a group version. */
import { age, name, text, type Column } from '../../columns.js'
import { int32, one, bool, bytes, list, apiPackage, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import { Time } from '../../meta/scalars.js'
import { resource } from '../../resource.js'
import { pathSegment } from '../../names.js'
import { validateApiService, validateApiServiceStatus } from './rules/apiservices.js'

const { kind, message } = apiPackage(
  'apiregistration.orch.io', 'v1', 'io.orch.kube-aggregator.pkg.apis.apiregistration.v1'
)

export type ServiceReference = Static<typeof ServiceReference>
export const ServiceReference = message('ServiceReference', 'A service that serves an API.', {
  namespace: string(1, 'Namespace of the service.'),
  name: string(2, 'Name of the service.'),
  port: int32(3, 'Port of the service; by default 443.', { pointer: true, default: 443 })
})

export type APIServiceSpec = Static<typeof APIServiceSpec>
export const APIServiceSpec = message('APIServiceSpec', 'A group version, and what serves it.', {
  service: one(
    1, 'Service requests are passed to; unset for what is served locally.', ServiceReference, { pointer: true }
  ),
  group: string(2, 'Name of the API group.'),
  version: string(3, 'Version of the API group, such as v1.'),
  insecureSkipTLSVerify: bool(4, 'Whether the serving certificate goes unchecked; not recommended.'),
  caBundle: bytes(5, 'CA certificates (PEM) that the server is checked with.', { listType: 'atomic' }),
  groupPriorityMinimum: int32(7, 'Least priority of the group; higher ones come first.', { required: true }),
  versionPriority: int32(8, 'Priority of the version in its group; higher ones come first.', { required: true })
})

export type APIServiceCondition = Static<typeof APIServiceCondition>
export const APIServiceCondition = message('APIServiceCondition', 'A finding about an API service.', {
  type: string(1, 'Type of the condition, such as Available.', {
    required: true, mayBeEmpty: true, values: ['Available']
  }),
  status: string(2, 'Whether it holds: True, False or Unknown.', {
    required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
  }),
  lastTransitionTime: one(3, 'When status last changed.', Time),
  reason: string(4, 'One word for a machine.'),
  message: string(5, 'A sentence for a person.')
})

export type APIServiceStatus = Static<typeof APIServiceStatus>
export const APIServiceStatus = message('APIServiceStatus', 'What is observed of an API service.', {
  conditions: list(1, 'What was found about the API service, such as Available.', APIServiceCondition, {
    listType: 'map', listMapKeys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type'
  })
}, {
  validate: ({ conditions = [] }, at, report) => {
    validateApiServiceStatus(conditions, `${at}.conditions`, report)
  }
})

export type APIService = Static<typeof APIService>
export const APIService = kind('APIService', 'Says which server serves one version of an API group.', {
  metadata,
  spec: one(2, 'The group version, and what serves it.', APIServiceSpec),
  status: one(3, 'What is observed of the API service; written by the system.', APIServiceStatus)
}, { validate: (object, _at, report) => { validateApiService(object, report) } })

/** The status of the condition, with a reason unless it is True. */
function availability ({ status: { conditions = [] } }: APIService): string {
  const available = conditions.find(({ type }) => type === 'Available')
  if (available === undefined) return 'Unknown'
  const { status, reason = '' } = available
  return status === 'True' || reason === '' ? status : `${status} (${reason})`
}

const columns: ReadonlyArray<Column<APIService>> = [
  name,
  text('Service', 'Service requests are passed to.', ({ spec: { service } }) =>
    service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`),
  text('Available', 'Whether it can be reached.', availability),
  age
]

/** An APIService without a service is served by this server, so it is available at once. */
function settleLocal (object: APIService): void {
  if (object.spec.service !== undefined) return
  object.status = {
    conditions: [{
      type: 'Available', status: 'True', lastTransitionTime: object.metadata.creationTimestamp, reason: 'Local',
      message: 'Local APIServices are always available'
    }]
  }
}

export const apiServices = resource(APIService, {
  plural: 'apiservices',
  categories: ['api-extensions'],
  namespaced: false,
  anyFinalizer: true,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], keepsMetadata: OWN_METADATA }
  ],
  unconditionalUpdate: false,
  storagePrefix: 'apiregistration.orch.io/apiservices',
  nameRule: pathSegment,
  strategy: { prepareForCreate: settleLocal },
  columns
})
