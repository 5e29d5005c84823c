/** Path items and operations in OpenAPI 3.0. */
import type { Plain } from '../language/types.js'
import type { Dialect, References } from './definitions.js'
import { extension } from './extensions.js'
import { parameterWriter, MEANINGS, pathItemOf, type Content, type Operation, type Route } from './operations.js'
import type { Parameter } from './parameters.js'
import { schemaOf } from './swagger.js'

export const OPENAPI3: Dialect = {
  prefix: '#/components/schemas/',
  // OpenAPI 3.0 ignores members beside $ref.
  refer: (reference, beside) => ({ allOf: [reference], ...beside }),
  special: openapi => openapi['format'] === 'int-or-string'
    ? { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] }
    : openapi,
  deprecated: { deprecated: true },
  swagger: false,
  nullable: { nullable: true }
}

const parameter = parameterWriter((described, type) => ({ ...described, schema: { type, uniqueItems: true } }))

export const pathItem3 = (route: Route, definitions: References): Plain =>
  pathItemOf(route, parameter, (source, own) => operation(source, own, definitions))

function operation (source: Operation, query: readonly Parameter[], definitions: References): Plain {
  const { id, description, tag, body, consumes, action, gvk, deprecated } = source
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(query.length > 0 ? { parameters: query.map(parameter) } : {}),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: media(consumes, body.content, definitions), ...(body.required ? { required: true } : {})
          }
        }),
    responses: responses(source, definitions),
    ...(deprecated === true ? { deprecated } : {}),
    ...(action === undefined ? {} : extension('action', action)),
    ...(gvk === undefined ? {} : extension('group-version-kind', gvk))
  }
}

function responses ({ answers, produces }: Operation, definitions: References): Plain {
  const described: Plain = {}
  for (const code in answers) {
    described[code] = { description: MEANINGS[code], content: media(produces, answers[code] as Content, definitions) }
  }
  described['401'] = { description: MEANINGS['401'] }
  return described
}

function media (types: readonly string[], content: Content, definitions: References): Plain {
  const schema = schemaOf(content, definitions)
  return Object.fromEntries(types.map(type => [type, { schema }]))
}
