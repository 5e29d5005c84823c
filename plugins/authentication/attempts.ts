/** Counts who was authenticated, who was not, and how long it took, under the conventional names. */
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { OrchServer } from '../server.js'

export interface Attempts {
  /** @param since when it began, milliseconds on the clock that never goes back */
  readonly succeeded: (user: UserInfo, since: number) => void
  /** There were no credentials, or none that anybody knows. */
  readonly failed: (since: number) => void
  /** A method could not tell, or found them bad. */
  readonly errored: (since: number) => void
}

const SECONDS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power)

const KNOWN: ReadonlySet<string> = new Set(['admin', 'client', 'orch_proxy', 'node-agent', 'system:serviceaccount:orch-system:default'])

/** As many series as there are kinds of users, not as there are users. */
const labelOf = (username: string): string => KNOWN.has(username) ? username : username.includes('@') ? 'email_id' : 'other'

export function countAttempts (metrics: OrchServer['metrics']): Attempts {
  const users = metrics.counter('authenticated_user_requests', 'Requests that were authenticated, by kind of user name.', ['username'])
  const attempts = metrics.counter('authentication_attempts', 'Attempts to authenticate a request, by result.', ['result'])
  const durations = metrics.histogram('authentication_duration_seconds', 'Seconds it took to authenticate a request, by result.', SECONDS, ['result'])
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
