/** Webhooks of clients that use the public project's names. */
import type { HookCaller, HookTarget } from '../../admission/webhooks/target.js'
import { publicHost } from '../../schemas/compat/requests.js'
import { publicReview } from '../../schemas/compat/reviews.js'

/** With the host that the certificate of a service in a renamed namespace has. */
function publicTarget (target: HookTarget): HookTarget {
  const { service, url } = target
  if (service === undefined) return target
  const named = new URL(url)
  named.hostname = publicHost(service)
  return { ...target, url: named, displayUrl: target.displayUrl.replace(url.hostname, named.hostname) }
}

/** Sends reviews under public names, and reads the answers' patches and objects. */
export const publicReviews = (caller: HookCaller): HookCaller => ({
  retain: targets => { caller.retain(targets) },
  call: async call => {
    const { body, answer } = publicReview(call.body)
    return answer(await caller.call({ ...call, body, target: publicTarget(call.target) }))
  }
})
