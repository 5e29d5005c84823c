import t from 'tap'
import { created, creates, served, updates } from '../rules.js'

const RULE = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }
const WEBHOOK = {
  name: 'check.hooks.example.com',
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  clientConfig: { url: 'https://hooks.example.com/check' },
  rules: [RULE]
}
const webhook = (more: object) => ({ webhooks: [{ ...WEBHOOK, ...more }] })
const rule = (more: object) => webhook({ rules: [{ ...RULE, ...more }] })
const through = (service: object) => webhook({ clientConfig: { service: { namespace: 'a', name: 'b', ...service } } })
const url = (text: string) => webhook({ clientConfig: { url: text } })
const AT = 'webhooks[0]'

for (const plural of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']) {
  const configurations = served('admissionregistration.orch.io/v1', plural)
  creates(t, configurations, webhook({}), [
    ['no webhooks', { webhooks: null }],
    ['no name', webhook({ name: undefined }), `Required ${AT}.name`],
    ['a name that is none', webhook({ name: 'A.b.c' }), `Invalid ${AT}.name`],
    ['a name of two parts', webhook({ name: 'a.b' }), `Invalid ${AT}.name`],
    ['a name twice', { webhooks: [WEBHOOK, WEBHOOK] }, 'Duplicate webhooks[1].name'],
    ['side effects have to be told', webhook({ sideEffects: undefined }), `Required ${AT}.sideEffects`],
    ['and be none', webhook({ sideEffects: 'Some' }), `NotSupported ${AT}.sideEffects`],
    ['or none in a dry run', webhook({ sideEffects: 'NoneOnDryRun' })],
    [
      'versions of reviews have to be told', webhook({ admissionReviewVersions: [] }),
      `Required ${AT}.admissionReviewVersions`
    ],
    ['v1beta1 is one', webhook({ admissionReviewVersions: ['v1beta1', 'v9'] })],
    ['a version is known', webhook({ admissionReviewVersions: ['v2'] }), `Invalid ${AT}.admissionReviewVersions`],
    [
      'and each is a name', webhook({ admissionReviewVersions: ['v1', 'V_2', 'V_2'] }),
      `Invalid ${AT}.admissionReviewVersions[1]`, `Invalid ${AT}.admissionReviewVersions[2]`
    ],
    ['and told once', webhook({ admissionReviewVersions: ['v1', 'v1'] }), `Invalid ${AT}.admissionReviewVersions[1]`],
    ['no time', webhook({ timeoutSeconds: 0 }), `Invalid ${AT}.timeoutSeconds`],
    ['too much', webhook({ timeoutSeconds: 31 }), `Invalid ${AT}.timeoutSeconds`],
    [
      'unknown policies', webhook({ failurePolicy: 'Try', matchPolicy: 'Near' }), `NotSupported ${AT}.failurePolicy`,
      `NotSupported ${AT}.matchPolicy`
    ],
    ['bad selectors', webhook({
      namespaceSelector: { matchLabels: { 'a b': 'c' } },
      objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] }
    }),
      `Invalid ${AT}.namespaceSelector.matchLabels`, `Required ${AT}.objectSelector.matchExpressions[0].values`],
    ['nowhere', webhook({ clientConfig: {} }), `Required ${AT}.clientConfig`],
    ['a service', through({ path: '/a/b/' })],
    [
      'both', webhook({ clientConfig: { ...WEBHOOK.clientConfig, service: { namespace: 'a', name: 'b' } } }),
      `Required ${AT}.clientConfig`
    ],
    [
      'a service without names', webhook({ clientConfig: { service: {} } }), `Required ${AT}.clientConfig.service.name`,
      `Required ${AT}.clientConfig.service.namespace`
    ],
    ['port 0', through({ port: 0 }), `Invalid ${AT}.clientConfig.service.port`],
    ['a relative path', through({ path: 'ab' }), `Invalid ${AT}.clientConfig.service.path`],
    ['an empty step', through({ path: '/a//b' }), `Invalid ${AT}.clientConfig.service.path`],
    ['no URL', url('://a'), `Required ${AT}.clientConfig.url`],
    ['a port that is none', url('https://a:b/'), `Required ${AT}.clientConfig.url`],
    ['a name alone', url('hooks'), `Invalid ${AT}.clientConfig.url`],
    ['an open one', url('http://a/'), `Invalid ${AT}.clientConfig.url`],
    ['a URL with more than a path', url('https://u:p@a/?q#f'), `Invalid ${AT}.clientConfig.url`],
    [
      'a rule of nothing', webhook({ rules: [{}] }),
      ...['operations', 'apiGroups', 'apiVersions', 'resources'].map(field => `Required ${AT}.rules[0].${field}`)
    ],
    ['everything', rule({ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] })],
    [
      'everything and more',
      rule({ apiGroups: ['*', 'a'], apiVersions: ['*', 'b'], operations: ['*', 'CREATE'], resources: ['*/*', 'pods'] }),
      ...['operations', 'apiGroups', 'apiVersions', 'resources'].map(field => `Invalid ${AT}.rules[0].${field}`)
    ],
    ['an unknown operation', rule({ operations: ['READ'] }), `NotSupported ${AT}.rules[0].operations[0]`],
    ['an empty version', rule({ apiVersions: [''] }), `Required ${AT}.rules[0].apiVersions[0]`],
    [
      'what a wildcard covers', rule({ resources: ['pods/*', 'pods/log', '*/log'] }),
      `Invalid ${AT}.rules[0].resources[1]`
    ],
    [
      'what two of them cover', rule({ resources: ['pods/*', '*/log', 'pods/log'] }),
      `Invalid ${AT}.rules[0].resources[2]`
    ],
    ['what a wildcard covers before it comes', rule({ resources: ['pods/log', 'pods/*', 'pods'] })],
    ['all resources, and one', rule({ resources: ['*', 'pods', 'pods/log'] }), `Invalid ${AT}.rules[0].resources`],
    ['one, and all of them', rule({ resources: ['pods', '*', 'pods/log'] })],
    ['side effects of no name', webhook({ sideEffects: '' }), `NotSupported ${AT}.sideEffects`],
    ['a long name that is none, told once', webhook({ name: `${'A'.repeat(254)}.b.c` }), `Invalid ${AT}.name`],
    [
      'a place that is told twice is not looked at',
      webhook({ clientConfig: { ...WEBHOOK.clientConfig, service: {} } }), `Required ${AT}.clientConfig`
    ]
  ])
  updates(t, configurations, webhook({}), [
    ['what is new', {}, webhook({ sideEffects: 'Unknown' }), `NotSupported ${AT}.sideEffects`]
  ])
  t.test(`invalid ${plural} are refused in the words of upstream`, async t => {
    const { errors } = created(configurations, {
      webhooks: [
        {
          ...WEBHOOK,
          sideEffects: 'Some',
          clientConfig: { url: 'http://u:p@/?q#f' },
          rules: [
            {
              apiGroups: ['*', 'a'],
              apiVersions: ['*', 'b'],
              operations: ['*', 'READ'],
              resources: ['a/*', '*/b', 'a/b', '*', 'c']
            }
          ]
        }
      ]
    })
    t.same(errors.map(({ value, detail }) => [value, detail]), [
      [['*', 'READ'], "if '*' is present, must not specify other operations"],
      ['READ', 'supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"'],
      [['*', 'a'], "if '*' is present, must not specify other API groups"],
      [['*', 'b'], "if '*' is present, must not specify other API versions"],
      ['a/b', "if 'a/*' is present, must not specify a/b"],
      ['a/b', "if '*/b' is present, must not specify a/b"],
      [['a/*', '*/b', 'a/b', '*', 'c'], "if '*' is present, must not specify other resources without subresources"],
      ['Some', 'supported values: "None", "NoneOnDryRun"'],
      ['http', "'https' is the only allowed URL scheme; desired format: https://host[/path]"],
      ['', 'host must be specified; desired format: https://host[/path]'],
      ['u:…', 'user information is not permitted in the URL'],
      ['f', 'fragments are not permitted in the URL'],
      ['q', 'query parameters are not permitted in the URL']
    ])
  })

  t.test(`${plural} of v1 fail closed, match equivalents, and wait ten seconds`, async t => {
    t.match(created(configurations, webhook({})).object, {
      webhooks: [{ failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10 }]
    })
  })
}
