/** All values of `--authorization-mode`. */
export const AUTHORIZATION_MODES = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const

export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number]
