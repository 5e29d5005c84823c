/** The form of a request's answer, by what was negotiated. */
import type { ObjectAnswer } from '../answer.js'
import type { Negotiated, RequestContext } from '../request-context.js'
import type { Form, TextForm, WholeForm } from './format.js'
import { COMPACT, INDENTED } from './json.js'
import { protobufMetadata, textMetadata } from './metadata.js'
import { PROTOBUF } from './protobuf.js'
import { includeObject } from './rows.js'
import { tableForm } from './table.js'
import { YAML } from './yaml.js'

type Asked = Pick<RequestContext, 'accept' | 'query'>

/** @throws StatusError 400 for an invalid `includeObject` */
export function formOf (asked: Asked): Form {
  const { accept } = asked
  if (accept?.as === undefined) return wholeFormOf(accept)
  const { as, asVersion, format } = accept
  if (as === 'Table') return tableForm(textFormOf(accept), asVersion, includeObject(asked.query))
  return format === 'protobuf' ? protobufMetadata(asVersion) : textMetadata(textFormOf(accept), asVersion)
}

/** Of an object that is not stored, which may not have the form that is asked for. @throws StatusError 400 */
export function formOfObject (asked: Asked, { forms }: Pick<ObjectAnswer, 'forms'>): Form {
  const { accept } = asked
  const hasForm = forms === 'metadata' ? accept?.as === 'PartialObjectMetadata' : forms !== undefined
  return hasForm ? formOf(asked) : wholeFormOf(accept)
}

export const wholeFormOf = (accept: Negotiated | undefined): WholeForm =>
  accept?.format === 'protobuf' ? PROTOBUF : textFormOf(accept)

/** For what has no protobuf form. */
export const textFormOf = (accept: Negotiated | undefined): TextForm =>
  accept?.format === 'yaml' ? YAML : accept?.pretty === true ? INDENTED : COMPACT

/** The same as compact JSON, as it is recorded. */
export const asRecorded = ({ accept, query }: Asked): Asked =>
  ({ accept: accept === undefined ? undefined : { ...accept, format: 'json', pretty: false }, query })
