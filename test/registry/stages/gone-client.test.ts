import { once } from 'node:events'
import { request } from 'node:http'
import t from 'tap'
import { listen } from '../../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'

t.test('a write whose client disconnects during admission is not stored', async t => {
  let asked = (): void => {}
  let go = (): void => {}
  let signal: AbortSignal | undefined
  let waits = false
  const validated: string[] = []
  const plugin = {
    name: 'Waits',
    handles: [{ operations: ['CREATE', 'UPDATE'] as const, groups: [''], resources: ['configmaps'] }],
    async mutate (seen: { readonly name: string, readonly signal: AbortSignal }): Promise<void> {
      if (!waits) return
      signal = seen.signal
      const goes = new Promise<void>(resolve => { go = resolve })
      asked()
      await goes
    },
    validate ({ name }: { readonly name: string }): void { validated.push(name) }
  }
  const server = await listen(t, { admission: { plugins: [plugin] } })
  await server.post(CONFIGS, { metadata: { name: 'left-alone' }, data: { k: 'before' } })
  waits = true
  for (const [method, path] of [['POST', ''], ['PUT', '/left-alone']] as const) {
    const isAsked = new Promise<void>(resolve => { asked = resolve })
    const sent = request(`${server.url}${CONFIGS}${path}`, { method, headers: { 'content-type': 'application/json' } })
    sent.on('error', () => {})
    sent.end(JSON.stringify({ metadata: { name: path === '' ? 'left' : 'left-alone' }, data: { k: 'after' } }))
    await isAsked
    sent.destroy()
    if (signal?.aborted === false) await once(signal, 'abort')
    go()
  }
  waits = false
  await server.post(CONFIGS, { metadata: { name: 'last' } })
  t.strictSame(validated, ['left-alone', 'last'])
  t.equal((await server.get(`${CONFIGS}/left`)).code, 404)
  t.match(await server.get(`${CONFIGS}/left-alone`), { json: { data: { k: 'before' } } })
})
