/** The format that a request asks for. */
import type { Negotiated } from '../request-context.js'
import type { Format, TextFormat } from './format.js'
import { COMPACT, INDENTED } from './json.js'
import { PROTOBUF } from './protobuf.js'
import { YAML } from './yaml.js'

export const formatOf = (accept: Negotiated | undefined): Format =>
  accept?.format === 'protobuf' ? PROTOBUF : textFormatOf(accept)

/** For what has no protobuf form. */
export const textFormatOf = (accept: Negotiated | undefined): TextFormat =>
  accept?.format === 'yaml' ? YAML : accept?.pretty === true ? INDENTED : COMPACT
