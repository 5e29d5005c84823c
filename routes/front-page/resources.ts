/** Resources and how many objects each has, as its cache knows it: nothing is listed or counted. */
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { html, NOTHING, type Html } from '../../answers/page/html.js'
import { versionPath, type Rights } from './rights.js'

/** Types beyond these are not looked at. */
const MAX_TYPES = 1000
/** A remote authorizer is asked about this many at a time. */
const TOGETHER = 16

const NUMBER = new Intl.NumberFormat('en')

interface Counted { readonly store: ResourceStore, readonly may: 'list' | 'discover' | 'nothing' }

/** One representation of each stored type, the one that discovery prefers. */
function typesOf (resources: ResourceRegistry): ResourceStore[] {
  const stores = new Map<unknown, ResourceStore>()
  for (const store of resources.served()) {
    if (!store.type.virtual && !stores.has(store.type)) stores.set(store.type, store)
  }
  return [...stores.values()]
}

export async function resourceSection (
  resources: ResourceRegistry, rights: Rights, base: string, signal: AbortSignal
): Promise<Html> {
  const types = typesOf(resources)
  const looked: Counted[] = []
  for (let at = 0; at < Math.min(types.length, MAX_TYPES) && !signal.aborted; at += TOGETHER) {
    looked.push(
      ...await Promise.all(types.slice(at, Math.min(at + TOGETHER, MAX_TYPES)).map(store => rightTo(store, rights)))
    )
  }
  const listed = looked.filter(({ may }) => may === 'list').map(({ store }) => store)
  const withheld = looked.filter(({ may }) => may === 'discover').map(({ store }) => store)
  const rows = listed.filter(({ cache }) => cache?.loaded !== true || cache.size > 0)
    .sort((one, other) => (other.cache?.size ?? 0) - (one.cache?.size ?? 0))
  const empty = listed.filter(({ cache }) => cache?.loaded === true && cache.size === 0)
  const table = html`<table class="resources"><thead><tr><th scope="col">Resource</th><th scope="col">API group</th>
<th scope="col" class="number">Objects</th></tr></thead>
<tbody>${rows.map(store => row(store, base))}</tbody></table>`
  return html`<section aria-labelledby="resources"><h2 id="resources">Resources</h2>
${rows.length === 0 ? NOTHING : table}
${names(empty, 'without objects')}
${names(withheld, 'not permitted: you may not list them')}
${looked.length > 0 && listed.length + withheld.length === 0
  ? html`<p class="none">Not permitted: you may list no resource.</p>`
  : NOTHING}
${types.length > MAX_TYPES
  ? html`<p class="none">Types beyond ${MAX_TYPES} are not looked at.</p>`
  : NOTHING}</section>`
}

/** Whoever may not list a resource learns its name only if they may discover it. */
async function rightTo (store: ResourceStore, rights: Rights): Promise<Counted> {
  if (await rights.list(store.representation)) return { store, may: 'list' }
  return { store, may: await rights.get(versionPath(store.representation)) ? 'discover' : 'nothing' }
}

function row ({ representation, cache }: ResourceStore, base: string): Html {
  const { group, plural: name } = representation
  const count = cache === undefined ? 'not cached' : cache.loaded ? NUMBER.format(cache.size) : 'loading'
  return html`<tr><th scope="row"><a href="${base}${versionPath(representation)
    .slice(1)}/${name}?limit=500">${name}</a></th><td>${group === ''
      ? 'core'
      : group}</td><td class="number">${count}</td></tr>`
}

function names (stores: readonly ResourceStore[], what: string): Html {
  if (stores.length === 0) return NOTHING
  return html`<details><summary>${stores.length} ${what}</summary><ul class="names">${stores.map((
    { representation: { group, plural } }
  ) => html`<li>${group === '' ? plural : `${plural}.${group}`}</li>`)}</ul></details>`
}
