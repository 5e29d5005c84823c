/** The parts of the benchmarks, by name; loaded when they run. */
import type { Scale } from './scale.js'

export const parts: Readonly<Record<string, () => Promise<(scale: Scale) => Promise<unknown>>>> = {
  start: async () => (await import('./start.js')).start,
  reads: async () => (await import('./reads.js')).reads,
  h2: async () => (await import('./reads.js')).readsHttp2,
  lists: async () => (await import('./lists.js')).listing,
  pods: async () => (await import('./pods.js')).pods,
  watch: async () => (await import('./watch.js')).watching,
  authentication: async () => (await import('./authentication.js')).authentication,
  audit: async () => (await import('./audit.js')).auditing,
  fairness: async () => (await import('./fairness.js')).fairness,
  production: async () => (await import('./production.js')).production,
  forms: async () => (await import('./forms.js')).forms,
  compat: async () => (await import('./compat.js')).compatNames,
  headers: async () => (await import('./headers.js')).securityHeaders,
  authorization: async () => (await import('./authorization.js')).authorization,
  writes: async () => (await import('./writes.js')).writes,
  structured: async () => (await import('./structured.js')).structured,
  'writes-embedded': async () => (await import('./structured.js')).structuredEmbedded,
  admission: async () => (await import('./admission.js')).admission,
  encryption: async () => (await import('./encryption.js')).encryption,
  hooks: async () => (await import('./hooks.js')).hooks,
  custom: async () => (await import('./custom.js')).custom,
  tenants: async () => (await import('./tenants.js')).tenants,
  documents: async () => (await import('./documents.js')).documents,
  owners: async () => (await import('./owners.js')).owners,
  informers: async () => (await import('./informers.js')).informers,
  memory: async () => (await import('./memory.js')).memoryUse,
  idle: async () => (await import('./memory.js')).idle,
  backup: async () => (await import('./backup.js')).backup,
  growth: async () => (await import('./growth.js')).growth,
  crowd: async () => (await import('./crowd.js')).crowd,
  cluster: async () => (await import('./cluster.js')).cluster,
  cores: async () => (await import('./cores.js')).cores,
  nodes: async () => (await import('./nodes.js')).versions
}

/** Parts of others, and what compares versions of Node, whose rows no document has. */
export const PARTIAL = new Set(['writes-embedded', 'nodes', 'idle'])
