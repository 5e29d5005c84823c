/**
 * The public project's names that count on every server, whether it serves them (`--compat-names`) or not: what stock
 * clients send and read anyway, what nobody may take, and what is looked for to give advice.
 */

/** Of groups, labels, annotations and protocols; the second is older. */
export const PUBLIC_DOMAINS = ['k8s.io', 'kubernetes.io'] as const

/** Groups by which clients ask for a form of an answer, ours and the public one of each. */
export const META_GROUPS = new Set<string | undefined>(['meta.orch.io', 'meta.k8s.io'])
export const DISCOVERY_GROUPS = new Set<string | undefined>(['apidiscovery.orch.io', 'apidiscovery.k8s.io'])
export const STATE_GROUPS: ReadonlySet<string> = new Set(['config.orch.io', 'config.k8s.io'])

/**
 * kubectl from 1.27 lists this path before it creates an object of a type without PATCH, and fails on an error.
 * Served and authorized as the list of this server's group.
 */
export const PUBLIC_DEFINITIONS = {
  group: 'apiextensions.k8s.io', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
} as const

/**
 * The media type of protobuf: some clients send it without negotiation. Sent only to clients that use public names.
 */
export const PUBLIC_PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf'

/** kubectl sends it: the URL of token requests is in the core group, so kubectl never looks their group up. */
export const PUBLIC_TOKEN_VERSION = 'authentication.k8s.io/v1'

/** The annotation of client-side applies, ours and the public one. */
export const LAST_APPLIED = [
  'kubectl.orch.io/last-applied-configuration', 'kubectl.kubernetes.io/last-applied-configuration'
]

/** Of the bookmark after a watch's initial state. Client libraries wait for it, whatever the names of the server. */
export const PUBLIC_END_OF_INITIAL_EVENTS = 'k8s.io/initial-events-end'

/** Subprotocols of WebSockets, in which stock clients name the public domain. */
export const TOKEN_PROTOCOL = /^base64url\.bearer\.authorization\.(?:orch|k8s)\.io\.(.*)$/
export const CHANNELS_PROTOCOL = /^v5\.channel\.((?:orch|k8s)\.io)$/

/** Domains of the system, in either name. */
export const SYSTEM_DOMAINS = /(?:^|\.)(?:orch|kubernetes|k8s)\.io$/

/** What begins the formats of names in schemas. */
export const FORMAT_PREFIXES = ['orch', 'k8s'] as const

/** Group and version of audit events; the public one with `--compat-names`. */
export const AUDIT_VERSIONS = ['audit.orch.io/v1', 'audit.k8s.io/v1'] as const

/** For help. */
export const PUBLIC_EXAMPLES = 'rbac.authorization.k8s.io and kube-system'

const PUBLIC_GROUP = /^(.+)\.k8s\.io$/

/** The group that this server may have in place of a public one. */
export const ownGroupFor = (group: string): string => `${PUBLIC_GROUP.exec(group)?.[1] ?? ''}.orch.io`

/** Whether text or JSON may have public names. */
export const mayHavePublicNames = (text: string | Buffer): boolean => text.includes('k8s.io') || text.includes('kube')
