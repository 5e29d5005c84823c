/**
 * Messages under public names: of definitions alone members have other names, those of extensions of JSON Schema. They
 * are the same declarations, so that whatever holds a schema, at any depth, is read and written by the message.
 */
import { JSONSchemaProps } from '../api/apiextensions/schemas.js'
import { isDecodeError } from '../language/decode-error.js'
import { decode } from '../language/decode.js'
import { fieldSchema, messageSchema } from '../language/json-schema.js'
import { anywhere, planFor, planOf } from '../language/plan.js'
import { Facts, type Declaration, type ElementType, type Field, type Message } from '../language/types.js'
import { oncePer } from '../once-per.js'

const SCHEMA: Declaration = JSONSchemaProps[Facts]
const publicName = (own: string): string => own.replace(/^x-orch-/, 'x-kubernetes-')

const holdsSchemas = anywhere(({ message }) => message === SCHEMA)

/** Undefined where no member below has another name. */
const otherMessage = (own: Declaration): Message | undefined =>
  holdsSchemas(planFor(own)) ? renamed(own) : undefined

/** The message by whose members public JSON is read and written. */
export const publicMessage = <T>(message: Message<T>): Message<T> =>
  (otherMessage(message[Facts]) ?? message) as Message<T> // in memory both are the same

/** A value of public JSON with our members; what does not fit stays for the server to refuse. */
export function ownValue (own: Declaration, value: unknown): unknown {
  const other = otherMessage(own)
  if (other === undefined) return value
  try {
    return decode(other, value).object
  } catch (error) {
    if (isDecodeError(error)) return value
    throw error
  }
}

const renamed = oncePer((own: Declaration): Message => messageSchema({
  ...own,
  fields: Object.fromEntries(Object.entries(own.fields).map(([name, field]) =>
    [name, fieldOf(field, own === SCHEMA ? publicName(name) : name)]))
}))

const fieldOf = ({ [Facts]: facts }: Field, jsonName: string): Field =>
  fieldSchema({ ...facts, jsonName, of: elementOf(facts.of, jsonName) }, true)

/** In thunks: types may contain themselves. */
function elementOf (of: ElementType, jsonName: string): ElementType {
  if (typeof of === 'string') return of
  if (typeof of === 'function') return () => publicMessage(of())
  const facts = of[Facts]
  return 'shape' in facts ? fieldOf(of as Field, jsonName) : () => publicMessage(of as Message)
}

/** Extensions by either name. */
export const EXTENSIONS: ReadonlyMap<string, string> = new Map(planOf(publicMessage(JSONSchemaProps)).fields
  .flatMap(({ name, jsonName }) => name === jsonName ? [] : [[name, jsonName], [jsonName, name]]))

/** The names of a message's members, where they are others. */
export const membersOfSchemas = (message: Declaration): ReadonlyMap<string, string> | undefined =>
  message === SCHEMA ? EXTENSIONS : undefined
