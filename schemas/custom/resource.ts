/**
 * The resource type of a CustomResourceDefinition: the same kind of value as a built-in one. The storage version is
 * stored; with strategy None, objects of the others are converted by their schemas alone: pruned, and given the
 * defaults of the version.
 */
import type {
  CustomResourceDefinition, CustomResourceDefinitionVersion
} from '../api/apiextensions/customresourcedefinitions.js'
import type { JSONSchemaProps } from '../api/apiextensions/schemas.js'
import { areRulesOn, RATCHETS_GATE } from '../api/apiextensions/rules/expressions.js'
import { SELECTABLE_GATE } from '../api/apiextensions/rules/selectable-fields.js'
import { UNBOUNDED } from '../codec/json/parse.js'
import { DEFAULT_GATES, type Gates } from '../gates.js'
import { apiVersionOf, byStage } from '../groups.js'
import { decode } from '../language/decode.js'
import { Facts, type Message } from '../language/types.js'
import { OWN_METADATA } from '../meta/status-metadata.js'
import type { ApiObject } from '../meta/api-object.js'
import { EVERY_VERB, type Subresource } from '../subresource.js'
import type { VersionRules } from '../strategy.js'
import {
  resource, type Deprecation, type OtherRepresentation, type Representation, type ResourceType
} from '../resource.js'
import { customColumns } from './columns.js'
import { declareKind } from './declaration.js'
import { customRules, type RuleGates, type RuleObserver } from './rules.js'
import { customScale, validateScale } from './scale.js'
import { SelectableFields } from './selectable-fields.js'
import { finalizerWarnings } from '../meta/metadata-rules.js'

const EVERYTHING: JSONSchemaProps = { 'x-orch-preserve-unknown-fields': true }
const OF_CLOSING = EVERY_VERB.filter(verb => verb !== 'create')

interface Version {
  readonly message: Message<ApiObject>
  readonly rules: Required<Pick<VersionRules, 'inSteps'>>
  readonly deprecation?: Deprecation
  readonly columns: ReturnType<typeof customColumns>
  readonly subresources: readonly Subresource[]
  readonly selectableFields: NonNullable<Representation['selectableFields']>
}

/**
 * The types of a definition whose names are accepted, that of the storage version first; none if no version is stored.
 * One type with all versions, served or not, or with conversion by a webhook a type for each version.
 */
export function customResources (
  definition: CustomResourceDefinition, gates: Gates = DEFAULT_GATES, observer?: RuleObserver
): ResourceType[] {
  const { spec: { versions = [], conversion } } = definition
  const storage = versions.find(({ storage }) => storage)
  if (storage === undefined) return []
  const others = versions.filter(version => version !== storage)
  if (conversion?.strategy !== 'Webhook') return [customResource(definition, [storage, ...others], gates, observer)]
  return [storage, ...others].map(version => customResource(definition, [version], gates, observer))
}

function customResource (
  { metadata, spec, status }: CustomResourceDefinition,
  [storage, ...others]: readonly [CustomResourceDefinitionVersion, ...CustomResourceDefinitionVersion[]], gates: Gates,
  observer: RuleObserver | undefined
): ResourceType {
  const { plural, singular, kind, listKind, shortNames, categories } = status.acceptedNames ?? spec.names
  const selectable = new SelectableFields()
  const version = (declared: CustomResourceDefinitionVersion): Version => {
    const { name, selectableFields = [] } = declared
    const fields = gates.enabled(SELECTABLE_GATE) ? selectableFields : []
    return {
      ...versionOf({ group: spec.group, kind }, declared, {
        evaluates: areRulesOn(gates), ratchets: gates.enabled(RATCHETS_GATE),
        later: gates.enabled('DefinitionFormatsHaveRanges')
      }, observer),
      ...deprecationOf(spec, kind, declared),
      selectableFields: selectable.of(fields, {
        apiVersion: apiVersionOf(spec.group, name), kind
      })
    }
  }
  const stored = version(storage)
  return resource(stored.message, {
    plural,
    ...(singular === undefined ? {} : { singular }),
    ...(listKind === undefined ? {} : { listKind }),
    shortNames: shortNames ?? [],
    categories: categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    protobuf: false,
    // the storage version may have changed
    ...(spec.conversion?.strategy === 'Webhook' ? {} : { anyStoredVersion: true }),
    anyFinalizer: true,
    strategy: { warnings: finalizerWarnings },
    notOnUpdate: ['generateName'],
    unconditionalUpdate: false,
    storagePrefix: `${spec.group}/${plural}`,
    generation: ({ metadata: _metadata, kind: _kind, apiVersion: _version, ...desired }) => desired,
    countsEmpty: true,
    ...(metadata.deletionTimestamp === undefined
      ? {}
      : { closing: true, ...(gates.enabled('DefinitionForbidsCreates') ? {} : { verbs: OF_CLOSING }) }),
    ...stored,
    others: others.map(other => convertedBy(stored.message, version(other)))
  })
}

