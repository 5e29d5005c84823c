/** The checks of livez and readyz, run as for a probe, each with its time. */
import { duration, html, NOTHING, notPermitted, plural, type Html } from '../../answers/page/html.js'
import type { Rights } from './rights.js'
import type { RoutedServer } from '../needs.js'

type Health = RoutedServer['orchHealth']
type State = 'ok' | 'failed' | 'no answer yet'

/** The page does not wait for checks that hang. */
const PATIENCE_MS = 1000
/** From here on the slowest check is named. */
const SLOW_MS = 50
const ENDPOINTS = [['readyz', 'Ready', 'Not ready'], ['livez', 'Live', 'Not live']] as const

export interface Result { readonly name: string, readonly state: State, readonly ms: number }

export async function healthSection (health: Health, rights: Rights): Promise<Html> {
  const verdicts = await Promise.all(ENDPOINTS.map(async ([endpoint, good, bad]) => {
    if (!await rights.get(`/${endpoint}`)) return notPermitted('get', `/${endpoint}`)
    const results = await Promise.all(health.run(endpoint).map(({ name, passes }) => settled(name, passes)))
    return verdict(endpoint, results, good, bad)
  }))
  return html`<section aria-labelledby="health"><h2 id="health">Health</h2>
${verdicts}</section>`
}

/** @param passes never rejects */
export async function settled (name: string, passes: Promise<boolean>): Promise<Result> {
  const began = performance.now()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(resolve => { timer = setTimeout(() => { resolve(undefined) }, PATIENCE_MS) })
  const passed = await Promise.race([passes, late])
  clearTimeout(timer)
  return {
    name, state: passed === undefined ? 'no answer yet' : passed ? 'ok' : 'failed', ms: performance.now() - began
  }
}

function verdict (endpoint: string, results: readonly Result[], good: string, bad: string): Html {
  const failing = results.filter(({ state }) => state !== 'ok')
  const slowest = results.reduce((most, one) => one.ms > most.ms ? one : most, { name: '', ms: 0 })
  const summary = failing.length === 0
    ? html`<strong class="good">${good}</strong> ${plural(
      results.length, 'check'
    )} of ${endpoint} ${results.length === 1
      ? 'passes'
      : 'pass'}`
    : html`<strong class="bad">${bad}</strong> ${failing.length} of ${plural(
      results.length, 'check'
    )} of ${endpoint}: ${failing
      .map(({ name }) => name)
      .join(', ')}`
  return html`<details${failing.length === 0 ? NOTHING : html` open`}><summary>${summary}${slowest.ms < SLOW_MS
    ? ''
    : `; the slowest, ${slowest.name}, took ${duration(slowest.ms)}`}</summary>
<table><thead><tr><th scope="col">Check of ${endpoint}</th><th scope="col">State</th>
<th scope="col" class="number">Time</th></tr></thead>
<tbody>${results.map(({ name, state, ms }) =>
  html`<tr${state === 'ok'
    ? NOTHING
    : html` class="warning"`}><th scope="row" class="long">${name}</th><td>${state}</td><td class="number">${duration(
      ms
    )}</td></tr>`)}</tbody></table></details>`
}
