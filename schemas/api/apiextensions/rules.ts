/**
 * What a CustomResourceDefinition has to keep to: its names, its versions and how they are converted, and that its schemas are
 * structural. What is not supported of them yet is refused where types are made of them.
 */
import type { Report } from '../../language/declare.js'
import { collect } from '../../language/validation.js'
import { sameValue } from '../../language/values.js'
import { dns1035Label, dnsSubdomain } from '../../names.js'
import type { NameRule } from '../../names.js'
import { validateConversion } from './conversion-rules.js'
import { validateSchema } from './schema-rules.js'
import { validateStructural } from './structural-rules.js'
import type { CustomResourceDefinition, CustomResourceDefinitionNames, CustomResourceDefinitionSpec } from './customresourcedefinitions.js'

export function validateSpec (spec: CustomResourceDefinitionSpec, at: string, report: Report): void {
  const { group, names, scope, versions = [], preserveUnknownFields } = spec
  if (group !== '') {
    named(dnsSubdomain, group, `${at}.group`, report)
    if (!group.includes('.')) report({ type: 'FieldValueInvalid', field: `${at}.group`, value: group, detail: 'should be a domain with at least one dot' })
  }
  supported(['Cluster', 'Namespaced'], scope, `${at}.scope`, report)
  validateVersions(versions, `${at}.versions`, report)
  validateNames(names, `${at}.names`, report)
  validateConversion(spec.conversion, `${at}.conversion`, report)
  if (preserveUnknownFields === true) {
    report({ type: 'FieldValueInvalid', field: `${at}.preserveUnknownFields`, value: true, detail: 'must be false; set x-orch-preserve-unknown-fields in the schema instead' })
  }
}

function named (rule: NameRule, value: string, field: string, report: Report): void {
  for (const detail of rule(value)) report({ type: 'FieldValueInvalid', field, value, detail })
}

/** An empty one is reported as required. */
function supported (values: readonly string[], value: string, field: string, report: Report): void {
  if (value !== '' && !values.includes(value)) report({ type: 'FieldValueNotSupported', field, value, detail: `supported values: ${values.map(one => JSON.stringify(one)).join(', ')}` })
}

/** Of the spec: those of the status are empty until they are accepted. */
function validateNames (names: CustomResourceDefinitionNames, at: string, report: Report): void {
  for (const field of ['plural', 'kind'] as const) if (names[field] === '') report({ type: 'FieldValueRequired', field: `${at}.${field}`, detail: '' })
  validateGivenNames(names, at, report)
}

/** Names as far as there are any. */
export function validateGivenNames ({ plural, singular = '', kind, listKind = '', shortNames = [], categories = [] }: CustomResourceDefinitionNames, at: string, report: Report): void {
  if (plural !== '') named(dns1035Label, plural, `${at}.plural`, report)
  if (singular !== '') named(dns1035Label, singular, `${at}.singular`, report)
  if (kind !== '') named(mixedCase, kind, `${at}.kind`, report)
  if (listKind !== '') named(mixedCase, listKind, `${at}.listKind`, report)
  if (kind !== '' && kind === listKind) report({ type: 'FieldValueInvalid', field: `${at}.listKind`, value: listKind, detail: 'kind and listKind may not be the same' })
  shortNames.forEach((name, index) => named(dns1035Label, name, `${at}.shortNames[${index}]`, report))
  categories.forEach((name, index) => named(dns1035Label, name, `${at}.categories[${index}]`, report))
}

const mixedCase: NameRule = name => dns1035Label(name.toLowerCase()).map(why => `may have mixed case, but should otherwise match: ${why}`)

function validateVersions (versions: NonNullable<CustomResourceDefinitionSpec['versions']>, at: string, report: Report): void {
  const known = new Set<string>()
  versions.forEach(({ name, schema }, index) => {
    const field = `${at}[${index}]`
    if (name !== '') named(dns1035Label, name, `${field}.name`, report)
    known.add(name)
    if (schema?.openAPIV3Schema === undefined) report({ type: 'FieldValueRequired', field: `${field}.schema.openAPIV3Schema`, detail: 'schemas are required' })
  })
  const names = versions.map(({ name }) => name)
  if (known.size < names.length) report({ type: 'FieldValueInvalid', field: at, value: names, detail: 'must contain unique version names' })
  if (versions.filter(({ storage }) => storage).length !== 1) {
    report({ type: 'FieldValueInvalid', field: at, value: names, detail: 'must have exactly one version marked as storage version' })
  }
}

/** The name of a new one says what it defines. */
export function validateDefinedName ({ metadata: { name = '' }, spec: { group, names: { plural } } }: CustomResourceDefinition, report: Report): void {
  if (name !== '' && name !== `${plural}.${group}`) {
    report({ type: 'FieldValueInvalid', field: 'metadata.name', value: name, detail: 'must be spec.names.plural+"."+spec.group' })
  }
}

/** Schemas of new definitions, and those an update changes: what was stored before may stay. */
export function validateSchemas ({ spec: { versions = [] } }: CustomResourceDefinition, old: CustomResourceDefinition | undefined, report: Report): void {
  for (const [index, { name, schema }] of versions.entries()) {
    const wanted = schema?.openAPIV3Schema
    const before = old?.spec.versions?.find(version => version.name === name)?.schema?.openAPIV3Schema
    if (wanted === undefined || (before !== undefined && sameValue(wanted, before))) continue
    const at = `spec.versions[${index}].schema.openAPIV3Schema`
    if (wanted.nullable === true) report({ type: 'FieldValueForbidden', field: `${at}.nullable`, detail: 'nullable cannot be true at the root' })
    const found = collect(each => { validateSchema(wanted, at, each) })
    found.forEach(report)
    // With keywords nobody follows there is nothing to be structural.
    if (!found.some(({ detail }) => detail.endsWith(' is not supported') || detail.startsWith('items must be'))) validateStructural(wanted, at, report)
  }
}

/** The stored versions are versions. */
export function validateDefinition ({ spec: { versions = [] }, status }: CustomResourceDefinition, report: Report): void {
  const names = new Set(versions.map(({ name }) => name))
  for (const [index, stored] of (status.storedVersions ?? []).entries()) {
    if (!names.has(stored)) report({ type: 'FieldValueInvalid', field: `status.storedVersions[${index}]`, value: stored, detail: 'must appear in spec.versions' })
  }
}

/** Once it is served, a type keeps what its objects and their URLs were made with. */
export function validateEstablished ({ spec }: CustomResourceDefinition, { spec: old, status }: CustomResourceDefinition, report: Report): void {
  if (!(status.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True')) return
  const fixed = (field: string, value: unknown, before: unknown): void => {
    if (!sameValue(value, before)) report({ type: 'FieldValueInvalid', field, value, detail: 'field is immutable' })
  }
  fixed('spec.scope', spec.scope, old.scope)
  fixed('spec.names.kind', spec.names.kind, old.names.kind)
}
