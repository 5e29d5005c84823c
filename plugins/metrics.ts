export interface Metrics { placeholder?: never }
