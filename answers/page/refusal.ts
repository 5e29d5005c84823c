/** The HTML page that a browser gets for 401 or 403 at `/`: it explains how to authenticate. */
import type { Status } from '../../schemas/status.js'
import { clipped, html, Html } from './html.js'
import { ICON, STYLE } from './style.js'

const HEADINGS: Readonly<Record<number, string>> = {
  401: 'Who are you?', 403: 'You may not see this'
}

/** Undefined for other failures, which have no page. */
export function refusalPage ({ code, message = '' }: Status): string | undefined {
  const heading = HEADINGS[code]
  return heading === undefined
    ? undefined
    : html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${heading}</title>
<link rel="icon" href="${new Html(ICON)}">
<style>${new Html(STYLE)}</style>
</head>
<body>
<header>
<h1>${heading}</h1>
<p>${code}: ${clipped(message, 1000)}</p>
</header>
<main>
<section>
<p>This is an API server, orch-apiserver. It knows its users by certificates and tokens, which a browser does not send.
To look around, run</p>
<p><code>kubectl proxy</code></p>
<p>where kubectl is set up for this server, and open <a href="http://127.0.0.1:8001/">http://127.0.0.1:8001/</a>: the
proxy asks as the user of kubectl. The log of a server on your own machine names the kubeconfig.</p>
</section>
</main>
</body>
</html>
`.toString()
}
