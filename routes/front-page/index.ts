/**
 * `GET /` of a browser: one page of HTML with the release, health, what is slow, the latest events, the resources and
 * links to documents, each as far as the reader may see it. It loads nothing, runs no script, and nothing of it is
 * listed or counted for it.
 */
import type { PageAnswer } from '../../answers/answer.js'
import type { ServedRequest } from '../../answers/request-context.js'
import { eventSection } from './events.js'
import { html } from '../../answers/page/html.js'
import { healthSection } from './health.js'
import { linkSection, page } from './page.js'
import { resourceSection } from './resources.js'
import { Rights } from './rights.js'
import { LoopMeter, slowSection } from './slow.js'
import { POLICY } from '../../answers/page/style.js'
import type { RoutedServer } from '../needs.js'

const ALONE = html`<section aria-labelledby="alone"><h2 id="alone">Nothing runs here</h2>
<p>This is an API server alone: it stores pods and deployments, but no controller manager, scheduler or node acts on
them.</p></section>`

export function frontPage (fastify: RoutedServer): (request: ServedRequest) => Promise<PageAnswer> {
  const { orchAuthorization: { authorizer }, orchHealth: health, orchResources: resources } = fastify
  const meter = new LoopMeter()
  const isServed = (path: string): boolean => fastify.hasRoute({ method: 'GET', url: fastify.prefix + path })
  return async request => {
    const { user, signal } = request.orch
    if (user === undefined) throw new TypeError('a request without a user has been refused')
    const rights = new Rights(authorizer, user)
    const base = baseOf(request.url)
    // One after the other, so that a remote authorizer is not asked everything at once.
    const sections = [
      ...await fastify.orchStandalone?.isAlone() === true ? [ALONE] : [],
      await healthSection(health, rights),
      await slowSection(fastify, rights, request, meter),
      await eventSection(resources, rights, base),
      await resourceSection(resources, rights, base, signal),
      await linkSection(rights, base, isServed)
    ]
    return { kind: 'page', html: await page(user, rights, sections), policy: POLICY }
  }
}

/** Where links start, from the page's own URL: its last segment may be the host's prefix, without a slash. */
function baseOf (url: string): string {
  const path = url.replace(/[?#].*/s, '')
  return path.endsWith('/') ? './' : `./${path.slice(path.lastIndexOf('/') + 1)}/`
}
