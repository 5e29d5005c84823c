import t from 'tap'
import { creates, served, updates } from '../rules.js'

const RESOURCES = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] }
const RULE = { subjects: [{ kind: 'User', user: { name: 'ann' } }], resourceRules: [RESOURCES] }
const SCHEMA = {
  spec: { priorityLevelConfiguration: { name: 'global-default' }, matchingPrecedence: 100, rules: [RULE] }
}
const spec = (more: object) => ({ spec: more })
const rule = (more: object) => spec({ rules: [{ ...RULE, ...more }] })
const subject = (one: object) => rule({ subjects: [one] })
const resources = (more: object) => rule({ resourceRules: [{ ...RESOURCES, ...more }] })
const paths = (...nonResourceURLs: string[]) => rule({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] })
const AT = 'spec.rules[0]'
const LIMITED = {
  type: 'Limited',
  limited: {
    assuredConcurrencyShares: 5,
    limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } }
  }
}
const queuing = (more: object) => spec({ limited: { limitResponse: { queuing: more } } })
const QUEUES = 'spec.limited.limitResponse.queuing'

for (const version of ['v1beta1', 'v1beta2']) {
  const schemas = served(`flowcontrol.apiserver.orch.io/${version}`, 'flowschemas')
  creates(t, schemas, SCHEMA, [
    ['before the first', spec({ matchingPrecedence: -1 }), 'Invalid spec.matchingPrecedence'],
    ['after the last', spec({ matchingPrecedence: 10001 }), 'Invalid spec.matchingPrecedence'],
    ['the first', spec({ matchingPrecedence: 1 }), 'Invalid spec.matchingPrecedence'],
    ['no level', spec({ priorityLevelConfiguration: { name: '' } }), 'Required spec.priorityLevelConfiguration.name'],
    [
      'one there cannot be', spec({ priorityLevelConfiguration: { name: 'A' } }),
      'Invalid spec.priorityLevelConfiguration.name'
    ],
    [
      'an unknown method', spec({ distinguisherMethod: { type: 'ByColor' } }),
      'NotSupported spec.distinguisherMethod.type'
    ],
    ['nobody', rule({ subjects: [] }), `Required ${AT}.subjects`],
    ['nothing', rule({ resourceRules: [] }), `Required ${AT}`],
    ['an unknown subject', subject({ kind: 'Robot' }), `NotSupported ${AT}.subjects[0].kind`],
    ['a user who is not told', subject({ kind: 'User' }), `Required ${AT}.subjects[0].user`],
    [
      'a user and a group', subject({ kind: 'User', user: { name: 'a' }, group: { name: 'b' } }),
      `Forbidden ${AT}.subjects[0].group`
    ],
    ['a group without a name', subject({ kind: 'Group', group: {} }), `Required ${AT}.subjects[0].group.name`],
    ['any account of a namespace', subject({ kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: '*' } })],
    [
      'an account without a name',
      subject({ kind: 'ServiceAccount', serviceAccount: {}, group: { name: 'b' }, user: { name: 'a' } }),
      ...['serviceAccount.name', 'serviceAccount.namespace'].map(field => `Required ${AT}.subjects[0].${field}`),
      ...['user', 'group'].map(field => `Forbidden ${AT}.subjects[0].${field}`)
    ],
    [
      'a bad account', subject({ kind: 'ServiceAccount', serviceAccount: { namespace: 'A', name: 'B' } }),
      `Invalid ${AT}.subjects[0].serviceAccount.name`, `Invalid ${AT}.subjects[0].serviceAccount.namespace`
    ],
    [
      'empty lists', resources({ verbs: [], apiGroups: [], resources: [], namespaces: [] }),
      ...['verbs', 'apiGroups', 'resources', 'namespaces'].map(field => `Required ${AT}.resourceRules[0].${field}`)
    ],
    ['of the cluster', resources({ namespaces: [], clusterScope: true })],
    [
      'all and others',
      resources({ verbs: ['*', 'get'], apiGroups: ['*', 'a'], resources: ['*', 'a'], namespaces: ['*', 'a'] }),
      ...['verbs', 'apiGroups', 'resources', 'namespaces'].map(field => `Invalid ${AT}.resourceRules[0].${field}`)
    ],
    ['an unknown verb', resources({ verbs: ['read'] }), `NotSupported ${AT}.resourceRules[0].verbs`],
    ['a bad namespace', resources({ namespaces: ['A'] }), `Invalid ${AT}.resourceRules[0].namespaces[0]`],
    ['paths', paths('/healthz', '/apis/*', '/')],
    [
      'paths that are none', paths('healthz', '/a b', '/a//b', '/a*', '/a/*/b'),
      ...Array.from({ length: 5 }, (_, index) => `Invalid ${AT}.nonResourceRules[0].nonResourceURLs[${index}]`)
    ],
    ['the one that is exempt', { metadata: { name: 'exempt' }, spec: { matchingPrecedence: 1 } }, 'Invalid spec']
  ])
  updates(
    t,
    schemas,
    SCHEMA,
    [
      [
        'a condition', {}, { status: { conditions: [{}, { type: 'Dangling' }, { type: 'Dangling' }] } },
        'Required status.conditions[0].type', 'Duplicate status.conditions[2].type'
      ]
    ],
    'status'
  )

  const levels = served(`flowcontrol.apiserver.orch.io/${version}`, 'prioritylevelconfigurations')
  creates(t, levels, spec(LIMITED), [
    ['an unknown type', spec({ type: 'Free', limited: null }), 'NotSupported spec.type'],
    ['one that is exempt', spec({ type: 'Exempt', limited: null }), 'Invalid spec.type'],
    ['the one that is', { metadata: { name: 'exempt' }, ...spec({ type: 'Exempt', limited: null }) }],
    [
      'with limits', { metadata: { name: 'exempt' }, ...spec({ type: 'Exempt' }) }, 'Forbidden spec.limited',
      'Invalid spec'
    ],
    ['one that is to be limited', { metadata: { name: 'exempt' } }, 'Invalid spec.type', 'Invalid spec'],
    ['the one for the rest', { metadata: { name: 'catch-all' } }, 'Invalid spec'],
    [
      'as it is',
      { metadata: { name: 'catch-all' }, ...spec({ limited: { limitResponse: { type: 'Reject', queuing: null } } }) }
    ],
    ['no limits', spec({ limited: null }), 'Required spec.limited'],
    ['no shares', spec({ limited: { assuredConcurrencyShares: -1 } }), 'Invalid spec.limited.assuredConcurrencyShares'],
    [
      'an unknown response', spec({ limited: { limitResponse: { type: 'Wait', queuing: null } } }),
      'NotSupported spec.limited.limitResponse.type'
    ],
    ['queues of those refused', spec({ limited: { limitResponse: { type: 'Reject' } } }), `Forbidden ${QUEUES}`],
    ['no queues', spec({ limited: { limitResponse: { queuing: null } } }), `Required ${QUEUES}`],
    [
      'fewer than none', queuing({ queues: -1, handSize: -1, queueLengthLimit: -1 }), `Invalid ${QUEUES}.queues`,
      `Invalid ${QUEUES}.handSize`, `Invalid ${QUEUES}.queueLengthLimit`
    ],
    ['too many', queuing({ queues: 10_000_001, handSize: 1 }), `Invalid ${QUEUES}.queues`],
    ['a hand of more than all', queuing({ queues: 4, handSize: 5 }), `Invalid ${QUEUES}.handSize`],
    ['a hand that nobody can deal', queuing({ queues: 1024, handSize: 7 }), `Invalid ${QUEUES}.handSize`],
    ['the largest that can be dealt', queuing({ queues: 32, handSize: 12 })],
    ['all cards of a deck', queuing({ queues: 16, handSize: 16 }), `Invalid ${QUEUES}.handSize`]
  ])
}
