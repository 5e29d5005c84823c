/** The front page as one document: its head, the reader, the sections and the links. */
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { COMPILER, releaseVersion } from '../../schemas/meta/release.js'
import { clipped, html, Html, notPermitted, plural } from '../../answers/page/html.js'
import { ICON, STYLE } from '../../answers/page/style.js'
import type { Rights } from './rights.js'

const MAX_GROUPS = 10

const DOCUMENTS = [
  ['openapi/v2', 'OpenAPI 2'], ['openapi/v3', 'OpenAPI 3'], ['apis', 'API groups'], ['version', 'Version'],
  ['readyz?verbose', 'readyz'], ['livez?verbose', 'livez'], ['metrics', 'Metrics'], ['debug/caches', 'Watch caches'],
  ['debug/api_priority_and_fairness/dump_priority_levels', 'Priority levels'],
  ['debug/api_priority_and_fairness/dump_queues', 'Queues'],
  ['debug/api_priority_and_fairness/dump_requests', 'Waiting requests']
] as const

/**
 * Links to what the server serves and the reader may read.
 * @param base ends in a slash; relative, so that proxies may add to the path
 */
export async function linkSection (rights: Rights, base: string, isServed: (path: string) => boolean): Promise<Html> {
  const may = await Promise.all(DOCUMENTS.map(([link]) => {
    const path = `/${link.replace(/\?.*/, '')}`
    return isServed(path) ? rights.get(path) : false
  }))
  const links = DOCUMENTS.filter((_, at) => may[at])
  return html`<section aria-labelledby="documents"><h2 id="documents">Documents</h2>
${links.length === 0
  ? html`<p class="none">Not permitted: you may read none.</p>`
  : html`<ul class="links">${links
    .map(([link, name]) => html`<li><a href="${base}${link}">${name}</a></li>`)}</ul>`}</section>`
}

export async function page (
  { username, groups }: UserInfo, rights: Rights, sections: readonly Html[]
): Promise<string> {
  const release = await rights.get('/version')
    ? html`<p>Release ${releaseVersion()}, ${COMPILER}</p>`
    : notPermitted('get', '/version')
  const more = groups.length - MAX_GROUPS
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>orch-apiserver</title>
<link rel="icon" href="${new Html(ICON)}">
<style>${new Html(STYLE)}</style>
</head>
<body>
<header>
<h1>orch-apiserver</h1>
${release}
<p>You are <strong>${clipped(username)}</strong>${groups.length === 0
  ? ''
  : `, in ${plural(groups.length, 'group')}: ${groups.slice(0, MAX_GROUPS)
    .map(group => clipped(group, 100))
    .join(', ')}${more > 0 ? ` and ${more} more` : ''}`}. The page shows what you may see, as of now.</p>
</header>
<main>
${sections}
</main>
</body>
</html>
`.toString()
}
