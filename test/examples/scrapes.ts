/** Real scrapes of a loaded server: their content, and input for `promtool test rules`. */
import { listen, Watch, type Client, type Listening, type Test } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const WEBHOOKS = '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations'
const LABELS = 'job="orch-apiserver",instance="10.0.0.10:6443"'

export interface Family {
  readonly type: string
  readonly labels: ReadonlySet<string>
  readonly samples: ReadonlyMap<string, number>
}

/** By name, including declared families without series. Series are keyed by their names with labels. */
export function parseScrape (text: string): Map<string, Family> {
  const found = new Map<string, { type: string, labels: Set<string>, samples: Map<string, number> }>()
  let family: { type: string, labels: Set<string>, samples: Map<string, number> } | undefined
  for (const line of text.split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (\w+)$/.exec(line) ?? []
    if (name !== undefined && type !== undefined) {
      found.set(name, family = { type, labels: new Set(), samples: new Map() })
    }
    if (line === '' || line.startsWith('#')) continue
    const at = line.lastIndexOf(' ')
    family?.samples.set(line.slice(0, at), Number(line.slice(at + 1)))
    for (const [, label = ''] of line.matchAll(/[{,](\w+)="/g)) family?.labels.add(label)
  }
  return found
}

/** The family of a name in an expression: a histogram has three names. */
export const familyOf = (families: ReadonlyMap<string, Family>, name: string): Family | undefined =>
  families.get(name) ?? families.get(name.replace(/_(?:bucket|sum|count)$/, ''))

/** A server with everything that the dashboards show. Requests of the user 'unlucky' fail. @param auditLog a file */
export async function loadedServer (t: Test, auditLog: string): Promise<Listening> {
  const server = await listen(t, {
    limits: { priorityAndFairness: true },
    audit: { path: auditLog },
    watchCache: { sizes: { '/secrets': 0 } },
    authorization: {
      authorizers: [
        {
          name: 'luck',
          authorize: ({ user }) => {
            if (user.username === 'unlucky') throw new Error('no luck')
            return { decision: 'Allow' }
          }
        }
      ]
    }
  })
  const watch = await Watch.open(t, `${server.url}${CONFIGS}?watch=1`)
  const first = await server.post(CONFIGS, { metadata: { name: 'first' } })
  if (first.code !== 201) throw new Error(first.body)
  await watch.take(1)
  return server
}

/** Requests of well-behaved clients: each verb, on objects and lists, from memory and from the store. */
export async function work (server: Client, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const name = `c-${performance.now()}`
    await server.post(CONFIGS, { metadata: { name }, data: { a: 'b' } })
    await server.get(`${CONFIGS}/${name}`)
    await server.patch(`${CONFIGS}/${name}`, { data: { c: 'd' } })
    await server.get(CONFIGS)
    await server.get('/api/v1/namespaces/default/secrets')
    await server.get('/readyz')
    await server.delete(`${CONFIGS}/${name}`)
  }
}

/** Events that need attention: failures of the server, an unreachable webhook, deprecated versions. */
export async function trouble (server: Client, rounds: number): Promise<void> {
  const webhook = {
    name: 'gone.example.org',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }],
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 1
  }
  await server.post(WEBHOOKS, { metadata: { name: 'gone' }, webhooks: [webhook] })
  for (let round = 0; round < rounds; round++) {
    await server.get(CONFIGS, { 'impersonate-user': 'unlucky' })
    await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: `s-${performance.now()}` } })
    await server.get('/apis/flowcontrol.apiserver.orch.io/v1beta1/flowschemas')
  }
}

export const scrape = async (server: Client): Promise<string> => (await server.get('/metrics')).body

/** @returns another value for a scraped series; undefined keeps it */
export type Edit = (series: string, value: number, increase: number, bucketTotal: number) => {
  readonly value?: number
  readonly increase?: number
} | undefined

/** Input series of the wanted families, as if the changes between two scrapes happened every minute. */
export function inputSeries (
  before: string, after: string, wanted: ReadonlySet<string>, minutes: number, edit: Edit = () => undefined
): Array<{ series: string, values: string }> {
  const [first, second] = [parseScrape(before), parseScrape(after)]
  const all: Array<{ series: string, values: string }> = []
  for (const [name, { type, samples }] of second) {
    if (!wanted.has(name)) continue
    for (const [series, now] of samples) {
      if (Number.isNaN(now)) continue
      const was = first.get(name)?.samples.get(series) ?? 0
      const total = /_bucket\{/.test(series) ? samples.get(series.replace(/le="[^"]+"/, 'le="+Inf"')) ?? 0 : 0
      const totalBefore = first.get(name)?.samples.get(series.replace(/le="[^"]+"/, 'le="+Inf"')) ?? 0
      // adds nothing to any rate; most series are of stores that were not asked
      if (total === totalBefore && series.includes('_bucket{')) continue
      const { value = type === 'gauge' ? now : was, increase = type === 'gauge' ? 0 : now - was } =
        edit(series, now, now - was, total - totalBefore) ?? {}
      all.push({
        series: series.includes('{') ? series.replace('{', `{${LABELS},`) : `${series}{${LABELS}}`,
        values: `${value}+${increase}x${minutes}`
      })
    }
  }
  return all
}
