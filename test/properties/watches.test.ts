/**
 * Whatever is written and however its client reads, a watch delivers each relevant change once and in order: its
 * events, applied to the initial state, give the final state. Over both protocols, with clients that pause.
 */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Event, Json } from '../build.js'
import { random } from '../random.js'
import { serve, session, stream, until, type Served } from '../secure-server.js'

const dice = random()
const NAMESPACES = ['default', 'orch-system', 'orch-public']
const NAMES = 8
const COLOURS = ['red', 'green', 'blue']
const WRITES = 600
const WATCHES = 40
const LAST = 'the-last'

const pick = <T>(values: readonly T[]): T => values[dice.int(values.length)] as T // the index is within bounds
const pathOf = (namespace: string): string =>
  namespace === '' ? '/api/v1/configmaps' : `/api/v1/namespaces/${namespace}/configmaps`
const keyOf = ({ metadata }: Json): string => `${metadata.namespace}/${metadata.name}`

/** One watch, and the checks of its events. */
class View {
  readonly namespace = pick(['', '', ...NAMESPACES])
  readonly colour = pick([undefined, undefined, ...COLOURS])
  readonly objects = new Map<string, Json>()
  readonly faults: string[] = []
  readonly ended: string[] = []
  #revision = 0
  #rest = ''
  /** True during the initial events, which have no order of versions. */
  #beginning: boolean

  constructor (list: Json | undefined) {
    this.#beginning = list === undefined
    for (const item of list?.items ?? []) if (this.wants(item)) this.objects.set(keyOf(item), item)
    this.#revision = Number(list?.metadata.resourceVersion ?? 0)
  }

  get done (): boolean { return [...this.objects.keys()].some(key => key.endsWith(LAST)) }

  wants (object: Json): boolean {
    return (this.namespace === '' || object.metadata.namespace === this.namespace) &&
      (this.colour === undefined || object.metadata.labels?.colour === this.colour || object.metadata.name === LAST)
  }

  path (version: string): string {
    const selector =
      this.colour === undefined ? '' : `&labelSelector=${encodeURIComponent(`colour in (${this.colour}, all)`)}`
    return `${pathOf(this.namespace)}?watch=1${selector}${version === '' ? '' : `&resourceVersion=${version}`}`
  }

  read (piece: Buffer): void {
    const lines = (this.#rest + piece.toString('latin1')).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#apply(JSON.parse(line) as Event)
  }

  #apply ({ type, object }: Event): void {
    if (type === 'ERROR') {
      this.faults.push(JSON.stringify(object))
      return
    }
    const key = keyOf(object)
    const revision = Number(object.metadata.resourceVersion)
    const known = this.objects.has(key)
    if (known === (type === 'ADDED')) this.faults.push(`${type} ${key}, which was ${known ? '' : 'not '}there`)
    if (this.#beginning && type === 'ADDED' &&
      revision <= this.#revision) this.#revision = Math.max(this.#revision, revision)
    else if (revision <= this.#revision && !this.#beginning) {
      this.faults.push(`${type} ${key} at ${revision} after ${this.#revision}`)
    }
    if (type !== 'ADDED') this.#beginning = false
    this.#revision = Math.max(this.#revision, revision)
    if (type === 'DELETED') this.objects.delete(key)
    else this.objects.set(key, object)
  }
}

async function open (
  t: Test, server: Served, view: View, version: string, over: ReturnType<typeof session> | undefined
): Promise<Readable> {
  const path = view.path(version)
  if (over !== undefined) return await stream(over, path)
  const asked = request({ port: server.port, host: '127.0.0.1', path, agent: false, rejectUnauthorized: false })
  t.teardown(() => { asked.destroy() })
  asked.on('error', () => {})
  asked.end()
  const [response] = await once(asked, 'response') as [IncomingMessage]
  response.on('error', () => {})
  return response
}

async function write (server: Served): Promise<void> {
  const namespace = pick(NAMESPACES)
  const name = `n-${dice.int(NAMES)}`
  const url = `${pathOf(namespace)}/${name}`
  if (dice.int(4) === 0) {
    await server.delete(url)
    return
  }
  const length = dice.int(10) === 0 ? dice.int(200_000) : dice.int(2000)
  const body = { metadata: { name, labels: { colour: pick(COLOURS) } }, data: { text: 'x'.repeat(length) } }
  if ((await server.put(url, body)).code === 404) await server.post(pathOf(namespace), body)
}

t.test(`random writes, seen by many watches (SEED=${dice.seed})`, async t => {
  const server = await serve(t)
  for (let at = 0; at < 40; at++) await write(server)
  const sessions = [session(t, server.port), session(t, server.port)]
  const views: View[] = []
  const reading = { goes: true }
  const readers: Array<Promise<void>> = []
  const watch = async (): Promise<void> => {
    const began = dice.int(2) === 0
    const list = began ? undefined : (await server.get('/api/v1/configmaps')).json
    const view = new View(list)
    views.push(view)
    const from = await open(
      t, server, view, String(list?.metadata.resourceVersion ?? ''), dice.int(2) === 0 ? undefined : pick(sessions)
    )
    from.on('data', (piece: Buffer) => { view.read(piece) })
    from.once('close', () => { view.ended.push('closed') })
    readers.push((async () => {
      while (reading.goes) {
        await sleep(dice.int(60))
        from.pause()
        await sleep(dice.int(60))
        from.resume()
      }
    })())
  }
  // Some before the writes, some during them.
  await Promise.all(Array.from({ length: WATCHES / 2 }, watch))
  for (let done = 0; done < WRITES; done += 20) {
    await Promise.all(Array.from({ length: 20 }, () => write(server)))
    if (views.length < WATCHES) await watch()
  }
  for (const namespace of NAMESPACES) {
    await server.post(pathOf(namespace), { metadata: { name: LAST, labels: { colour: 'all' } } })
  }
  reading.goes = false
  await Promise.all(readers)
  await until(t, 'the last event of each', () => views.every(({ done }) => done))
  const { items } = (await server.get('/api/v1/configmaps')).json as { items: Json[] }
  const last = items.filter(({ metadata }) => metadata.name === LAST)
  const hasAll = (view: typeof views[number]): boolean =>
    [...view.objects.keys()].filter(key => key.endsWith(LAST)).length === last.filter(item => view.wants(item)).length
  await until(t, 'the last events of those who see all', () => views.every(hasAll))
  t.equal(views.length, WATCHES)
  for (const view of views) {
    const wanted = new Map(items.filter(item => view.wants(item)).map(item => [
      keyOf(item), item.metadata.resourceVersion as string
    ]))
    const shown = new Map([...view.objects].map(([key, { metadata }]) => [key, metadata.resourceVersion as string]))
    t.same([view.faults, view.ended], [[], []])
    t.same([...shown].sort(), [...wanted].sort(), `the state of ${view.path('')}`)
  }
  t.same(server.log, [])
})
