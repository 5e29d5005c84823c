/** Webhooks that know other names. */
import type { HookCaller, HookTarget } from '../../admission/webhooks/target.js'
import type { Naming } from '../../schemas/naming.js'

/** With the host that the certificate of a service in a renamed namespace has. */
function named (target: HookTarget, { hostOf }: Naming): HookTarget {
  const { service, url } = target
  if (service === undefined) return target
  const other = new URL(url)
  other.hostname = hostOf(service)
  return { ...target, url: other, displayUrl: target.displayUrl.replace(url.hostname, other.hostname) }
}

/** Sends reviews under other names, and reads the answers' patches and objects. */
export const renamedReviews = (caller: HookCaller, naming: Naming): HookCaller => ({
  retain: targets => { caller.retain(targets) },
  call: async call => {
    const { body, answer } = naming.review(call.body)
    return answer(await caller.call({ ...call, body, target: named(call.target, naming) }))
  }
})
