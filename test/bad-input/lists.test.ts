import t from 'tap'
import type { LightMyRequestResponse } from 'fastify'
import { BINDINGS, PROTOBUF, TABLE, binding, build } from '../build.js'
import { Loop, MAX_KEPT, stillServes } from './refusal.js'

const METADATA = 'as=PartialObjectMetadataList;g=meta.orch.io;v=v1'

t.test('no list holds the event loop, in whatever form, of many objects or of large ones', async t => {
  const server = await build(t)
  for (let index = 0; index < 1000; index += 100) {
    await Promise.all(Array.from(
      { length: 100 },
      (_, one) => server.post(
        BINDINGS, binding(`small-${index + one}`, { metadata: { annotations: { text: 'x'.repeat(1500) } } })
      )
    ))
  }
  for (let index = 0; index < 3; index++) {
    const subjects = Array.from(
      { length: 9000 }, (_, one) => ({ kind: 'User', name: `user-${one}-${'x'.repeat(100)}` })
    )
    t.equal(
      (await server.post(
        BINDINGS, binding(`large-${index}`, { metadata: { labels: { large: 'yes' } }, subjects })
      )).code,
      201
    )
  }
  const loop = new Loop()
  for (const accept of [
    'application/json', 'application/yaml', PROTOBUF, TABLE, `application/json;${METADATA}`, `${PROTOBUF};${METADATA}`
  ]) {
    for (const query of [
      '', '?pretty=true', '?includeObject=Object', '?labelSelector=large', '?fieldSelector=metadata.name!%3Dnone'
    ]) {
      const { result, ms } = await loop.leastHeld(() =>
        server.app.inject({ url: `${BINDINGS}${query}`, headers: { accept } }))
      if (result.statusCode !== 200 || ms >= MAX_KEPT) {
        t.fail(`${accept} ${query}: ${result.statusCode}, ${ms.toFixed(0)} ms`)
      }
    }
  }
  for (const accept of ['application/yaml', PROTOBUF, TABLE]) {
    const many = (): Promise<LightMyRequestResponse[]> => Promise.all(
      Array.from(
        { length: 20 }, () => server.app.inject({ url: `${BINDINGS}?labelSelector=!large`, headers: { accept } })
      )
    )
    const { ms } = await loop.leastHeld(many)
    if (ms >= MAX_KEPT) t.fail(`20 at once, ${accept}: ${ms.toFixed(0)} ms`)
  }
  for (const query of ['?dryRun=All', '?labelSelector=none', '?labelSelector=!large']) {
    const { result, ms } = await loop.held(() => server.app.inject({ method: 'DELETE', url: `${BINDINGS}${query}` }))
    t.equal(result.statusCode, 200, query)
    // Measured once, with a wider bound for a busy machine.
    t.ok(ms < 3 * MAX_KEPT, `${ms.toFixed(0)} ms`)
  }
  await stillServes(t, server)
})
