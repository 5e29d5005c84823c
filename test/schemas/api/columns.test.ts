import t from 'tap'
import { fieldValues, parseFieldSelector } from '../../../schemas/selectors/fields.js'
import {
  mutatingWebhookConfigurations, validatingWebhookConfigurations
} from '../../../schemas/api/admissionregistration/webhooks.js'
import { apiServices } from '../../../schemas/api/apiregistration/apiservices.js'
import { certificateSigningRequests } from '../../../schemas/api/certificates/certificatesigningrequests.js'
import { leases } from '../../../schemas/api/coordination/leases.js'
import { flowSchemas } from '../../../schemas/api/flowcontrol/flowschemas.js'
import { priorityLevelConfigurations } from '../../../schemas/api/flowcontrol/prioritylevelconfigurations.js'
import { storageVersions } from '../../../schemas/api/internal/storageversions.js'
import { runtimeClasses } from '../../../schemas/api/node/runtimeclasses.js'
import { priorityClasses } from '../../../schemas/api/scheduling/priorityclasses.js'
import { made, cellsOf } from './cells.js'

t.test('a certificate signing request has a column for its condition', async t => {
  const spec = {
    request: 'QUJD', signerName: 'orch.io/kube-apiserver-client', username: 'jane', usages: ['client auth']
  }
  const request = (conditions: string[], more: object = {}) => cellsOf(certificateSigningRequests, {
    spec, status: { conditions: conditions.map(type => ({ type, status: 'True' })), ...more }
  })
  t.same(request([]), {
    Name: 'web',
    Age: '24h',
    SignerName: 'orch.io/kube-apiserver-client',
    Requestor: 'jane',
    RequestedDuration: '<none>',
    Condition: 'Pending'
  })
  t.hasStrict(request(['Approved']), { Condition: 'Approved' })
  t.hasStrict(request(['Approved'], { certificate: 'QUJD' }), { Condition: 'Approved,Issued' })
  t.hasStrict(request(['Approved', 'Failed']), { Condition: 'Approved,Failed' })
  t.hasStrict(request(['Approved', 'Denied']), { Condition: 'Denied' })
  t.hasStrict(
    cellsOf(certificateSigningRequests, { spec: { ...spec, expirationSeconds: 86400 } }), { RequestedDuration: '24h' }
  )
})

t.test('certificate signing requests can be selected by their signer, and not by a namespace', async t => {
  const { stored } = certificateSigningRequests
  t.ok(parseFieldSelector('spec.signerName=a.example/b', stored).matches(
    fieldValues(stored, made(stored, { spec: { request: 'QUJD', signerName: 'a.example/b' } }))
  ))
  t.throws(
    () => parseFieldSelector('metadata.namespace=', stored),
    { message: 'field label not supported: metadata.namespace' }
  )
})

t.test('a lease has a column for its holder', async t => {
  t.same(cellsOf(leases, { spec: { holderIdentity: 'scheduler-1' } }), {
    Name: 'web', Holder: 'scheduler-1', Age: '24h'
  })
  t.hasStrict(cellsOf(leases, {}), { Holder: '' })
})

t.test('classes of pods', async t => {
  t.same(cellsOf(priorityClasses, { metadata: { name: 'high' }, value: 1000 }), {
    Name: 'high', Value: 1000, 'Global-Default': false, Age: '24h'
  })
  t.hasStrict(cellsOf(priorityClasses, { value: -5, globalDefault: true }), { Value: -5, 'Global-Default': true })
  for (const representation of runtimeClasses.representations) {
    t.same(cellsOf(representation, { metadata: { name: 'gvisor' }, handler: 'runsc' }), {
      Name: 'gvisor', Handler: 'runsc', Age: '24h'
    })
  }
})

