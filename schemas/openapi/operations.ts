/** Paths and operations, independent of the document format. */
import type { Message, Plain } from '../language/types.js'
import { APPLY_TYPE, JSON_TYPE, patchTypesOf, PROTOBUF_TYPE, YAML_TYPE } from '../media-types.js'
import type { ResourceVerb } from '../subresource.js'
import type { Representation } from '../resource.js'
import type { GroupVersion } from './naming.js'
import { byName, type Parameter } from './parameters.js'

/** In document order. */
export const METHODS = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'] as const
export type Method = (typeof METHODS)[number]

export interface Gvk extends GroupVersion { readonly kind: string }

/** A body or response: a message, the list kind of a resource, or text. */
export type Content = Message | { readonly listOf: Representation } | 'text'

export interface Operation {
  readonly id: string
  readonly description: string
  readonly tag: string
  /** Sorted by name. */
  readonly query: readonly Parameter[]
  readonly body?: { readonly content: Message, readonly required: boolean }
  readonly consumes: readonly string[]
  readonly produces: readonly string[]
  readonly answers: Readonly<Record<string, Content>>
  /** For operations on resources. */
  readonly action?: string
  readonly gvk?: Gvk
  readonly deprecated?: boolean
}

export interface Route {
  readonly path: string
  /** Parameters of the path itself. */
  readonly scope: readonly Parameter[]
  readonly operations: Readonly<Partial<Record<Method, Operation>>>
}

/** The target of operations: a resource or subresource. */
export interface Part {
  readonly verbs: readonly ResourceVerb[]
  readonly namespaced: boolean
  readonly message: Message
  readonly gvk: Gvk
  /** Its name in descriptions. */
  readonly subject: string
  readonly suffix: string
}

export const ANYTHING = ['*/*']
/** Media types of discovery documents. */
export const DOCUMENTS = [JSON_TYPE, YAML_TYPE]

/* Shared constants, which the protobuf writer recognizes by identity. */
const FORMS = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE]
const STREAMED = [...FORMS, `${JSON_TYPE};stream=watch`, `${PROTOBUF_TYPE};stream=watch`]
const TEXT_FORMS = [JSON_TYPE, YAML_TYPE]
const TEXT_STREAMED = [...TEXT_FORMS, `${JSON_TYPE};stream=watch`]

export const formsOf = ({ protobuf }: Representation): readonly string[] => protobuf ? FORMS : TEXT_FORMS

/** Media types of a list or watch. */
export const streamedOf = ({ protobuf }: Representation): readonly string[] => protobuf ? STREAMED : TEXT_STREAMED

/** Media types of PATCH. */
export const patchBodiesOf = (resource: Representation): string[] => [...patchTypesOf(resource), APPLY_TYPE]

/** Descriptions of responses, by status code. */
export const MEANINGS: Readonly<Record<string, string>> = {
  200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized'
}

/** Separates the parameters that all operations of a path share from their own; both sorted by name. */
function placed ({ scope, operations }: Route): {
  readonly shared: Parameter[], readonly own: (operation: Operation) => Parameter[]
} {
  const [first = [], ...others] = Object.values(operations).map(({ query }) => query)
  const common = first.filter(parameter => others.every(query => query.includes(parameter)))
  return {
    shared: scope.length === 0 ? common : [...scope, ...common].sort(byName),
    own: ({ query }) => query.length === common.length ? [] : query.filter(parameter => !common.includes(parameter))
  }
}

/** Converts parameters, returning the same object for the same parameter. */
export function parameterWriter (
  write: (described: Plain, type: Parameter['type']) => Plain
): (source: Parameter) => Plain {
  const written = new Map<Parameter, Plain>()
  return source => {
    let parameter = written.get(source)
    if (parameter === undefined) {
      const { name, in: where, type, description } = source
      written.set(
        source,
        parameter = write({ name, in: where, description, ...(where === 'path' ? { required: true } : {}) }, type)
      )
    }
    return parameter
  }
}

/** A path item: each operation under its method, and the shared parameters. */
export function pathItemOf (
  route: Route, parameter: (source: Parameter) => Plain,
  written: (operation: Operation, own: readonly Parameter[]) => Plain
): Plain {
  const { shared, own } = placed(route)
  const operations = METHODS.flatMap(method => {
    const source = route.operations[method]
    return source === undefined ? [] : [[method, written(source, own(source))] as const]
  })
  return { ...Object.fromEntries(operations), ...(shared.length > 0 ? { parameters: shared.map(parameter) } : {}) }
}
