import t from 'tap'
import { creates, served, updates } from '../rules.js'

const services = served('apiregistration.orch.io/v1', 'apiservices')
const spec = (more: object) => ({ spec: more })
const VALID = {
  metadata: { name: 'v1.metrics.example.com' },
  ...spec({
    group: 'metrics.example.com',
    version: 'v1',
    groupPriorityMinimum: 100,
    versionPriority: 10,
    insecureSkipTLSVerify: true,
    service: { namespace: 'a', name: 'b' }
  })
}

creates(t, services, VALID, [
  [
    'a beginning of a name, to which nothing can be added', { metadata: { generateName: 'v1.metrics.example.co' } },
    'Invalid metadata.generateName'
  ],
  ['another name', { metadata: { name: 'metrics' } }, 'Invalid metadata.name'],
  [
    'bad names', { metadata: { name: '1.A' }, ...spec({ group: 'A', version: '1' }) }, 'Invalid spec.group',
    'Invalid spec.version'
  ],
  ['the core group', { metadata: { name: 'v1.' }, ...spec({ group: null }) }],
  [
    'another version of it', { metadata: { name: 'v2.' }, ...spec({ group: null, version: 'v2' }) },
    'Required spec.group'
  ],
  [
    'no priorities', spec({ groupPriorityMinimum: 0, versionPriority: 0 }), 'Invalid spec.groupPriorityMinimum',
    'Invalid spec.versionPriority'
  ],
  [
    'too high ones', spec({ groupPriorityMinimum: 20001, versionPriority: 1001 }), 'Invalid spec.groupPriorityMinimum',
    'Invalid spec.versionPriority'
  ],
  [
    'what is local needs no trust', spec({ service: null, caBundle: 'AAAA' }), 'Invalid spec.caBundle',
    'Invalid spec.insecureSkipTLSVerify'
  ],
  [
    'a service without names', spec({ service: { namespace: null, name: null } }), 'Required spec.service.namespace',
    'Required spec.service.name'
  ],
  ['port 0', spec({ service: { port: 0 } }), 'Invalid spec.service.port'],
  ['trust in everybody and in some', spec({ caBundle: 'AAAA' }), 'Invalid spec.insecureSkipTLSVerify']
])
updates(
  t,
  services,
  VALID,
  [
    [
      'conditions', {},
      { status: { conditions: [{ type: 'Available', status: 'Maybe' }, { type: 'Available', status: 'True' }] } },
      'NotSupported status.conditions[0].status'
    ]
  ],
  'status'
)
