/**
 * Tables of updates. A row is a title, the first state of the sample as a merge patch (its status is written after the
 * create), the patch under test, and the result: causes such as `Invalid metadata.labels`, or what is stored.
 */
import { representations } from '../../../../schemas/resources.js'
import { mergePatch } from '../../../../registry/patch/merge-patch.js'
import type { Answer, Client, Json } from '../../../build.js'
import { SAMPLES } from '../../../samples.js'

export interface Test {
  same: (found: unknown, wanted: unknown, title: string) => void
  match: (found: unknown, wanted: unknown, title: string) => void
  equal: (found: unknown, wanted: unknown, title: string) => void
}

/** `apps/v1 deployments`, with the patched subresource after a slash. */
type Place = string

let made = 0

function placeOf (place: Place): { readonly url: string, readonly key: string, readonly subresource: string } {
  const [apiVersion = '', path = ''] = place.split(' ')
  const [plural = '', subresource] = path.split('/')
  const one = representations.find(one => one.apiVersion === apiVersion && one.plural === plural)
  if (one === undefined) throw new Error(`there is no ${place}`)
  return {
    url: `${one.group === '' ? '/api' : '/apis'}/${apiVersion}/${one.namespaced ? 'namespaces/default/' : ''}${plural}`,
    key: `${one.group}/${plural}`,
    subresource: subresource === undefined ? '' : `/${subresource}`
  }
}

/** The object and its URL. */
export async function given (
  server: Client, place: Place, before: Json
): Promise<{ readonly url: string, readonly object: Json }> {
  const { url, key } = placeOf(place)
  const { status, ...rest } = before
  const name = `u${++made}`
  const body = mergePatch({ ...structuredClone(SAMPLES[key]), metadata: { name } }, structuredClone(rest)) as Json
  let { code, json } = await server.post(url, body)
  if (code !== 201) throw new Error(`${url}: ${code} ${JSON.stringify(json)}`)
  const own = `${url}/${(body['metadata'] as Json)['name'] as string}`
  if (status !== undefined) ({ code, json } = await server.patch(`${own}/status`, { status }))
  if (code > 201) throw new Error(`${own}/status: ${code} ${JSON.stringify(json)}`)
  return { url: own, object: json }
}

/** Sorted and without repetitions: one field may have several errors of one type. */
export function causes ({ json }: Answer): string[] {
  const found = (json['details']?.causes ?? []) as Json[]
  return [
    ...new Set(found.map(({ reason, field }) => `${String(reason).replace('FieldValue', '')} ${String(field)}`))
  ].sort()
}

type Row = readonly [title: string, before: Json, change: Json | readonly Json[], ...causes: string[]]

/** A list is a JSON patch. */
const patched = (server: Client, url: string, change: Json | readonly Json[]): Promise<Answer> =>
  server.patch(url, change, Array.isArray(change) ? 'application/json-patch+json' : 'application/merge-patch+json')

export async function judged (t: Test, server: Client, place: Place, rows: readonly Row[]): Promise<void> {
  const { subresource } = placeOf(place)
  for (const [title, before, change, ...wanted] of rows) {
    const { url } = await given(server, place, before)
    const answer = await patched(server, url + subresource, change)
    t.same(causes(answer), [...wanted].sort(), `${place}: ${title}`)
    t.equal(answer.code, wanted.length === 0 ? 200 : 422, `${place}: ${title}: ${String(answer.json['message'] ?? '')}`)
  }
}

export async function stored (
  t: Test, server: Client, place: Place,
  rows: ReadonlyArray<readonly [title: string, before: Json, change: Json | readonly Json[], wanted: Json]>
): Promise<void> {
  const { subresource } = placeOf(place)
  for (const [title, before, change, wanted] of rows) {
    const { url } = await given(server, place, before)
    const answer = await patched(server, url + subresource, change)
    t.equal(answer.code, 200, `${place}: ${title}: ${String(answer.json['message'] ?? '')}`)
    t.match((await server.get(url)).json, wanted, `${place}: ${title}`)
  }
}
