/** Warnings about audit flags without effect. */
import type { Parsed } from './command-line.js'
import { FLAGS, type FlagName } from './flags/index.js'

/** `why` follows 'has no effect'. */
type Idle = readonly [flags: readonly FlagName[], why: string]

export function idleAuditFlags ({ values, given }: Parsed): string[] {
  const none = values['audit-log-path'] === '' && values['audit-webhook-config-file'] === ''
  const idle: Idle[] = [
    ...(none ? [[['audit-policy-file'], ' without --audit-log-path or --audit-webhook-config-file'] as const] : []),
    ...idleOf('audit-log', 'audit-log-path', values),
    ...(values['audit-log-path'] === '-'
      ? [
          [[
            'audit-log-maxage', 'audit-log-maxbackup', 'audit-log-maxsize', 'audit-log-compress'
          ], ': standard output is not rotated'] as const
        ]
      : []),
    ...idleOf('audit-webhook', 'audit-webhook-config-file', values)
  ]
  return idle.flatMap(([flags, why]) =>
    flags.filter(name => given.has(name)).map(name => `--${name} has no effect${why}`))
}

function idleOf (sink: 'audit-log' | 'audit-webhook', path: FlagName, values: Parsed['values']): Idle[] {
  const named = (part: string): FlagName[] =>
    (Object.keys(FLAGS) as FlagName[]).filter(name => name.startsWith(`${sink}-${part}`))
  if (values[path] === '') return [[named('').filter(name => name !== path), ` without --${path}`]]
  const idle: Idle[] = []
  if (values[`${sink}-mode`] !== 'batch') idle.push([named('batch-'), ` without --${sink}-mode=batch`])
  else if (!values[`${sink}-batch-throttle-enable`]) {
    idle.push([
      [`${sink}-batch-throttle-qps`, `${sink}-batch-throttle-burst`], ` without --${sink}-batch-throttle-enable`
    ])
  }
  if (!values[`${sink}-truncate-enabled`]) {
    idle.push([
      [`${sink}-truncate-max-batch-size`, `${sink}-truncate-max-event-size`], ` without --${sink}-truncate-enabled`
    ])
  }
  return idle
}
