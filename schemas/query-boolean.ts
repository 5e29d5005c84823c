/** Booleans among query parameters, wherever they are read. */

/** As convention whatever is said is true, nothing too, but for `0` and `false`. @param value null where the parameter is absent */
export const isTrue = (value: string | null): boolean => value !== null && value !== '0' && value.toLowerCase() !== 'false'
