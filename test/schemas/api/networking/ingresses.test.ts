import t from 'tap'
import { creates, served, updates } from '../rules.js'

const ingresses = served('networking.orch.io/v1', 'ingresses')
const backend = { service: { name: 'web', port: { number: 80 } } }
const path = (more: object) => ({
  spec: { rules: [{ http: { paths: [{ path: '/', pathType: 'Prefix', backend, ...more }] } }] }
})
const behind = (one: object) => ({ spec: { defaultBackend: one } })
const host = (name: string) => ({
  spec: { rules: [{ host: name, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] }
})
const AT = 'spec.rules[0].http.paths[0]'
const VALID = path({})

creates(t, ingresses, VALID, [
  ['neither rules nor a default', { spec: { rules: null } }, 'Invalid spec'],
  ['a default alone', { spec: { rules: null, defaultBackend: backend } }],
  ['a host', host('web.example.com')],
  ['a host below a wildcard', host('*.example.com')],
  ['an address', host('10.0.0.1'), 'Invalid spec.rules[0].host'],
  ['a host in capitals', host('Web'), 'Invalid spec.rules[0].host'],
  ['a wildcard within', host('web.*.com'), 'Invalid spec.rules[0].host'],
  ['a wildcard alone', host('*'), 'Invalid spec.rules[0].host'],
  ['a rule without paths', { spec: { rules: [{ http: { paths: [] } }] } }, 'Required spec.rules[0].http.paths'],
  ['a rule for a host alone', { spec: { rules: [{ host: 'a.b' }] } }],
  ['how paths match is required', path({ pathType: undefined }), `Required ${AT}.pathType`],
  ['and known', path({ pathType: 'Regex' }), `NotSupported ${AT}.pathType`],
  ['also when empty', path({ pathType: '' }), `NotSupported ${AT}.pathType`],
  ['a relative path', path({ path: 'a' }), `Invalid ${AT}.path`],
  ['no path', path({ path: undefined }), `Invalid ${AT}.path`],
  ['no path of an implementation', path({ path: undefined, pathType: 'ImplementationSpecific' })],
  ['a relative one', path({ path: 'a', pathType: 'ImplementationSpecific' }), `Invalid ${AT}.path`],
  ['anything absolute', path({ path: '/a//b/../%2f', pathType: 'ImplementationSpecific' })],
  ['two slashes', path({ path: '/a//b', pathType: 'Exact' }), `Invalid ${AT}.path`],
  ['steps back', path({ path: '/a/../b/..' }), `Invalid ${AT}.path`],
  ['steps on the spot', path({ path: '/a/./b/.' }), `Invalid ${AT}.path`],
  ['an encoded slash', path({ path: '/a%2Fb' }), `Invalid ${AT}.path`],
  ['nothing behind', path({ backend: {} }), `Invalid ${AT}.backend`],
  [
    'a service without a name', behind({ service: { port: { number: 80 } } }),
    'Required spec.defaultBackend.service.name'
  ],
  [
    'a name no service can have', behind({ service: { name: '1a', port: { number: 80 } } }),
    'Invalid spec.defaultBackend.service.name'
  ],
  ['without a port', behind({ service: { name: 'a' } }), 'Required spec.defaultBackend'],
  [
    'with a name and a number for it', behind({ service: { name: 'a', port: { name: 'http', number: 80 } } }),
    'Invalid spec.defaultBackend'
  ],
  [
    'a port out of range', behind({ service: { name: 'a', port: { number: 65536 } } }),
    'Invalid spec.defaultBackend.service.port.number'
  ],
  [
    'a port in capitals', behind({ service: { name: 'a', port: { name: 'H-' } } }),
    'Invalid spec.defaultBackend.service.port.name'
  ],
  ['another object', behind({ resource: { apiGroup: 'example.com', kind: 'Bucket', name: 'b' } })],
  ['both', behind({ ...backend, resource: { kind: 'Bucket', name: 'b' } }), 'Invalid spec.defaultBackend'],
  [
    'an object without kind and name', behind({ resource: {} }), 'Required spec.defaultBackend.resource.kind',
    'Required spec.defaultBackend.resource.name'
  ],
  [
    'an object that is no path', behind({ resource: { apiGroup: 'A', kind: 'a/b', name: '..' } }),
    'Invalid spec.defaultBackend.resource.apiGroup', 'Invalid spec.defaultBackend.resource.kind',
    'Invalid spec.defaultBackend.resource.name'
  ],
  ['certificates', { spec: { tls: [{ hosts: ['a.b', '*.b'], secretName: 'cert' }] } }],
  [
    'for hosts that are none', { spec: { tls: [{ hosts: ['A', '*'] }] } }, 'Invalid spec.tls[0].hosts[0]',
    'Invalid spec.tls[0].hosts[1]'
  ],
  ['in a secret there cannot be', { spec: { tls: [{ secretName: 'A b' }] } }, 'Invalid spec.tls[0].secretName'],
  ['a class', { spec: { ingressClassName: 'A' } }, 'Invalid spec.ingressClassName'],
  [
    'both names of a class',
    { metadata: { annotations: { 'orch.io/ingress.class': 'a' } }, spec: { ingressClassName: 'a' } },
    'Invalid annotations.orch.io/ingress.class'
  ]
])

updates(t, ingresses, VALID, [
  ['a bad secret', {}, { spec: { tls: [{ secretName: 'A b' }] } }, 'Invalid spec.tls[0].secretName'],
  ['is left where it was', { spec: { tls: [{ secretName: 'A b' }] } }, { spec: { ingressClassName: 'b' } }],
  ['a bad path', {}, path({ path: '' }), `Invalid ${AT}.path`],
  [
    'both names of a class are taken', { metadata: { annotations: { 'orch.io/ingress.class': 'a' } } },
    { spec: { ingressClassName: 'a' } }
  ]
])
updates(t, ingresses, VALID, [
  [
    'an address that is none', {}, { status: { loadBalancer: { ingress: [{ ip: 'x' }] } } },
    'Invalid status.loadBalancer.ingress[0].ip'
  ]
], 'status')

const classes = served('networking.orch.io/v1', 'ingressclasses')
const parameters = (more: object) => ({ spec: { parameters: { kind: 'K', name: 'n', ...more } } })
const CLASS = { spec: { controller: 'example.com/ingress' } }

creates(t, classes, CLASS, [
  ['no controller', { spec: { controller: null } }, 'Required spec.controller'],
  ['one without a path', { spec: { controller: 'example.com' } }, 'Invalid spec.controller'],
  ['one with a bad domain and path', { spec: { controller: 'Example/a b' } }, 'Invalid spec.controller'],
  ['a long one', { spec: { controller: `a/${'b'.repeat(250)}` } }, 'TooLong spec.controller'],
  ['parameters', parameters({})],
  [
    'without kind and name', { spec: { parameters: {} } }, 'Required spec.parameters.kind',
    'Required spec.parameters.name'
  ],
  ['of a namespace', parameters({ scope: 'Namespace', namespace: 'a' })],
  ['of no namespace', parameters({ scope: 'Namespace' }), 'Required spec.parameters.namespace'],
  ['of a bad one', parameters({ scope: 'Namespace', namespace: 'A' }), 'Invalid spec.parameters.namespace'],
  ['of the cluster', parameters({ namespace: 'a' }), 'Forbidden spec.parameters.namespace'],
  ['of anything else', parameters({ scope: 'Zone' }), 'NotSupported spec.parameters.scope']
])
updates(t, classes, CLASS, [['another controller', {}, { spec: { controller: 'a/b' } }, 'Invalid spec.controller']])
