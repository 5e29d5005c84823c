/** The notation of default roles and bindings. */
export interface DefaultRole {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  /** Label of the roles that this one aggregates. */
  readonly aggregates?: string
  readonly rules: readonly string[]
  /** A rule that a feature gate adds. */
  readonly gated?: { readonly gate: string, readonly rule: string }
}

export interface DefaultBinding {
  readonly name: string
  /** '' or absent for cluster-wide bindings. */
  readonly namespace?: string
  readonly role?: string
  readonly kind?: 'Role'
  readonly subjects: readonly string[]
}
