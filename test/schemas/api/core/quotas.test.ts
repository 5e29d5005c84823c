import t from 'tap'
import { creates, served, updates } from '../rules.js'

const quotas = served('v1', 'resourcequotas')
const spec = (more: object) => ({ spec: more })
const SELECTOR = 'spec.scopeSelector.matchExpressions'
const selector = (...matchExpressions: object[]) => spec({ scopeSelector: { matchExpressions } })
const QUOTA = spec({ hard: { pods: '10' } })

creates(t, quotas, QUOTA, [
  [
    'what can be counted',
    spec({
      hard: {
        'requests.cpu': '4',
        'count/deployments.apps': '2',
        'fast.storageclass.storage.orch.io/requests.storage': '1Gi',
        'requests.example.com/gpu': '1',
        'hugepages-2Mi': '2Mi'
      }
    })
  ],
  ['a resource nobody knows', spec({ hard: { gpus: '1' } }), 'Invalid spec.hard[gpus]'],
  ['storage alone', spec({ hard: { storage: '1' } }), 'Invalid spec.hard[storage]'],
  ['less than nothing', spec({ hard: { cpu: '-1' } }), 'Invalid spec.hard[cpu]'],
  ['half a pod', spec({ hard: { pods: '500m' } }), 'Invalid spec.hard[pods]'],
  ['an unknown scope', spec({ scopes: ['Big'] }), 'Invalid spec.scopes'],
  [
    'a scope of pods for something else', spec({ hard: { secrets: '1', pods: null }, scopes: ['BestEffort'] }),
    'Invalid spec.scopes'
  ],
  [
    'use of those that ask for nothing', spec({ hard: { cpu: '1', pods: null }, scopes: ['BestEffort'] }),
    'Invalid spec.scopes'
  ],
  [
    'scopes that exclude each other',
    spec({ scopes: ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating'] }), 'Invalid spec.scopes'
  ],
  ['a class of priority', selector({ scopeName: 'PriorityClass', operator: 'In', values: ['high'] })],
  ['of no values', selector({ scopeName: 'PriorityClass', operator: 'In' }), `Required ${SELECTOR}.values`],
  [
    'there, with values', selector({ scopeName: 'PriorityClass', operator: 'Exists', values: ['high'] }),
    `Invalid ${SELECTOR}.values`
  ],
  ['an unknown operator', selector({ scopeName: 'PriorityClass', operator: 'Like' }), `Invalid ${SELECTOR}.operator`],
  [
    'values of a scope without', selector({ scopeName: 'BestEffort', operator: 'In', values: ['a'] }),
    `Invalid ${SELECTOR}.operator`
  ],
  ['an unknown scope', selector({ scopeName: 'Big', operator: 'Exists' }), `Invalid ${SELECTOR}.scopeName`]
])
updates(t, quotas, QUOTA, [
  ['how much', {}, spec({ hard: { pods: '20' } })],
  ['of what', {}, spec({ scopes: ['Terminating'] }), 'Invalid spec.scopes'],
  ['in another order', spec({ scopes: ['Terminating', 'BestEffort'] }), spec({ scopes: ['BestEffort', 'Terminating'] })]
])
updates(
  t,
  quotas,
  QUOTA,
  [
    [
      'use', {}, { status: { hard: { x: '1' }, used: { pods: '-1' } } }, 'Invalid status.hard[x]',
      'Invalid status.used[pods]'
    ]
  ],
  'status'
)

const ranges = served('v1', 'limitranges')
const limit = (one: object) => spec({ limits: [one] })
const container = (more: object) => limit({ type: 'Container', ...more })
const AT = 'spec.limits[0]'

creates(t, ranges, container({ max: { cpu: '1' } }), [
  ['no limits', spec({ limits: [] })],
  ['no type', limit({}), `Invalid ${AT}.type`],
  ['an unknown type', limit({ type: 'Node' }), `Invalid ${AT}.type`],
  ['a type of others', limit({ type: 'example.com/image', max: { storage: '1Gi' } })],
  ['a type twice', spec({ limits: [{ type: 'Pod' }, { type: 'Pod' }] }), 'Duplicate spec.limits[1].type'],
  [
    'pods of a container', container({ min: { pods: '1' } }), `Invalid ${AT}.min[pods]`,
    `Invalid ${AT}.defaultRequest[pods]`
  ],
  [
    'defaults of pods', limit({ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }),
    `Forbidden ${AT}.default`, `Forbidden ${AT}.defaultRequest`
  ],
  ['a claim without bounds', limit({ type: 'PersistentVolumeClaim' }), `Required ${AT}.limits`],
  ['a claim', limit({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' } })],
  ['the least above the most', limit({ type: 'Pod', min: { cpu: '2' }, max: { cpu: '1' } }), `Invalid ${AT}.min[cpu]`],
  [
    'a default above the most', container({ max: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '1' } }),
    `Invalid ${AT}.default[cpu]`
  ],
  [
    'a default below the least',
    container({ min: { cpu: '1' }, default: { cpu: '500m' }, defaultRequest: { cpu: '1' } }),
    `Invalid ${AT}.default[cpu]`, `Invalid ${AT}.defaultRequest[cpu]`
  ],
  [
    'a request below the least',
    container({ min: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '500m' } }),
    `Invalid ${AT}.defaultRequest[cpu]`
  ],
  [
    'a request above the most', container({ max: { cpu: '1' }, default: { cpu: '1' }, defaultRequest: { cpu: '2' } }),
    `Invalid ${AT}.defaultRequest[cpu]`
  ],
  [
    'a ratio below one', limit({ type: 'Pod', maxLimitRequestRatio: { cpu: '500m' } }),
    `Invalid ${AT}.maxLimitRequestRatio[cpu]`
  ],
  [
    'a ratio the bounds do not reach',
    limit({ type: 'Pod', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } }),
    `Invalid ${AT}.maxLimitRequestRatio[cpu]`
  ],
  [
    'more than there is',
    container({ default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } }),
    `Invalid ${AT}.defaultRequest[example.com/gpu]`
  ]
])
