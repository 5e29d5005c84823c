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
  /** ` @GATES` at the end of a rule names the feature gates that it needs. */
  readonly rules: readonly string[]
}

export interface DefaultBinding extends Gated {
  readonly name: string
  /** '' or absent for cluster-wide bindings. */
  readonly namespace?: string
  readonly role?: string
  readonly kind?: 'Role'
  readonly subjects: readonly string[]
}
