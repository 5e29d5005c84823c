/** Counts and times authentication attempts, with upstream's metric names. */
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { doubling, type Metrics } from '../shared/metric-series.js'

export interface Attempts {
  /** @param since start time, monotonic milliseconds */
  readonly succeeded: (user: UserInfo, since: number) => void
  /** The request had no credentials, or unknown ones. */
  readonly failed: (since: number) => void
  /** An authenticator failed, or rejected the credentials. */
  readonly errored: (since: number) => void
}

const SECONDS = doubling(0.001, 15)

const KNOWN: ReadonlySet<string> = new Set([
  'admin', 'client', 'orch_proxy', 'node-agent', 'system:serviceaccount:orch-system:default'
])

/** Bounds the number of series: few labels, many users. */
const labelOf = (username: string): string =>
  KNOWN.has(username) ? username : username.includes('@') ? 'email_id' : 'other'

export function countAttempts (metrics: Metrics): Attempts {
  const users = metrics.counter(
    'authenticated_user_requests', 'Requests that were authenticated, by kind of user name.', ['username']
  )
  const attempts = metrics.counter(
    'authentication_attempts', 'Attempts to authenticate a request, by result.', ['result']
  )
  const durations = metrics.histogram(
    'authentication_duration_seconds', 'Seconds it took to authenticate a request, by result.', SECONDS, ['result']
  )
  const counted = (result: string): (since: number) => void => {
    const counter = attempts.with(result)
    const duration = durations.with(result)
    return since => {
      counter.add()
      duration.observe((performance.now() - since) / 1000)
    }
  }
  const other = users.with('other')
  const success = counted('success')
  return {
    succeeded: ({ username }, since) => {
      const label = labelOf(username)
      ;(label === 'other' ? other : users.with(label)).add()
      success(since)
    },
    failed: counted('failure'),
    errored: counted('error')
  }
}
