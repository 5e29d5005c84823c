/** Clients that behave like real ones, check every response, and report errors to `fault`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, type Place, type Protocol } from './target.js'

export interface Round {
  readonly place: Place
  readonly signal: AbortSignal
  readonly int: (below: number) => number
  readonly fault: (what: string) => void
  /** Milliseconds between two actions of a client: the work of the last minute is part of what the server holds. */
  readonly pause: number
  /** Counts actions by name. */
  readonly did: (what: string) => void
}

interface Made { metadata: { name: string, namespace: string, resourceVersion: string }, data?: Record<string, string> }

export const configs = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`
const NAMESPACES = '/api/v1/namespaces'
const STILL = 'still'
const STILL_OBJECTS = 250
const PROTOBUF = { accept: 'application/vnd.orch.protobuf' }
const TABLE = { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' }

const parse = <T> (body: Buffer): T => JSON.parse(body.toString()) as T

/** A namespace that nobody changes, so that its readers know every byte. */
export async function fillStill ({ place }: Pick<Round, 'place'>): Promise<void> {
  const client = new Client(place, place.protocols[0] ?? 'http1')
  await client.ask(NAMESPACES, { method: 'POST', body: { metadata: { name: STILL } } })
  for (let at = 0; at < STILL_OBJECTS; at++) {
    const { code, body } = await client.ask(configs(STILL), {
      method: 'POST', body: { metadata: { name: `still-${at}` }, data: { text: `still ${at}, `.repeat(120) } }
    })
    if (code !== 201) throw new Error(`the first objects cannot be made: ${code} ${body.toString()}`)
  }
  client.close()
}

/**
 * Removes what changes by itself: the version of the whole collection, which rises with every write elsewhere, and
 * ages.
 */
const steady = (body: Buffer): string =>
  body.toString('latin1').replace(/"?resourceVersion"?: ?"\d+"/, '').replace(/"\d+[smhd]\d*[smh]?"/g, '"age"')

/** Where two texts begin to differ, and both texts there. */
function difference (before: string, after: string): string {
  let at = 0
  while (before[at] === after[at]) at++
  const from = Math.max(0, at - 60)
  return `from ${at} on (${before.length} and ${after.length} bytes): ${JSON.stringify(before.slice(from, at + 90))} ` +
    `was, ${JSON.stringify(after.slice(from, at + 90))} is`
}

/** Reads what does not change, in every form, and compares. */
export async function reader (round: Round, protocol: Protocol): Promise<void> {
  const { place, signal, int, fault, did, pause } = round
  const client = new Client(place, protocol)
  const { metadata } = parse<Made>((await client.ask(configs(STILL))).body)
  const exact = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`
  const forms: Array<readonly [path: string, headers: Record<string, string>]> = [
    [configs(STILL), {}], [`${configs(STILL)}?pretty=1`, {}], [`${configs(STILL)}?${exact}`, PROTOBUF],
    [`${configs(STILL)}?${exact}`, {}],
    [configs(STILL), TABLE], [configs(STILL), { accept: 'application/yaml' }],
    [`${configs(STILL)}?labelSelector=!none`, {}],
    ...Array.from({ length: 5 }, (_, at) => [`${configs(STILL)}/still-${at * 7}`, {}] as const)
  ]
  const known = new Map<number, string>()
  for (; !signal.aborted; await sleep(pause)) {
    const at = int(forms.length)
    const [path, headers] = forms[at] as typeof forms[number]
    try {
      const { code, body } = await client.ask(path, { headers })
      if (code === 429) {
        await sleep(20)
        continue
      }
      did('read')
      const seen = steady(body)
      if (code === 410) return // the exact version is no longer kept: this reader is done
      if (code !== 200) fault(`${protocol}: GET ${path} was answered ${code}: ${body.toString().slice(0, 300)}`)
      else if ((known.get(at) ?? seen) !== seen) {
        fault(
          `${protocol}: GET ${path} ${headers['accept'] ?? ''} was answered with other bytes than before: ` +
          `${difference(known.get(at) ?? '', seen)}`
        )
      } else known.set(at, seen)
    } catch (error) {
      fault(`${protocol}: GET ${path} got no whole answer: ${String(error)}`)
    }
  }
  client.close()
}

