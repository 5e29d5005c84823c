/**
 * Ratcheting: an update may violate a newer rule if the stored definition already does. `Ratchets` says which of these
 * rules apply.
 */
import { collect } from '../../../language/validation.js'
import { sameValue } from '../../../language/values.js'
import { REVIEWS } from '../../admissionregistration/rules/webhooks.js'
import { eachSchema, schemasOf, someSchema } from './schema-walk.js'
import { caBundleFinding } from './ca-bundle.js'
import { TYPES, type JSONSchemaProps as Schema } from '../schemas.js'
import { validateAtomicMembers, validateItemsPresent } from './schema-lists.js'
import { isConvertible, validateStructural } from './structural.js'
import { hasUnprunedDefault } from '../pruning.js'
import { Patterns } from '../patterns.js'
import type {
  CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, SelectableField
} from '../customresourcedefinitions.js'

export interface Ratchets {
  /** Every version has a schema, served or not. */
  readonly schemas: boolean
  readonly knownTypes: boolean
  readonly structural: boolean
  readonly prunedDefaults: boolean
  readonly atomicSets: boolean
  readonly keysPresent: boolean
  /** The webhook supports a known version of conversion reviews. */
  readonly knownReviews: boolean
  /** The certificates of the webhook are some. New definitions may have others: they are not served. */
  readonly caBundle: boolean
  /** Maximum number of columns of a version. */
  readonly columns: (version: string) => number
  /** The version had the same selectable fields, however many. */
  readonly selectable: (version: string, fields: readonly SelectableField[]) => boolean
  /** The stored definition has the same schema in some version. */
  readonly isKept: (schema: Schema) => boolean
  /** CEL rules compile, and their cost is bounded. */
  readonly rules: boolean
  /** Defaults are checked as objects of 1.36 are. */
  readonly later: boolean
}

type OfGates = 'rules' | 'later'

/** Each costs its part of every row of a table. */
const MAX_COLUMNS = 200

const ALL: Omit<Ratchets, OfGates> = {
  columns: () => MAX_COLUMNS,
  selectable: () => false,
  isKept: () => false,
  schemas: true,
  knownTypes: true,
  structural: true,
  prunedDefaults: true,
  atomicSets: true,
  keysPresent: true,
  knownReviews: true,
  caBundle: false
}

function isStructural (schema: Schema): boolean {
  return isConvertible(schema) &&
    collect(report => { validateStructural(schema, '', new Patterns(0), report) }).length === 0
}

/** The rules for a new definition, or for one that replaces `old`. */
export function ratchetsOf (
  spec: CustomResourceDefinitionSpec, old: CustomResourceDefinitionSpec | undefined
): Omit<Ratchets, OfGates> {
  if (old === undefined) return ALL
  const schemas = schemasOf(old)
  const before = (version: string): Partial<CustomResourceDefinitionVersion> =>
    old.versions?.find(({ name }) => name === version) ?? {}
  const { conversionReviewVersions: reviews = [] } = old.conversion?.webhook ?? {}
  return {
    isKept: schema => schemas.some(known => sameValue(known, schema)),
    selectable: (version, fields) => sameValue(before(version).selectableFields, fields),
    columns: version => {
      const { additionalPrinterColumns = [] } = before(version)
      return Math.max(MAX_COLUMNS, additionalPrinterColumns.length)
    },
    schemas: schemas.length === (old.versions ?? []).length,
    structural: mustBeStructural(spec) || schemas.every(isStructural),
    caBundle: caBundleFinding(old.conversion) === undefined,
    knownReviews: reviews.length === 0 || reviews.some(version => REVIEWS.includes(version)),
    ...ratchetsOfParts(schemas),
    prunedDefaults: !schemas.some(schema => hasUnprunedDefault(schema) && isStructural(schema))
  }
}

function ratchetsOfParts (schemas: readonly Schema[]): Pick<Ratchets, 'knownTypes' | 'atomicSets' | 'keysPresent'> {
  const wrong = { types: false, sets: false, keys: false }
  for (const schema of schemas) {
    eachSchema(schema, part => {
      wrong.types ||= part.type !== undefined && part.type !== '' && !TYPES.includes(part.type)
      if (part['x-orch-list-type'] === undefined) return
      wrong.sets ||= collect(report => { validateAtomicMembers(part, '', report) }).length > 0
      wrong.keys ||= collect(report => { validateItemsPresent(part, '', report) }).length > 0
    })
  }
  return { knownTypes: !wrong.types, atomicSets: !wrong.sets, keysPresent: !wrong.keys }
}

/** Pruning, defaults and extensions need a structural schema. */
function mustBeStructural (spec: CustomResourceDefinitionSpec): boolean {
  return spec.preserveUnknownFields !== true || schemasOf(spec).some(schema => someSchema(schema, hasExtension))
}

const hasExtension = (part: Schema): boolean => part.default !== undefined ||
  part['x-orch-embedded-resource'] === true || part['x-orch-int-or-string'] === true ||
    part['x-orch-preserve-unknown-fields'] !== undefined ||
  part['x-orch-list-type'] !== undefined || (part['x-orch-list-map-keys'] ?? []).length > 0 ||
    (part['x-orch-validations'] ?? []).length > 0