/** Without a warning of its own, a deprecated version names the newest that is served, comes later and is not. */
function deprecationOf (
  { group, versions = [] }: CustomResourceDefinition['spec'], kind: string,
  { name, deprecated, deprecationWarning }: CustomResourceDefinitionVersion
): Pick<Version, 'deprecation'> {
  if (deprecated !== true) return {}
  const [better] = versions.filter(other => other.served && other.deprecated !== true && byStage(other.name, name) < 0)
    .map(other => other.name).sort(byStage)
  const instead = better === undefined ? '' : `; use ${apiVersionOf(group, better)} ${kind}`
  const warning = deprecationWarning ?? `${apiVersionOf(group, name)} ${kind} is deprecated${instead}`
  return { deprecation: { deprecated: '', warning } }
}

function versionOf (
  { group, kind }: { readonly group: string, readonly kind: string }, version: CustomResourceDefinitionVersion,
  gates: RuleGates, observer: RuleObserver | undefined
): Omit<Version, 'selectableFields'> {
  const { name, schema, subresources, additionalPrinterColumns } = version
  const declared = schema?.openAPIV3Schema ?? EVERYTHING
  const { status, scale } = subresources ?? {}
  const { validate } = customRules(declared, gates, observer)
  return {
    message: declareKind({ group, version: name, kind }, declared),
    rules: {
      inSteps: function * (object, old, report, subresource) {
        yield * validate(object, old, report, subresource)
        if (scale !== undefined) validateScale(scale, object, report)
      }
    },
    columns: customColumns(additionalPrinterColumns),
    subresources: [
      ...(status === undefined
        ? []
        : [{
            name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], keepsMetadata: OWN_METADATA
          } as const]),
      ...(scale === undefined ? [] : [customScale(scale)])
    ]
  }
}

/**
 * Another version of the same objects. As upstream, readers see the defaults of the stored version alone. Rules of this
 * version see its own form: what is written has its defaults, what was stored those of the stored version.
 */
function convertedBy (stored: Message<ApiObject>, { rules, ...version }: Version): OtherRepresentation<ApiObject> {
  const fromStored = pruned(version.message)
  return {
    ...version,
    toStored: pruned(stored),
    fromStored,
    unpruned: object => ({ ...object, ...typeOf(stored) }),
    rules: {
      inSteps: (object, old, ...rest) =>
        rules.inSteps(fromStored(object), old === undefined ? undefined : fromStored(old), ...rest)
    }
  }
}

/** Converts objects of any version by the schema of one. */
function pruned (message: Message<ApiObject>): (object: ApiObject) => ApiObject {
  return ({ kind: _kind, apiVersion: _version, ...members }) => decode(message, members, UNBOUNDED).object
}

function typeOf ({ [Facts]: { type } }: Message): { kind: string, apiVersion: string } {
  const { kind = '', apiVersion = '' } = type ?? {}
  return { kind, apiVersion }
}
