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
  return (['level', 'role', 'type', 'user'] as const).filter(part => (options[part] ?? '') !== (required[part] ?? ''))
    .map(part => ({
      type: 'FieldValueInvalid', field: `${field}.${part}`, value: options[part] ?? '',
      detail: `must be ${required[part] ?? ''}`
    }))
}
