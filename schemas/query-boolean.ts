/**
 * Boolean query parameters. As upstream, every value except `0` and `false` is true, the empty one too.
 * @param value null when absent
 */
export const isTrue = (value: string | null): boolean => value !== null && value !== '0' &&
  value.toLowerCase() !== 'false'
