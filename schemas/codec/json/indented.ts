/** Indented JSON. */
import { stringify } from './exact.js'

/** An item of a list within an indented document, without separators. */
export const indentedItem = (value: unknown): string => (stringify(value, 2) ?? '').replaceAll('\n', '\n    ')
