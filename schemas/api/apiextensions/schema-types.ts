/** Words of schemas. */

/** The types a schema may name. */
export const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** What every object has, and its schema need not say. */
export const OF_EVERY_KIND: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion'])
