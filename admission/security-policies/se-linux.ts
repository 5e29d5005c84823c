/** SELinux options that a PodSecurityPolicy allows. */
import type { SELinuxOptions } from '../../schemas/api/core/security-contexts.js'
import type { PodSecurityPolicySpec } from '../../schemas/api/policy/podsecuritypolicies.js'
import type { FieldError } from '../../schemas/status.js'

export function seLinuxFindings (
  { seLinux: { rule, seLinuxOptions: required = {} } }: PodSecurityPolicySpec, options: SELinuxOptions | undefined,
  field: string
): FieldError[] {
  if (rule !== 'MustRunAs') return []
  if (options === undefined) return [{ type: 'FieldValueRequired', field, detail: '' }]
  return (['level', 'role', 'type', 'user'] as const)
    .filter(part => inOrder(part, options[part]) !== inOrder(part, required[part]))
    .map(part => ({
      type: 'FieldValueInvalid', field: `${field}.${part}`, value: options[part] ?? '',
      detail: `must be ${required[part] ?? ''}`
    }))
}

/** A level is a sensitivity and, after a colon, its categories in any order. */
function inOrder (part: keyof SELinuxOptions, value = ''): string {
  const end = part === 'level' ? value.indexOf(':') + 1 : 0
  return end === 0 ? value : value.slice(0, end) + value.slice(end).split(',').sort().join()
}
