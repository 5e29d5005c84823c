import t from 'tap'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import orch, { type ServerOptions } from '../../../app.js'
import { client, type Client } from '../../build.js'
import { polled } from '../../polled.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'

t.test('the history that is kept can be listed and watched, after a restart too', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-history-'))
  t.teardown(() => { rmSync(directory, { recursive: true, force: true }) })
  // The compaction interval would discard all but the newest states within the test, if the store did not keep its
  // history itself.
  const storage: ServerOptions['storage'] = {
    kind: 'embedded', directory, historyRetention: { milliseconds: 3_600_000 }, compactionInterval: 20
  }
  const start = async (): Promise<Client & { close: () => Promise<void> }> => {
    const app = Fastify()
    await app.register(orch, { storage })
    await app.listen({ port: 0, host: '127.0.0.1' })
    await polled(async () => (await app.inject('/readyz')).statusCode === 200)
    return { ...client(app), close: async () => { await app.close() } }
  }
  let server = await start()
  const versions: string[] = []
  for (let at = 0; at < 20; at++) {
    const { json } = at === 0
      ? await server.post(CONFIGS, { metadata: { name: 'one' }, data: { at: '0' } })
      : await server.put(`${CONFIGS}/one`, { metadata: { name: 'one' }, data: { at: String(at) } })
    t.match(json, { kind: 'ConfigMap' })
    versions.push(json['metadata'].resourceVersion)
    await new Promise(resolve => { setTimeout(resolve, 5) })
  }
  const then = async (at: number): Promise<unknown> => {
    const { json } = await server.get(
      `${CONFIGS}?fieldSelector=metadata.name%3Done&resourceVersion=${versions[at] ?? ''}&resourceVersionMatch=Exact`
    )
    return json['items'].map(
      ({ data, metadata }: { data: { at: string }, metadata: { resourceVersion: string } }) => [
        data.at, metadata.resourceVersion
      ]
    )
  }
  for (const at of [0, 7, 19]) t.same(await then(at), [[String(at), versions[at]]])
  await server.close()
  server = await start()
  for (const at of [0, 7, 19]) t.same(await then(at), [[String(at), versions[at]]], 'after a restart')
  const { body } = await server.get(`${CONFIGS}?watch=1&timeoutSeconds=1&resourceVersion=${versions[9] ?? ''}`)
  t.same(body.trim()
    .split('\n')
    .map(line => JSON.parse(line).object.data.at), ['10', '11', '12', '13', '14', '15', '16', '17', '18', '19'])
  await server.close()
})
