/** In which form the default roles and bindings are written down. */
export interface DefaultRole {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  /** Label of the roles whose rules are gathered in this one. */
  readonly gathers?: string
  readonly rules: readonly string[]
}

export interface DefaultBinding {
  readonly name: string
  /** '' or left out for one of the whole cluster. */
  readonly namespace?: string
  readonly role?: string
  readonly kind?: 'Role'
  readonly subjects: readonly string[]
}
