/** Indented JSON, for people. */
import { stringify } from './exact.js'

/** An item of a list that is a member of a document, without the comma or the line break before it. */
export const indentedItem = (value: unknown): string => (stringify(value, 2) ?? '').replaceAll('\n', '\n    ')
