/**
 * Validation of CustomResourceDefinitions. What all versions share is validated once, in the spec
 * (`top-level-form.ts`).
 */
import type { Gates } from '../../../gates.js'
import type { Report } from '../../../language/declare.js'
import type { Steps } from '../../../steps.js'
import { sameValue } from '../../../language/values.js'
import { dns1035Label, dnsSubdomain } from '../../../names.js'
import { invalid, notSupported, required } from '../../../rules/findings.js'
import { validateApproval } from './approval.js'
import { validateConversion } from './conversion.js'
import { areRulesOn } from './expressions.js'
import { validateGivenNames, validateOne } from './names.js'
import { anyStatus, withStatus, topLevelForm, type TopLevelForm } from '../top-level-form.js'
import { validateValidation } from './openapi.js'
import { Patterns } from '../patterns.js'
import { ratchetsOf, type Ratchets } from './ratchets.js'
import { schemasOf, someSchema } from './schema-walk.js'
import { validateSelectableFields } from './selectable-fields.js'
import { validateColumns, validateSubresources, validateWarning } from './versions.js'
import type { CustomResourceDefinition, CustomResourceDefinitionSpec } from '../customresourcedefinitions.js'

/** Runs in steps, because each pass over a large schema takes milliseconds. @param old undefined on create */
export function * validateDefinition (
  definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined, report: Report, gates: Gates
): Steps<void> {
  const { metadata, spec, status } = definition
  if (old === undefined) {
    for (const field of ['generateName', 'name'] as const) {
      const name = metadata[field] ?? ''
      if (name !== '' && name !== `${spec.names.plural}.${spec.group}`) {
        invalid(report, `metadata.${field}`, name, 'must be spec.names.plural+"."+spec.group')
      }
    }
  }
  const ratchets = {
    ...ratchetsOf(spec, old?.spec), rules: areRulesOn(gates), later: gates.enabled('DefinitionFormatsHaveRanges')
  }
  yield
  yield * validateSpec(spec, ratchets, report)
  yield
  if (old !== undefined) validateFixed(spec, old, report)
  validateGivenNames(status.acceptedNames, 'status.acceptedNames', report)
  // Versions that status lists by mistake must not keep a definition from going.
  if (definition.metadata.deletionTimestamp === undefined) validateStored(definition, report)
  validateApproval(definition, old, report, gates)
  if (spec.preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true) {
    invalid(
      report, 'spec.preserveUnknownFields', true,
      'cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead'
    )
  }
}

function * validateSpec (spec: CustomResourceDefinitionSpec, ratchets: Ratchets, report: Report): Steps<void> {
  const { group, names, scope } = spec
  if (group === '') required(report, 'spec.group')
  else if (!validateOne(dnsSubdomain, group, 'spec.group', report) && !group.includes('.')) {
    invalid(report, 'spec.group', group, 'should be a domain with at least one dot')
  }
  if (scope === '') required(report, 'spec.scope')
  else if (!['Cluster', 'Namespaced'].includes(scope)) {
    notSupported(report, 'spec.scope', scope, ['Cluster', 'Namespaced'])
  }
  validateSchemasThere(spec, ratchets, report)
  if (spec.preserveUnknownFields === true &&
    schemasOf(spec).some(schema => someSchema(schema, part => part.default !== undefined))) {
    invalid(report, 'spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema')
  }
  const [lifted, patterns] = [topLevelForm(spec), new Patterns()]
  yield
  yield * validateVersions(lifted, ratchets, patterns, report)
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if ((names[field] ?? '') === '') required(report, `spec.names.${field}`)
  }
  validateGivenNames(names, 'spec.names', report)
  yield * validateLifted(lifted, ratchets, patterns, report)
  validateConversions(spec, ratchets, report)
}

/** Every version needs a schema. If a stored version has none, only served versions do. */
function validateSchemasThere (
  { versions = [], preserveUnknownFields }: CustomResourceDefinitionSpec, ratchets: Ratchets, report: Report
): void {
  for (const [index, { served, schema }] of versions.entries()) {
    if (schema?.openAPIV3Schema !== undefined) continue
    const at = `spec.versions[${index}].schema.openAPIV3Schema`
    if (ratchets.schemas) required(report, at, 'schemas are required')
    else if (served && preserveUnknownFields !== true) required(report, at, 'because otherwise all fields are pruned')
  }
}

