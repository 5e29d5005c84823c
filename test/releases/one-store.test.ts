/** Two servers of different releases on one etcd: what one wrote the other reads, and writes again unchanged. */
import t from 'tap'
import { featureGates } from '../../schemas/gates.js'
import { isServed, type Representation } from '../../schemas/resource.js'
import { types } from '../../schemas/resources.js'
import { ALL, creation, title, urlOf } from '../conformance/collections.js'
import { startEtcd } from '../etcd-process.js'
import { until } from '../interop/server.js'
import { build, type Client, type Json } from '../build.js'

const EARLIER = { ...ALL, emulatedVersion: '1.24' } as const
/** Its gates are on for good. */
const LATER = { ...ALL, emulatedVersion: '1.36', featureGates: {} } as const

const gatesOf = { earlier: featureGates(EARLIER.featureGates), later: featureGates({}, { release: '1.36' }) }
type Side = keyof typeof gatesOf
const known = (version: string | undefined): string | undefined =>
  version !== undefined && /^1\.(2[5-9]|3[0-6])$/.test(version) ? version : undefined
const servedBy = (side: Side, { gate, deprecation }: Representation): boolean =>
  isServed({ gate, removed: known(deprecation?.removed) }, gatesOf[side])

/** For each stored type, a version that each of the two serves, the same where there is one. */
const TYPES = types.filter(({ virtual }) => !virtual).flatMap(({ representations }) => {
  const of = (side: Side): Representation[] => representations.filter(one => servedBy(side, one))
  const both = of('earlier').find(one => servedBy('later', one))
  const [earlier, later] = [both ?? of('earlier')[0], both ?? of('later')[0]]
  return earlier === undefined || later === undefined ? [] : [{ earlier, later }]
})

/** Samples of them have one name. */
const SAME_NAME: ReadonlySet<string> = new Set(['customresourcedefinitions', 'apiservices'])

/** What neither an update nor the release changes, nor a controller of the server. */
const kept = (
  { metadata: { resourceVersion, managedFields, generation, ...metadata }, status, ...others }: Json,
  { plural }: Representation
): Json =>
  ({ ...others, metadata, ...SAME_NAME.has(plural) ? {} : { status } })
const urlIn = (one: Representation, { metadata: { name } }: Json): string => `${urlOf(one)}/${String(name)}`

/** Reads with one server and writes with it what it has read, again where a controller came between. */
async function rewrite (server: Client, one: Representation, object: Json): Promise<void> {
  const url = urlIn(one, object)
  for (;;) {
    const read = await server.get(url)
    if (!t.equal(read.code, 200, `GET ${url}`)) return
    const written = await server.put(url, read.json)
    if (written.code === 409 && SAME_NAME.has(one.plural)) continue
    t.equal(written.code, 200, `PUT ${url} ${written.code === 200 ? '' : JSON.stringify(written.json)}`)
    return
  }
}

t.test('what either release wrote, the other reads and writes without a loss', { timeout: 240_000 }, async t => {
  const etcd = await startEtcd(t)
  const storage = { kind: 'etcd', servers: [etcd.url] } as const
  const servers = { earlier: await build(t, { ...EARLIER, storage }), later: await build(t, { ...LATER, storage }) }
  t.ok(TYPES.length > 45)
  for (const one of TYPES) {
    for (const [from, to, index] of [['earlier', 'later', 1], ['later', 'earlier', 2]] as const) {
      await t.test(`${title(one[from])} of the ${from}`, async t => {
        const { body } = creation(one[from], index)
        const made = await servers[from].post(
          urlOf(one[from]), JSON.stringify(body).replace('assured', from === 'later' ? 'nominal' : 'assured')
        )
        if (!t.equal(made.code, 201, JSON.stringify(made.json))) return
        const before = (await servers[from].get(urlIn(one[from], made.json))).json
        await rewrite(servers[to], one[to], made.json)
        t.has(kept((await servers[from].get(urlIn(one[from], made.json))).json, one[from]), kept(before, one[from]))
        await rewrite(servers[from], one[from], made.json)
        t.has(kept((await servers[from].get(urlIn(one[from], made.json))).json, one[from]), kept(before, one[from]))
        await servers[from].delete(urlIn(one[from], made.json))
        if (SAME_NAME.has(one[from].plural)) {
          await until('it is gone', async () => (await servers[to].get(urlIn(one[to], made.json))).code === 404)
        }
      })
    }
  }
})
