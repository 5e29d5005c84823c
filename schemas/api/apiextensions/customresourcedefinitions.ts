/** CustomResourceDefinition (v1): a type defined at run time. */
import { int32, int64, one, bool, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import { Time } from '../../meta/scalars.js'
import type { Gates } from '../../gates.js'
import { resource } from '../../resource.js'
import { beginCleanup } from './cleanup.js'
import { CustomResourceConversion } from './conversion.js'
import { kind, message } from './package.js'
import { isKnownFormat } from './rules/formats.js'
import { eachSchema, schemasOf } from './rules/schema-walk.js'
import { areRulesOn, hasRules, withoutRules } from './rules/expressions.js'
import { validateGivenNames } from './rules/names.js'
import { validateDefinition } from './rules/customresourcedefinitions.js'
import { SELECTABLE_GATE } from './rules/selectable-fields.js'
import { JSONSchemaProps, RULES_GATE } from './schemas.js'

export type CustomResourceColumnDefinition = Static<typeof CustomResourceColumnDefinition>
export const CustomResourceColumnDefinition =
  message('CustomResourceColumnDefinition', 'A column of the table of a custom resource.', {
    name: string(1, 'Heading of the column.', { required: true }),
    type: string(2, 'OpenAPI type of the column, such as string, integer or date.', { required: true }),
    format: string(3, 'OpenAPI format of the column, such as name.'),
    description: string(4, 'What the column shows, for a person.'),
    priority: int32(5, 'Importance of the column; above 0 it shows in wide tables only.'),
    jsonPath: string(6, 'JSON path of the value in the object.', { required: true })
  })

export type CustomResourceDefinitionNames = Static<typeof CustomResourceDefinitionNames>
export const CustomResourceDefinitionNames = message('CustomResourceDefinitionNames', 'Names of a custom resource.', {
  plural: string(1, 'Name in the plural, as used in URLs, in lower case.', {
    required: true, mayBeEmpty: true, immutable: 'ruled'
  }),
  singular: string(2, 'Name in the singular; by default the kind in lower case.'),
  shortNames: list(3, 'Short names, for use with kubectl.', 'string'),
  kind: string(4, 'Kind of the objects, in the singular and CamelCase.', {
    required: true, mayBeEmpty: true, immutable: 'ruled'
  }),
  listKind: string(5, 'Kind of lists of the objects; by default the kind with List added.'),
  categories: list(6, 'Groups of resources it belongs to, such as all.', 'string')
})

export type CustomResourceValidation = Static<typeof CustomResourceValidation>
export const CustomResourceValidation =
  message('CustomResourceValidation', 'How objects of a custom resource are checked.', {
    openAPIV3Schema: one(1, 'OpenAPI v3 schema of the objects.', JSONSchemaProps, { pointer: true })
  })

export type CustomResourceSubresourceStatus = Static<typeof CustomResourceSubresourceStatus>
export const CustomResourceSubresourceStatus = message(
  'CustomResourceSubresourceStatus', 'Turns on the status subresource; has no members.', {}
)

export type CustomResourceSubresourceScale = Static<typeof CustomResourceSubresourceScale>
export const CustomResourceSubresourceScale =
  message('CustomResourceSubresourceScale', 'Where the scale subresource finds its values.', {
    specReplicasPath: string(1, 'JSON path of the wanted number, below .spec.', { required: true }),
    statusReplicasPath: string(2, 'JSON path of the actual number, below .status.', { required: true }),
    labelSelectorPath: string(3, 'JSON path of the selector string, below .status or .spec.', { pointer: true })
  })

export type CustomResourceSubresources = Static<typeof CustomResourceSubresources>
export const CustomResourceSubresources = message('CustomResourceSubresources', 'Subresources of a custom resource.', {
  status: one(1, 'Turns on the status subresource.', CustomResourceSubresourceStatus, { pointer: true }),
  scale: one(2, 'Turns on the scale subresource.', CustomResourceSubresourceScale, { pointer: true })
})

export type SelectableField = Static<typeof SelectableField>
export const SelectableField =
  message('SelectableField', 'A field of a custom resource that field selectors may name.', {
    jsonPath: string(1, 'Path of a string, boolean or integer in the object, such as .spec.color.', { required: true })
  })

export type CustomResourceDefinitionVersion = Static<typeof CustomResourceDefinitionVersion>
export const CustomResourceDefinitionVersion =
  message('CustomResourceDefinitionVersion', 'A version of a custom resource.', {
    name: string(1, 'Name of the version, such as v1 or v2beta1.', { required: true }),
    served: bool(2, 'Whether the version is served.', { required: true }),
    storage: bool(3, 'Whether objects are stored in this version; true for just one.', { required: true }),
    deprecated: bool(7, 'Whether use of the version earns a warning.'),
    deprecationWarning: string(8, 'Warning that is sent, in place of the usual one.', { pointer: true }),
    schema: one(4, 'Schema objects are checked and pruned with.', CustomResourceValidation, { pointer: true }),
    subresources: one(5, 'Subresources of the version.', CustomResourceSubresources, { pointer: true }),
    additionalPrinterColumns: list(6, 'Columns of tables; by default the age alone.', CustomResourceColumnDefinition),
    selectableFields: list(9, 'Fields that field selectors may name, at most 8.', SelectableField, {
      listType: 'atomic', gate: SELECTABLE_GATE, since: '1.30'
    })
  })

export type CustomResourceDefinitionSpec = Static<typeof CustomResourceDefinitionSpec>
export const CustomResourceDefinitionSpec =
  message('CustomResourceDefinitionSpec', 'Names, scope and versions of a custom resource.', {
    group: string(1, 'API group of the resource; the definition is named plural.group.', {
      required: true, immutable: 'ruled'
    }),
    names: one(3, 'Names of the resource and its kind.', CustomResourceDefinitionNames, { required: true }),
    scope: string(4, 'Whether objects are Cluster or Namespaced.', {
      required: true, immutable: 'ruled', values: ['Cluster', 'Namespaced']
    }),
    versions: list(
      7, 'Versions of the resource, of which one is stored.', CustomResourceDefinitionVersion, { required: true }
    ),
    conversion: one(9, 'How objects are converted between versions; by default not at all.', CustomResourceConversion, {
      pointer: true, default: { strategy: 'None' }
    }),
    preserveUnknownFields: bool(10, 'Deprecated: whether unknown fields are kept; use x-orch-preserve-unknown-fields.')
  }, {
    defaults: ({ names }) => {
      if (!names.singular) names.singular = names.kind.toLowerCase()
      if (!names.listKind && names.kind !== '') names.listKind = `${names.kind}List`
    }
  })

/** Of fields that controllers other than this server write. */
const OBSERVED = { gate: 'CRDObservedGenerationTracking', since: '1.35' } as const

export type CustomResourceDefinitionCondition = Static<typeof CustomResourceDefinitionCondition>
export const CustomResourceDefinitionCondition =
  message('CustomResourceDefinitionCondition', 'A finding about a custom resource definition.', {
    type: string(1, 'Type of the condition, such as Established, NamesAccepted or Terminating.', {
      required: true, mayBeEmpty: true,
      values: [
        'Established', 'NamesAccepted', 'NonStructuralSchema', 'Terminating', 'KubernetesAPIApprovalPolicyConformant'
      ]
    }),
    status: string(2, 'Whether it holds: True, False or Unknown.', {
      required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
    }),
    lastTransitionTime: one(3, 'When status last changed.', Time),
    reason: string(4, 'One word for a machine.'),
    message: string(5, 'A sentence for a person.'),
    observedGeneration: int64(6, 'Generation of the spec that the condition is about.', OBSERVED)
  })

export type CustomResourceDefinitionStatus = Static<typeof CustomResourceDefinitionStatus>
export const CustomResourceDefinitionStatus =
  message('CustomResourceDefinitionStatus', 'What is observed of a custom resource definition.', {
    conditions:
      list(1, 'What was found about the definition, such as Established.', CustomResourceDefinitionCondition, {
        written: true, listType: 'map', listMapKeys: ['type']
      }),
    acceptedNames: one(
      2, 'Names under which the resource is served.', CustomResourceDefinitionNames, { written: true }
    ),
    storedVersions: list(3, 'Versions in which objects were ever stored.', 'string', { written: true }),
    observedGeneration: int64(4, 'Generation of the spec that a controller last acted on.', OBSERVED)
  })

export type CustomResourceDefinition = Static<typeof CustomResourceDefinition>
export const CustomResourceDefinition =
  kind('CustomResourceDefinition', 'Defines a resource that the API server then serves.', {
    metadata,
    spec: one(2, 'Names, scope and versions of the resource.', CustomResourceDefinitionSpec, {
      required: true, ruled: true
    }),
    status: one(3, 'What is observed of the definition; written by the system.', CustomResourceDefinitionStatus)
  }, {
    defaults: ({ spec, status }) => {
      const stored = storedVersion(spec)
      if ((status.storedVersions ?? []).length === 0 && stored !== undefined) status.storedVersions = [stored]
    }
  })

const storedVersion = ({ versions = [] }: CustomResourceDefinitionSpec): string | undefined =>
  versions.find(({ storage }) => storage)?.name

/** Adds the storage version to storedVersions. */
function prepareForUpdate ({ spec, status }: CustomResourceDefinition): void {
  const stored = storedVersion(spec)
  const before = status.storedVersions ?? []
  if (stored !== undefined && !before.includes(stored)) status.storedVersions = [...before, stored]
}

const dropsRules = (old: CustomResourceDefinition | undefined, gates: Gates): boolean =>
  !areRulesOn(gates) && (old === undefined || !hasRules(old.spec))

const hasSelectable = ({ versions = [] }: CustomResourceDefinitionSpec): boolean =>
  versions.some(({ selectableFields = [] }) => selectableFields.length > 0)

/** Warnings about formats that nothing checks, and that the old definition lacked. */
function unknownFormats (spec: CustomResourceDefinitionSpec, old?: CustomResourceDefinitionSpec): string[] {
  const formats = (of: CustomResourceDefinitionSpec): Set<string> => {
    const unknownFormats = new Set<string>()
    for (const schema of schemasOf(of)) {
      eachSchema(schema, ({ format = '', type = '' }) => {
        if (format !== '' && !isKnownFormat(format, type)) unknownFormats.add(format)
      })
    }
    return unknownFormats
  }
  const before = old === undefined ? undefined : formats(old)
  return [...formats(spec)].filter(format => before?.has(format) !== true)
    .map(format => `unrecognized format ${JSON.stringify(format)}`)
}

const dropped = (what: string, gate: string): string =>
  `spec.versions: ${what} are not kept, as the feature gate ${gate} is off`

export const customResourceDefinitions = resource(CustomResourceDefinition, {
  plural: 'customresourcedefinitions',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  notOnUpdate: ['generateName'],
  namespaced: false,
  anyFinalizer: true,
  subresources: [
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes:
        ['status'], keepsMetadata: OWN_METADATA, validateUpdate: (definition, _old, report) => {
        validateGivenNames(
          (definition as CustomResourceDefinition).status.acceptedNames, 'status.acceptedNames', report
        )
      }
    }
  ],
  unconditionalUpdate: false,
  storagePrefix: 'apiextensions.orch.io/customresourcedefinitions',
  generation: ({ spec }) => spec,
  rules: {
    inSteps: (definition, old, report, subresource, gates) =>
      subresource === '' ? validateDefinition(definition, old, report, gates) : undefined
  },
  strategy: {
    beginDelete: beginCleanup,
    dropGated: ({ spec }, old, gates) => { if (dropsRules(old, gates)) withoutRules(spec) },
    notKept: ({ spec }, old, gates) => [
      ...dropsRules(old, gates) && hasRules(spec) ? [dropped('x-orch-validations', RULES_GATE)] : [],
      ...!gates.enabled(SELECTABLE_GATE) && hasSelectable(spec) && (old === undefined || !hasSelectable(old.spec))
        ? [dropped('selectableFields', SELECTABLE_GATE)]
        : []
    ],
    warnings: ({ spec }, old, gates) =>
      gates?.enabled('DefinitionFormatsAreWarnedOf') === true ? unknownFormats(spec, old?.spec) : [],
    prepareForUpdate: (definition, _old, subresource) => { if (subresource === '') prepareForUpdate(definition) }
  }
})
