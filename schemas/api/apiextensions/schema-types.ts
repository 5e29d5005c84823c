/** The types a schema may name. */
export const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string']
