/** Rules for definitions, apart from their schemas, with the messages that clients get. */
import t from 'tap'
import { describe } from '../../../../schemas/status.js'
import { creates, served, updates, updated, created, type Plain } from '../rules.js'

const definitions = served('apiextensions.orch.io/v1', 'customresourcedefinitions')
const schema = { openAPIV3Schema: { type: 'object' } }
const version = (name: string, more: object = {}) => ({ name, served: true, storage: false, schema, ...more })
const stored = (more: object = {}) => version('v1', { storage: true, ...more })
const spec = (change: object) => ({ spec: change })
const versions = (...list: object[]) => spec({ versions: list })
const VALID = {
  metadata: { name: 'things.example.com' },
  spec: { group: 'example.com', scope: 'Cluster', names: { plural: 'things', kind: 'Thing' }, versions: [stored()] }
}
const LONG = 'a'.repeat(64)

creates(t, definitions, VALID, [
  ['a group without a dot', { metadata: { name: 'things.flat' }, spec: { group: 'flat' } }, 'Invalid spec.group'],
  [
    'one that is no domain', { metadata: { name: 'things.a_b.c' }, spec: { group: 'a_b.c' } }, 'Invalid metadata.name',
    'Invalid spec.group'
  ],
  ['a generated one', { metadata: { generateName: 'things' } }, 'Invalid metadata.generateName'],
  ['another name', { metadata: { name: 'thing.example.com' } }, 'Invalid metadata.name'],
  ['no scope', spec({ scope: null }), 'Required spec.scope'],
  ['an unknown one', spec({ scope: 'Galaxy' }), 'NotSupported spec.scope'],
  ['a kind that is its list', spec({ names: { listKind: 'Thing' } }), 'Invalid spec.names.listKind'],
  [
    'categories', spec({ names: { categories: ['all', 'A'], shortNames: ['_'], singular: 'A' } }),
    'Invalid spec.names.singular', 'Invalid spec.names.shortNames[0]', 'Invalid spec.names.categories[1]'
  ],
  ['no version', versions(), 'Invalid spec.versions', 'Invalid status.storedVersions'],
  ['none that is stored', versions(version('v1')), 'Invalid spec.versions', 'Invalid status.storedVersions'],
  [
    'two that are', versions(stored(), version('v2', { storage: true })), 'Invalid spec.versions',
    'Invalid status.storedVersions'
  ],
  ['a version that is no name, the first of which is that of the spec too', versions(
    stored({ name: '_' }), version('1')
  ),
  'Invalid spec.versions[0].name', 'Invalid spec.versions[1].name', 'Invalid spec.version'],
  [
    'no schema', versions(stored({ schema: null }), version('v2', { schema: {} })),
    'Required spec.versions[0].schema.openAPIV3Schema', 'Required spec.versions[1].schema.openAPIV3Schema'
  ],
  ['everything kept', spec({
    preserveUnknownFields: true, conversion: { strategy: 'Webhook' }
  }), 'Invalid spec.conversion.strategy', 'Required spec.conversion.webhookClientConfig',
  'Required spec.conversion.conversionReviewVersions', 'Invalid spec.preserveUnknownFields'],
  ['everything kept, and defaults', spec({
    preserveUnknownFields: true,
    versions: [
      stored({ schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', default: '' } } } } })
    ]
  }),
  'Invalid spec.preserveUnknownFields'],
  ['a warning', versions(stored({ deprecated: true, deprecationWarning: 'use others' }))],
  [
    'of what is not deprecated', versions(stored({ deprecationWarning: '' })),
    'Invalid spec.versions[0].deprecationWarning'
  ],
  [
    'an empty one', versions(stored({ deprecated: true, deprecationWarning: '' })),
    'Invalid spec.versions[0].deprecationWarning'
  ],
  [
    'a long one of two lines', versions(stored({ deprecated: true, deprecationWarning: `${LONG.repeat(5)}\n` })),
    'Invalid spec.versions[0].deprecationWarning'
  ]
])

const column = (more: object = {}) => ({ name: 'A', type: 'string', jsonPath: '.a', ...more })
const columns = (...additionalPrinterColumns: object[]) => versions(stored({ additionalPrinterColumns }))
const many = (count: number) => Array.from({ length: count }, () => column())
const scale = (more: object) => versions(stored({
  subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', ...more } }
}))
const COLUMN = 'spec.additionalPrinterColumns[0]'
const SCALE = 'spec.subresources.scale'
creates(t, definitions, VALID, [
  ['columns', columns(column(), column({ type: 'date', format: 'date-time', jsonPath: '.' }))],
  ['as many as there may be', columns(...many(200))],
  ['one more', columns(...many(201)), 'TooMany spec.additionalPrinterColumns'],
  [
    'one more of one version', versions(stored({ additionalPrinterColumns: many(201) }), version('v2')),
    'TooMany spec.versions[0].additionalPrinterColumns'
  ],
  [
    'a column without anything', columns({ name: '', type: '', jsonPath: '' }), `Required ${COLUMN}.name`,
    `Required ${COLUMN}.type`, `Required ${COLUMN}.JSONPath`
  ],
  [
    'of what nobody knows', columns(column({ type: 'object', format: 'short', jsonPath: 'a' })),
    `Invalid ${COLUMN}.type`, `Invalid ${COLUMN}.format`, `Invalid ${COLUMN}.JSONPath`
  ],
  [
    'columns that differ',
    versions(
      stored({ additionalPrinterColumns: [column()] }),
      version('v2', { additionalPrinterColumns: [column({ type: 'a' })] })
    ),
    'Invalid spec.versions[1].additionalPrinterColumns[0].type'
  ],
  ['a scale', scale({ labelSelectorPath: '.spec.selector' })],
  [
    'without paths', scale({ specReplicasPath: '', statusReplicasPath: '' }), `Required ${SCALE}.specReplicasPath`,
    `Required ${SCALE}.statusReplicasPath`
  ],
  [
    'with those of others',
    scale({ specReplicasPath: '.status.a', statusReplicasPath: '.spec.a', labelSelectorPath: '.a' }),
    ...['spec', 'status'].map(of => `Invalid ${SCALE}.${of}ReplicasPath`), `Invalid ${SCALE}.labelSelectorPath`
  ],
  [
    'and no paths at all', scale({ specReplicasPath: 'spec', labelSelectorPath: 'a' }),
    `Invalid ${SCALE}.specReplicasPath`, `Invalid ${SCALE}.labelSelectorPath`
  ]
])

const withStatus = (openAPIV3Schema: object) =>
  versions(stored({ subresources: { status: {} }, schema: { openAPIV3Schema } }))
const ROOT = 'spec.validation.openAPIV3Schema'
creates(t, definitions, VALID, [
  [
    'a status, beside what it may stand',
    withStatus({
      type: 'object',
      description: 'a',
      required: ['spec'],
      properties: { spec: { type: 'object' } },
      'x-orch-preserve-unknown-fields': true
    })
  ],
  [
    'and what not', withStatus({ type: 'object', allOf: [{ minProperties: 1 }], oneOf: [{ minProperties: 1 }] }),
    `Invalid ${ROOT}`
  ],
  ['no default', withStatus({ type: 'object', default: {} }), `Invalid ${ROOT}`],
  [
    'nor another type', withStatus({ type: 'array', items: { type: 'string' }, minProperties: 1 }),
    `Invalid ${ROOT}.type`
  ],
  ['in the version that has it', versions(
    stored({ schema: { openAPIV3Schema: { type: 'object', minProperties: 1 } } }),
    version('v2', { subresources: { status: {} }, schema: { openAPIV3Schema: { type: 'object', minProperties: 2 } } })
  ),
  'Invalid spec.versions[1].schema.openAPIV3Schema']
])

const OURS = { metadata: { name: 'things.a.orch.io' }, spec: { group: 'a.orch.io' } }
const approved = (annotation?: string) => ({
  ...OURS, metadata: { ...OURS.metadata, annotations: { 'api-approved.orch.io': annotation } }
})
const APPROVAL = 'metadata.annotations[api-approved.orch.io]'
creates(t, definitions, VALID, [
  ['a group of the product', OURS, `Required ${APPROVAL}`],
  ['approved', approved('https://example.com/pull/1')],
  ['or not, as it says', approved('unapproved, for a try')],
  ['anything else', approved('yes'), `Invalid ${APPROVAL}`],
  ['an address without a host', approved('https:///a'), `Invalid ${APPROVAL}`]
])
updates(t, definitions, {
  ...VALID, ...approved('https://example.com/pull/1'), spec: { ...VALID.spec, group: 'a.orch.io' }
}, [
  ['that stays so', approved('https://example.com/pull/2'), {}],
  ['or becomes', approved(''), approved('unapproved')],
  ['no longer', {}, approved('yes'), `Invalid ${APPROVAL}`],
  ['what was missing stays missing', approved(''), { metadata: { labels: { a: 'b' } } }],
  ['or wrong', approved('no'), approved('yes')]
])

const established = { status: { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1'] } }
const webhook = (...conversionReviewVersions: string[]) => spec({
  conversion: {
    strategy: 'Webhook', webhook: { clientConfig: { url: 'https://a.example.com/' }, conversionReviewVersions }
  }
})
updates(t, definitions, VALID, [
  ['scope and kind before it is served', {}, spec({ scope: 'Namespaced', names: { kind: 'Other' } })],
  [
    'and after', established, spec({ scope: 'Namespaced', names: { kind: 'Other' } }), 'Invalid spec.scope',
    'Invalid spec.names.kind'
  ],
  [
    'group and plural', {}, { spec: { group: 'example.org', names: { plural: 'others' } } }, 'Invalid spec.group',
    'Invalid spec.names.plural'
  ],
  [
    'a version objects were stored in', {}, versions(version('v2', { storage: true })),
    'Invalid status.storedVersions[0]'
  ],
  ['another one beside it', {}, versions(version('v1'), version('v2', { storage: true }))],
  ['reviews in unknown versions', webhook('v1'), webhook('v7'), 'Invalid spec.conversion.conversionReviewVersions'],
  ['unless there was no other before', webhook('v7'), webhook('v8')],
  [
    'no schema where there was one', {}, versions(stored({ schema: null })),
    'Required spec.versions[0].schema.openAPIV3Schema'
  ],
  [
    'or in a version that is served', versions(stored(), version('v0', { schema: null })),
    versions(stored(), version('v0', { schema: null, deprecated: true })),
    'Required spec.versions[1].schema.openAPIV3Schema'
  ],
  [
    'others may go on without', versions(stored(), version('v0', { schema: null, served: false })),
    versions(stored(), version('v0', { schema: null, served: false, deprecated: true }))
  ],
  ['everything is kept no more', spec({ preserveUnknownFields: true }), spec({ preserveUnknownFields: false })],
  ['or still', spec({ preserveUnknownFields: true }), { metadata: { labels: { a: 'b' } } }]
])
updates(t, definitions, { ...VALID, ...established }, [
  [
    'accepted names', {}, { status: { acceptedNames: { plural: '_', kind: 'A' } } },
    'Invalid status.acceptedNames.plural'
  ]
], 'status')

t.test('the errors of an invalid definition', async t => {
  const told = (body: Plain) => created(definitions, body).errors.map(error => `${error.field}: ${describe(error)}`)
  t.same(told({
    metadata: { name: 'x' },
    spec: { names: { kind: 'A'.repeat(64) }, versions: [{ name: 'v1', served: true, storage: true }] }
  }), [
    'metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group',
    'spec.group: Required value',
    'spec.scope: Required value',
    'spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required',
    'spec.names.plural: Required value',
    ...[
      ['singular', 'a', 64, ''],
      ['kind', 'A', 64, 'may have mixed case, but should otherwise match: '],
      ['listKind', 'A', 64, 'may have mixed case, but should otherwise match: ']
    ].map(([name, letter, count, before]) =>
      `spec.names.${String(name)}: Invalid value: "${String(letter).repeat(Number(count))}` +
      `${name === 'listKind' ? 'List' : ''}": ${String(before)}must be no more than 63 characters`)
  ])
  t.same(told({
    ...VALID, spec: { ...VALID.spec, names: { plural: 'things', kind: 'Thing', singular: `${LONG}_` } }
  }), [
    `spec.names.singular: Invalid value: "${LONG}_": must be no more than 63 characters,` +
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
  ])
  const { errors } = updated(
    definitions,
    { ...VALID, ...established },
    {
      ...VALID,
      metadata: { ...VALID.metadata, resourceVersion: '1' },
      spec: { ...VALID.spec, scope: 'Namespaced', names: { plural: 'x', kind: 'Y' }, preserveUnknownFields: true }
    }
  )
  t.same(errors.map(({ field }) => field), [
    'spec.scope', 'spec.names.kind', 'spec.names.plural', 'spec.preserveUnknownFields'
  ])
})

t.test('a version keeps as many columns as it had, and others get no more than new ones', t => {
  const change = (now: object[], before: object[]) => updated(
    definitions, { ...VALID, spec: { ...VALID.spec, versions: before } },
    { ...VALID, metadata: { ...VALID.metadata, resourceVersion: '1' }, spec: { ...VALID.spec, versions: now } }
  )
    .errors.map(({ type, field }) => `${type} ${field}`)
  const withMany = (count: number) => stored({ additionalPrinterColumns: many(count) })
  t.same(change([withMany(1500)], [withMany(1500)]), [])
  t.same(change([withMany(1499)], [withMany(1500)]), [])
  t.same(change([withMany(1501)], [withMany(1500)]), ['FieldValueTooMany spec.additionalPrinterColumns'])
  t.same(
    change([withMany(1500), version('v2', { additionalPrinterColumns: many(1500) })], [withMany(1500)]),
    ['FieldValueTooMany spec.additionalPrinterColumns']
  )
  t.same(change([withMany(1500), version('v2', { additionalPrinterColumns: many(1) })], [withMany(1500)]), [])
  t.end()
})
