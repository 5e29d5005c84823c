/** The notation of default roles and bindings. */
interface Gated {
  /** Feature gates that must all be on. Default none. */
  readonly gates?: readonly string[]
}

export interface DefaultRole extends Gated {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  /** Label of the roles that this one aggregates. */
  readonly aggregates?: string
  readonly rules: readonly string[]
  /** A rule that a feature gate adds. */
  readonly gated?: { readonly gate: string, readonly rule: string }
}

export interface DefaultBinding extends Gated {
  readonly name: string
  /** '' or absent for cluster-wide bindings. */
  readonly namespace?: string
  readonly role?: string
  readonly kind?: 'Role'
  readonly subjects: readonly string[]
}