t.test('webhooks are counted', async t => {
  const webhooks = ['a.example.com', 'b.example.com']
    .map(name => ({ name, clientConfig: {}, sideEffects: 'None', admissionReviewVersions: ['v1'] }))
  for (const type of [mutatingWebhookConfigurations, validatingWebhookConfigurations]) {
    t.same(cellsOf(type, { webhooks }), { Name: 'web', Webhooks: 2, Age: '24h' })
    t.hasStrict(cellsOf(type, {}), { Webhooks: 0 })
  }
})

t.test('an API service says whether it can be reached, and why not', async t => {
  const service = (conditions?: object[], more: object = {}) => cellsOf(apiServices, {
    metadata: { name: 'v1.example.com' }, spec: { group: 'example.com', version: 'v1', ...more }, status: { conditions }
  })
  t.same(service([{ type: 'Available', status: 'True', reason: 'Local' }]), {
    Name: 'v1.example.com', Service: 'Local', Available: 'True', Age: '24h'
  })
  t.hasStrict(
    service(
      [{ type: 'Available', status: 'False', reason: 'ServiceNotFound' }],
      { service: { namespace: 'shop', name: 'api' } }
    ),
    { Service: 'shop/api', Available: 'False (ServiceNotFound)' }
  )
  t.hasStrict(service([{ type: 'Available', status: 'False' }]), { Available: 'False' })
  t.hasStrict(service(), { Available: 'Unknown' })
})

t.test('flow schemas and priority levels, in every version', async t => {
  for (const representation of flowSchemas.representations) {
    const spec = {
      priorityLevelConfiguration: { name: 'workload-low' },
      matchingPrecedence: 9000,
      distinguisherMethod: { type: 'ByUser' }
    }
    t.same(cellsOf(representation, { spec, status: { conditions: [{ type: 'Dangling', status: 'False' }] } }),
      {
        Name: 'web',
        PriorityLevel: 'workload-low',
        MatchingPrecedence: 9000,
        DistinguisherMethod: 'ByUser',
        Age: '24h',
        MissingPL: 'False'
      },
      representation.apiVersion)
    t.hasStrict(cellsOf(representation, { spec: { priorityLevelConfiguration: { name: 'x' } } }), {
      MatchingPrecedence: 1000, DistinguisherMethod: '<none>', MissingPL: '?'
    })
  }
  for (const representation of priorityLevelConfigurations.representations) {
    const [field, column] = representation.version === 'v1'
      ? ['nominalConcurrencyShares', 'NominalConcurrencyShares']
      : ['assuredConcurrencyShares', 'AssuredConcurrencyShares']
    const limited = {
      [field]: 20, limitResponse: { type: 'Queue', queuing: { queues: 16, handSize: 4, queueLengthLimit: 10 } }
    }
    t.same(cellsOf(representation, { spec: { type: 'Limited', limited } }),
      { Name: 'web', Type: 'Limited', [column]: 20, Queues: 16, HandSize: 4, QueueLengthLimit: 10, Age: '24h' },
      representation.apiVersion)
    t.hasStrict(
      cellsOf(representation, { spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } }),
      { [column]: 30, Queues: '<none>', HandSize: '<none>', QueueLengthLimit: '<none>' }
    )
    t.hasStrict(cellsOf(representation, { spec: { type: 'Exempt' } }), { Type: 'Exempt', [column]: '<none>' })
  }
})

t.test('a storage version has a column for the version that each server writes', async t => {
  const servers = ['a', 'b', 'c', 'd'].map(id => ({ apiServerID: `server-${id}`, encodingVersion: 'apps/v1' }))
  t.same(cellsOf(storageVersions, {
    metadata: { name: 'apps.deployments' }, status: { commonEncodingVersion: 'apps/v1', storageVersions: servers }
  }),
  {
    Name: 'apps.deployments',
    CommonEncodingVersion: 'apps/v1',
    StorageVersions: 'server-a=apps/v1,server-b=apps/v1,server-c=apps/v1 + 1 more...',
    Age: '24h'
  })
  t.hasStrict(cellsOf(storageVersions, {}), { CommonEncodingVersion: '<unset>', StorageVersions: '<unset>' })
})
