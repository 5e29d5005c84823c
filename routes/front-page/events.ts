/**
 * The latest events, found from the newest changes back, so their cost does not grow with the events in the store.
 * Those of before the start are looked for only if there are few.
 */
import { agesAt, type Ages } from '../../schemas/meta/duration.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { WatchCache } from '../../storage/cache/watch-cache.js'
import type { Entry } from '../../storage/cache/entry.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { clipped, html, NOTHING, notPermitted, type Html } from '../../answers/page/html.js'
import type { Rights } from './rights.js'

const SHOWN = 20
/** Changes looked at, as the same event may have changed often. */
const MAX_CHANGES = 2000
/** A cache of up to this many events is looked through. */
const FEW = 2000
/** A larger event is not parsed. */
const MAX_BYTES = 64 * 1024

export async function eventSection (resources: ResourceRegistry, rights: Rights, base: string): Promise<Html> {
  const store = resources.lookup({ group: '', version: 'v1', resource: 'events' })
  if (store === undefined) return NOTHING
  const content = !await rights.list(store.representation)
    ? notPermitted('list', 'events')
    : store.cache?.loaded !== true
      ? html`<p class="none">The events are not in memory.</p>`
      : await table(store.cache, store.tabular.columns ?? [], store.clock.wall())
  return html`<section aria-labelledby="events"><h2 id="events">Latest events</h2>
${content}
<p><a href="${base}api/v1/events?limit=500">All events</a></p></section>`
}

type Columns = NonNullable<NonNullable<ReturnType<ResourceRegistry['lookup']>>['representation']['columns']>

async function table (cache: WatchCache, columns: Columns, now: number): Promise<Html> {
  const { entries, complete } = latest(cache)
  const few = columns.filter(({ priority }) => priority === 0)
  const rows: Html[] = []
  for (const entry of entries) {
    rows.push(row(entry, few, agesAt(now)))
    if (turnIsOver()) await nextTurn()
  }
  const rest = complete
    ? NOTHING
    : html`<p class="none">Events from before the start of the server are not shown here.</p>`
  if (rows.length === 0) return complete ? html`<p class="none">There are no events.</p>` : rest
  return html`<table class="events"><thead><tr><th scope="col">Namespace</th>${few
    .map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table>${rest}`
}

function row (entry: Entry, columns: Columns, ages: Ages): Html {
  if (entry.json.length > MAX_BYTES) {
    return html`<tr><td>${entry.namespace}</td><td colspan="${columns.length}">${clipped(
      entry.name
    )}: too large for this page</td></tr>`
  }
  const object = entry.object
  const cells = columns.map(({ name, cell }) => ({ name, text: clipped(String(cell(object, ages, own => own) ?? '')) }))
  const warns = cells.some(({ name, text }) => name === 'Type' && text !== 'Normal')
  return html`<tr${warns ? html` class="warning"` : NOTHING}><td>${entry.namespace}</td>${cells
    .map(({ name, text }) => html`<td${name === 'Message' ? html` class="message"` : NOTHING}>${text}</td>`)}</tr>`
}

/** The entries that changed last, newest first. `complete` if there are no others, or enough. */
function latest (cache: WatchCache): { entries: Entry[], complete: boolean } {
  const { window, size, snapshot: { map } } = cache
  const byKey = new Map<string, Entry>()
  for (let number = window.end - 1; number >= Math.max(window.begin, window.end - MAX_CHANGES) &&
    byKey.size < SHOWN; number--) {
    const key = window.at(number)?.entry.key ?? ''
    const entry = map.get(key) // undefined once it is deleted
    if (entry !== undefined) byKey.set(key, entry)
  }
  if (byKey.size >= Math.min(SHOWN, size)) return { entries: [...byKey.values()], complete: true }
  if (size > FEW) return { entries: [...byKey.values()], complete: false }
  const all: Entry[] = []
  map.forEach('', '\uffff', entry => { all.push(entry); return true })
  return { entries: all.sort((one, other) => other.revision - one.revision).slice(0, SHOWN), complete: true }
}
