/** Memory of a server: idle, with many objects, with additional watches. Its own memory, and including mapped pages. */
import { Ends } from './ends.js'
import { gets, hangUp } from './http1.js'
import { CONFIGS, fill, key, newestVersion } from './objects.js'
import { memory, settle, launch, type Child, type Launched } from './process.js'
import { UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'
import { RELEASES } from './start.js'
import { filled } from './stored.js'
import { Watchers, type Version } from './watchers.js'

const watchPath = async (port: number): Promise<string> =>
  `/api/v1/configmaps?watch=1&allowWatchBookmarks=true&resourceVersion=${await newestVersion(port)}`

export async function memoryUse (scale: Scale): Promise<void> {
  await idle(scale)
  await large(scale)
  for (const version of [2, 1] as const) await crowded(scale, version)
}

/** Megabytes of kube-apiserver 1.36, idle. */
const PEER = 277
/** Pauses: after about 8 s without work V8 collects what the start left, in several steps, and returns the pages. */
const V8_IDLE = 30
/** The same after loading many objects, because for that long V8 includes the load in its rate of allocation. */
const V8_IDLE_AFTER_LOAD = 240

/** Under each release; servers that are idle do not disturb each other. */
export async function idle (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const servers: Array<readonly [release: string, server: Launched]> = []
  for (const [release, flags] of RELEASES) servers.push([release, ends.add(await launch(flags))])
  const show = (work: string, bound: number): void => {
    report({
      work, unit: 'MB resident',
      of: servers.map(([release, server]) => [release, { ours: [memory(server)], bound, peer: PEER }])
    })
    report({
      work: `${work}, its own`, unit: 'MB',
      of: servers.map(([release, server]) => [release, { ours: [memory(server, 'RssAnon')] }])
    })
  }
  for (const [, server] of servers) await settle(server, scale.pause)
  show('memory, idle', 105)
  await new Promise(resolve => { setTimeout(resolve, scale.pause * V8_IDLE) })
  show('memory, idle for half a minute', 95)
}

async function large (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const most = scale.sizes.at(-1) ?? 0
  const server = ends.add(await launch(UNBOUNDED, await filled(most)))
  await settle(server, scale.pause)
  const work = 'memory, objects of 2 KiB cached'
  const count = most.toLocaleString('en')
  report({ work, unit: 'MB of its own', of: [[count, { ours: [memory(server, 'RssAnon')], bound: 450 }]] })
  report({
    work: `${work}, with the pages of the mapped store`, unit: 'MB resident', of: [[count, { ours: [memory(server)] }]]
  })
  await new Promise(resolve => { setTimeout(resolve, scale.pause * V8_IDLE_AFTER_LOAD) })
  report({
    work: `${work}, idle for four minutes`,
    unit: 'MB of its own',
    of: [[count, { ours: [memory(server, 'RssAnon')], bound: 400 }]]
  })
  const before = memory(server, 'RssAnon')
  const watchers = new Watchers()
  await watchers.open(1, server.port, await watchPath(server.port), scale.watchers)
  await settle(server, scale.pause)
  report({
    work: `memory, ${scale.watchers.toLocaleString('en')} watchers more, HTTP/1.1`,
    unit: 'MB',
    ours: [memory(server, 'RssAnon') - before],
    bound: 50
  })
  watchers.close()
}

/** Only what the watches add: the heap has its final size before. */
async function crowded (scale: Scale, version: Version): Promise<void> {
  await using ends = new Ends()
  const server = ends.add(await launch(UNBOUNDED))
  await warm(server, scale, version)
  const before = memory(server, 'RssAnon')
  const watchers = new Watchers()
  await watchers.open(version, server.port, await watchPath(server.port), scale.crowd)
  await settle(server, scale.pause)
  report({
    work:
      `memory of an idle watch of many, HTTP/${version === 1 ? '1.1 with TLS' : '2'}`,
    unit: 'KB',
    of: [[scale.crowd.toLocaleString('en'), {
      ours: [(memory(server, 'RssAnon') - before) * 1024 / scale.crowd], bound: version === 1 ? 50 : 20
    }]]
  })
  watchers.close()
}

async function warm (server: Child, scale: Scale, version: Version): Promise<void> {
  await fill(server, 10)
  await gets(server.port, `${CONFIGS}/${key(7)}`, scale.gets, 64)
  const watchers = new Watchers()
  await watchers.open(version, server.port, await watchPath(server.port), scale.crowd / 10)
  watchers.close()
  hangUp(server.port)
  await settle(server, scale.pause)
}
