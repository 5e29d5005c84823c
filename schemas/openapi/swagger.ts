/** Path items and operations in Swagger 2.0. */
import type { Plain } from '../language/types.js'
import type { Dialect, References } from './definitions.js'
import { extension } from './extensions.js'
import { parameterWriter, MEANINGS, pathItemOf, type Content, type Operation, type Route } from './operations.js'
import type { Parameter } from './parameters.js'

export const SWAGGER: Dialect = {
  prefix: '#/definitions/',
  refer: (reference, beside) => ({ ...beside, ...reference }),
  special: openapi => openapi,
  deprecated: {},
  swagger: true,
  nullable: {}
}

const SCHEMES = ['https']
const UNAUTHORIZED = { description: MEANINGS['401'] }

const parameter = parameterWriter((described, type) => ({ ...described, type, uniqueItems: true }))

export const pathItem = (route: Route, definitions: References): Plain =>
  pathItemOf(route, parameter, (source, own) => operation(source, own, definitions))

function operation (source: Operation, query: readonly Parameter[], definitions: References): Plain {
  const { id, description, tag, body, consumes, produces, action, gvk } = source
  const content = body === undefined
    ? []
    : [{
        name: 'body', in: 'body', ...(body.required ? { required: true } : {}), schema: definitions
          .reference(body.content)
      }]
  const parameters = [...content, ...query.map(parameter)]
  return {
    consumes,
    description,
    operationId: id,
    ...(parameters.length > 0 ? { parameters } : {}),
    produces,
    responses: responses(source, definitions),
    schemes: SCHEMES,
    tags: [tag],
    ...(source.deprecated === true ? { deprecated: true } : {}),
    ...(action === undefined ? {} : extension('action', action)),
    ...(gvk === undefined ? {} : extension('group-version-kind', gvk))
  }
}

function responses ({ answers }: Operation, definitions: References): Plain {
  const described: Plain = {}
  for (const code in answers) {
    described[code] = { description: MEANINGS[code], schema: schemaOf(answers[code] as Content, definitions) }
  }
  described['401'] = UNAUTHORIZED
  return described
}

export function schemaOf (content: Content, definitions: References): Plain {
  if (content === 'text') return { type: 'string' }
  return 'listOf' in content ? definitions.list(content.listOf) : definitions.reference(content)
}