/** Creates, changes and deletes objects of a namespace of its own. */
export async function writer (round: Round, protocol: Protocol, namespace: string): Promise<void> {
  const { place, signal, int, fault, did, pause } = round
  const client = new Client(place, protocol)
  await client.ask(NAMESPACES, { method: 'POST', body: { metadata: { name: namespace } } })
  const all = configs(namespace)
  for (let turn = 0; !signal.aborted; turn++, await sleep(pause)) {
    const name = `w-${turn % 20}`
    const expect = async (
      code: number, method: string, path: string, body?: object, type?: string
    ): Promise<Made | undefined> => {
      for (;;) {
        const answer = await client.ask(path, {
          method,
          ...(body === undefined ? {} : { body }),
          ...(type === undefined ? {} : { headers: { 'content-type': type } })
        })
        if (answer.code === 429) {
          await sleep(20)
          continue
        }
        did('write')
        if (answer.code === code) return parse<Made>(answer.body)
        fault(`${protocol}: ${method} ${path} was answered ${answer.code}: ${answer.body.toString().slice(0, 300)}`)
        return undefined
      }
    }
    try {
      const data = { turn: String(turn), text: 'x'.repeat(int(3000)) }
      const made = await expect(201, 'POST', all, { metadata: { name }, data })
      if (made === undefined) continue
      const replaced = await expect(200, 'PUT', `${all}/${name}`, {
        metadata: { name, resourceVersion: made.metadata.resourceVersion }, data: { ...data, more: 'yes' }
      })
      const patched = await expect(
        200, 'PATCH', `${all}/${name}`, { data: { patched: String(turn) } }, 'application/merge-patch+json'
      )
      if (patched?.data?.['more'] !== 'yes' || patched.data['text'] !== data.text ||
        patched.data['patched'] !== String(turn)) {
        fault(`${protocol}: ${name} is not what was written: ${JSON.stringify(patched).slice(0, 300)}`)
      }
      await expect(409, 'PUT', `${all}/${name}`, {
        metadata: { name, resourceVersion: made.metadata.resourceVersion }, data
      })
      const found = await expect(200, 'GET', `${all}/${name}`)
      if (found?.metadata.resourceVersion !== patched?.metadata.resourceVersion || replaced === undefined) {
        fault(`${protocol}: a read does not see the last write of ${name}`)
      }
      await expect(200, 'DELETE', `${all}/${name}`)
    } catch (error) {
      fault(`${protocol}: writing ${namespace}/${name} failed: ${String(error)}`)
    }
  }
  client.close()
}

/** Watches all config maps: each exists once, versions only rise, and no event is repeated. */
export async function watcher (round: Round, protocol: Protocol): Promise<void> {
  const { place, signal, fault, did } = round
  const client = new Client(place, protocol)
  const list =
    parse<{ metadata: { resourceVersion: string }, items: Made[] }>((await client.ask('/api/v1/configmaps')).body)
  const model = new Map(list.items.map(({ metadata }) => [
    `${metadata.namespace}/${metadata.name}`, Number(metadata.resourceVersion)
  ]))
  let last = Number(list.metadata.resourceVersion)
  while (!signal.aborted) {
    const seconds = 2 + round.int(4)
    try {
      const { code, stream } = await client.open(
        `/api/v1/configmaps?watch=1&allowWatchBookmarks=true&resourceVersion=${last}&timeoutSeconds=${seconds}`
      )
      if (code !== 200) throw new Error(`a watch was answered ${code}`)
      let text = ''
      for await (const piece of stream) {
        const lines = (text + String(piece)).split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) {
          const { type, object } = parse<{ type: string, object: Made }>(Buffer.from(line))
          const key = `${object.metadata.namespace}/${object.metadata.name}`
          const version = Number(object.metadata.resourceVersion)
          did('event')
          if (version < last || (version === last && type !== 'BOOKMARK')) {
            fault(`${protocol}: a watch went back from ${last} to ${version}: ${type} ${key}`)
          }
          last = version
          if (type === 'BOOKMARK') continue
          if ((type === 'ADDED') === model.has(key)) {
            fault(`${protocol}: ${type} of ${key}, which was ${model.has(key) ? 'there' : 'not there'}`)
          }
          if (type === 'DELETED') model.delete(key)
          else model.set(key, version)
        }
      }
      if (text !== '') fault(`${protocol}: a watch ended in the midst of an event`)
    } catch (error) {
      fault(`${protocol}: a watch failed: ${String(error)}`)
    }
  }
  client.close()
}

/**
 * Creates a namespace, writes into it until it refuses because it is terminating, and checks the next one of that name.
 */
export async function tenant (round: Round, protocol: Protocol, name: string): Promise<void> {
  const { place, signal, int, fault, did, pause } = round
  const client = new Client(place, protocol)
  for (; !signal.aborted; await sleep(5 * pause)) {
    try {
      const made = await client.ask(NAMESPACES, { method: 'POST', body: { metadata: { name } } })
      if (made.code === 429) continue
      if (made.code !== 201) fault(`${protocol}: namespace ${name} was answered ${made.code}`)
      const { items: all } = parse<{ items?: Made[] }>((await client.ask(configs(name))).body)
      // the server creates it in each namespace
      const items = all?.filter(({ metadata }) => metadata.name !== 'orch-root-ca.crt')
      if (items?.length !== 0 && items !== undefined) {
        fault(`${protocol}: ${items.length} config maps have outlived their namespace ${name}`)
      }
      let refused = false
      const write = async (): Promise<void> => {
        for (let at = 0; !refused && at < 500; at++) {
          const { code } = await client.ask(configs(name), {
            method: 'POST', body: { metadata: { generateName: 'tenant-' } }
          })
          if (code !== 201 && code !== 429) refused = true
        }
      }
      const writing = Promise.all([write(), write(), write()])
      await sleep(int(40))
      while ((await client.ask(`${NAMESPACES}/${name}`, { method: 'DELETE' })).code === 429) await sleep(20)
      await writing
      for (let tries = 0; (await client.ask(`${NAMESPACES}/${name}`)).code !== 404; tries++) {
        if (tries > 1500) throw new Error('it does not go')
        await sleep(20)
      }
      did('namespace')
    } catch (error) {
      fault(`${protocol}: the life of namespace ${name} failed: ${String(error)}`)
    }
  }
  client.close()
}
