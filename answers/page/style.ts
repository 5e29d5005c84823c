/** The page's style sheet and the security policy that allows it, by its hash, and nothing else. */
import { createHash } from 'node:crypto'

export const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --faint: #57606a; --line: #d8dee4; --back: #fff; --link: #0757ba; \
--good: #116329; --bad: #b3121d; --warn: #fff5e0 }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --faint: #9aa4af; --line: #30363d; --back: #0d1117; \
--link: #79b8ff; --good: #56d364; --bad: #ff8182; --warn: #33270a } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; background: var(--back); color: var(--text); font: 1rem/1.5 \
system-ui, sans-serif; overflow-wrap: break-word }
header { padding-bottom: .5rem; border-bottom: 1px solid var(--line) }
h1 { margin: 0; font-size: 1.5rem }
h2 { margin: 0 0 .5rem; font-size: 1.2rem }
h3 { margin: 1rem 0 .25rem; font-size: 1rem }
p { margin: .25rem 0 }
section { margin: 1rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem }
a { color: var(--link) }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
code { font-size: .9em }
code, td, .names, .long { overflow-wrap: anywhere }
summary { cursor: pointer; padding: .25rem 0 }
table { width: 100%; border-collapse: collapse }
thead { color: var(--faint) }
th, td { padding: .25rem .75rem .25rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; \
font-weight: normal }
thead th { border-top: 0; font-size: .875rem; vertical-align: bottom }
.number { padding: .25rem 0 .25rem .75rem; text-align: right; font-variant-numeric: tabular-nums }
td.number { white-space: nowrap }
.warning { background: var(--warn) }
.good { color: var(--good) }
.bad { color: var(--bad) }
.none { color: var(--faint) }
.names, .links { margin: 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1rem }
.events .message { width: 50% }
@media (max-width: 40rem) {
  body, section { padding: .75rem }
  .events, .events tbody, .resources, .resources tbody, .events tr, .events .message { display: block }
  .events thead, .resources thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: \
inset(50%) }
  .events tr, .resources tr { padding: .5rem 0; border-top: 1px solid var(--line) }
  .events td { display: inline; padding-right: .5rem }
  .events td, .resources th, .resources td { border: 0; padding-block: 0 }
  .events .message { width: auto; padding: 0 }
  .resources tr { display: grid; grid-template-columns: 1fr auto }
  .resources td:nth-child(2) { color: var(--faint) }
  .resources .number { grid-area: 1 / 2 }
}
`

/** An image of its own, so that browsers ask for no favicon. */
export const ICON =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22%3E%3Ccircle cx=%228%22 ' +
    'cy=%228%22 r=%226%22 fill=%22none%22 stroke=%22%230757ba%22 stroke-width=%223%22/%3E%3C/svg%3E'

/** Nothing is loaded and no script runs, whatever the page should come to contain. */
export const POLICY =
  `default-src 'none';style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}';img-src ` +
    'data:;base-uri \'none\';form-action \'none\';frame-ancestors \'none\''
