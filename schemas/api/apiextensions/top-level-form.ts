/**
 * A definition in the form that is validated. As upstream, a schema, subresources or columns that all versions share
 * are validated once, with paths in the spec: `spec.validation`, `spec.subresources`, `spec.additionalPrinterColumns`;
 * and so are selectable fields, with a schema that all share: `spec.selectableFields`.
 */
import { sameValueAndPresence, sameValue } from '../../language/values.js'
import type {
  CustomResourceColumnDefinition, CustomResourceDefinitionSpec, CustomResourceDefinitionVersion,
  CustomResourceSubresources, CustomResourceValidation, SelectableField
} from './customresourcedefinitions.js'

type Shared = 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'
type Version = Omit<CustomResourceDefinitionVersion, Shared>
interface Settings {
  readonly schema?: CustomResourceValidation | undefined
  readonly subresources?: CustomResourceSubresources | undefined
  readonly columns?: readonly CustomResourceColumnDefinition[] | undefined
  readonly selectable?: readonly SelectableField[] | undefined
}

export interface TopLevelForm extends Settings {
  readonly versions: ReadonlyArray<Version & Settings>
}

const sameSchema = (a: CustomResourceValidation | undefined, b: CustomResourceValidation | undefined): boolean =>
  sameValueAndPresence(a, b) && sameValueAndPresence(a?.openAPIV3Schema, b?.openAPIV3Schema)
const sameSubresources = (
  a: CustomResourceSubresources | undefined, b: CustomResourceSubresources | undefined
): boolean =>
  sameValueAndPresence(a, b) && sameValueAndPresence(a?.status, b?.status) && sameValueAndPresence(a?.scale, b?.scale)

export function topLevelForm ({ versions = [] }: CustomResourceDefinitionSpec): TopLevelForm {
  const [first] = versions
  if (first === undefined) return { versions: [] }
  const { schema, subresources, additionalPrinterColumns: columns, selectableFields: selectable } = first
  const oneSchema = versions.every(other => sameSchema(other.schema, schema))
  const all = {
    schema: oneSchema,
    subresources: versions.every(other => sameSubresources(other.subresources, subresources)),
    columns: versions.every(other => sameValue(other.additionalPrinterColumns, columns)),
    selectable: oneSchema && versions.every(other => sameValue(other.selectableFields, selectable))
  }
  return {
    ...all.schema ? { schema } : {},
    ...all.subresources ? { subresources } : {},
    ...all.columns ? { columns } : {},
    ...all.selectable ? { selectable } : {},
    versions: versions.map(({
      schema, subresources, additionalPrinterColumns: columns, selectableFields: selectable, ...version
    }) => ({
      ...version,
      ...all.schema ? {} : { schema },
      ...all.subresources ? {} : { subresources },
      ...all.columns ? {} : { columns },
      ...all.selectable ? {} : { selectable }
    }))
  }
}

const hasStatus = (subresources: CustomResourceSubresources | undefined): boolean => subresources?.status !== undefined

/** Whether any version has the status subresource. */
export const anyStatus = ({ subresources, versions }: TopLevelForm): boolean => hasStatus(subresources) ||
  versions.some(version => hasStatus(version.subresources))

/** Names of the versions with the status subresource. If a name occurs twice, its first version counts. */
export function withStatus ({ subresources, versions }: TopLevelForm): ReadonlySet<string> {
  const own = versions.some(version => version.subresources !== undefined)
  const [seen, names] = [new Set<string>(), new Set<string>()]
  for (const version of versions) {
    if (!seen.has(version.name) && hasStatus(own ? version.subresources : subresources)) names.add(version.name)
    seen.add(version.name)
  }
  return names
}
