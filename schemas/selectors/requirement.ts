/** One condition of a selector in the form of objects. */
export interface SelectorRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  /** For In and NotIn. */
  readonly values?: readonly string[]
}