function * validateVersions (
  lifted: TopLevelForm, ratchets: Ratchets, patterns: Patterns, report: Report
): Steps<void> {
  const statuses = withStatus(lifted)
  for (const [index, version] of lifted.versions.entries()) {
    const { name, deprecated, deprecationWarning, schema, subresources, columns = [], selectable = [] } = version
    const at = `spec.versions[${index}]`
    validateOne(dns1035Label, name, `${at}.name`, report)
    validateWarning(deprecated === true, deprecationWarning, `${at}.deprecationWarning`, report)
    yield * validateValidation(schema, statuses.has(name), `${at}.schema`, ratchets, patterns, report)
    validateSubresources(subresources, `${at}.subresources`, report)
    validateColumns(columns, ratchets.columns(name), `${at}.additionalPrinterColumns`, report)
    validateSelectableFields(selectable, schema?.openAPIV3Schema, {
      at: `${at}.selectableFields`, mayBeMany: ratchets.selectable(name, selectable)
    }, report)
  }
  const names = lifted.versions.map(({ name }) => name)
  if (new Set(names).size < names.length) invalid(report, 'spec.versions', names, 'must contain unique version names')
  if (lifted.versions.filter(({ storage }) => storage).length !== 1) {
    invalid(report, 'spec.versions', names, 'must have exactly one version marked as storage version')
  }
  // As upstream, `spec.version` is the first version.
  const [first = ''] = names
  if (first !== '') validateOne(dns1035Label, first, 'spec.version', report)
}

/** Validates what all versions share. */
function * validateLifted (lifted: TopLevelForm, ratchets: Ratchets, patterns: Patterns, report: Report): Steps<void> {
  yield * validateValidation(lifted.schema, anyStatus(lifted), 'spec.validation', ratchets, patterns, report)
  validateSubresources(lifted.subresources, 'spec.subresources', report)
  const most = Math.min(...lifted.versions.map(({ name }) => ratchets.columns(name)))
  validateColumns(lifted.columns ?? [], most, 'spec.additionalPrinterColumns', report)
  const { selectable = [], schema } = lifted
  validateSelectableFields(selectable, schema?.openAPIV3Schema, {
    at: 'spec.selectableFields', mayBeMany: lifted.versions.every(({ name }) => ratchets.selectable(name, selectable))
  }, report)
}

function validateConversions (
  { conversion, preserveUnknownFields }: CustomResourceDefinitionSpec, ratchets: Ratchets, report: Report
): void {
  if (conversion !== undefined && conversion.strategy !== 'None' && preserveUnknownFields === true) {
    invalid(
      report, 'spec.conversion.strategy', conversion.strategy, 'must be None if spec.preserveUnknownFields is true'
    )
  }
  validateConversion(conversion, 'spec.conversion', ratchets, report)
}

/** Group and plural are immutable; scope and kind are once the definition is established, because objects may exist. */
function validateFixed (
  { scope, group, names }: CustomResourceDefinitionSpec, { spec: old, status }: CustomResourceDefinition, report: Report
): void {
  const fixed = (field: string, value: unknown, before: unknown): void => {
    if (!sameValue(value, before)) invalid(report, field, value, 'field is immutable')
  }
  if ((status.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True')) {
    fixed('spec.scope', scope, old.scope)
    fixed('spec.names.kind', names.kind, old.names.kind)
  }
  fixed('spec.group', group, old.group)
  fixed('spec.names.plural', names.plural, old.names.plural)
}

/** No version in which objects may be stored can be removed. */
function validateStored (
  { spec: { versions = [] }, status: { storedVersions = [] } }: CustomResourceDefinition, report: Report
): void {
  const at = 'status.storedVersions'
  if (storedVersions.length === 0) return invalid(report, at, [], 'must have at least one stored version')
  for (const { name, storage } of versions) {
    if (storage && !storedVersions.includes(name)) {
      invalid(report, at, storedVersions, `must have the storage version ${name}`)
    }
  }
  const names = new Set(versions.map(({ name }) => name))
  for (const [index, stored] of storedVersions.entries()) {
    if (!names.has(stored) && storedVersions.lastIndexOf(stored) === index) {
      invalid(report, `${at}[${index}]`, stored, 'must appear in spec.versions')
    }
  }
}
