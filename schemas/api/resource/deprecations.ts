/** Until when the beta versions of resource.orch.io are served. */
import type { Deprecation } from '../../resource.js'

const BETA = { v1beta1: ['1.35', '1.38'], v1beta2: ['1.36', '1.39'] } as const

export function deprecated (version: keyof typeof BETA): Deprecation {
  const [deprecated, removed] = BETA[version]
  return { deprecated, removed }
}
