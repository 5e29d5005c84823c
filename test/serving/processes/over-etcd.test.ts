/** Several processes over etcd: each works like a server of its own, apart from the leader's work. */
import t from 'tap'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { startEtcd } from '../../etcd-process.js'
import { ask, CONFIGS, eventually, kept, several, versionOf } from './server.js'

t.test('several processes over etcd are one server', { timeout: 300_000 }, async t => {
  const { url } = await startEtcd(t)
  // A stand-in for systemd's command that records its arguments and the process that calls it.
  const folder = t.testdir({ 'systemd-notify': '#!/bin/sh\necho "$PPID $*" >> "$NOTIFY_SOCKET"\n' })
  chmodSync(`${folder}/systemd-notify`, 0o755)
  const sent = (): string[] =>
    existsSync(`${folder}/sent`) ? readFileSync(`${folder}/sent`, 'utf8').trimEnd().split('\n') : []
  const { PATH } = process.env
  Object.assign(process.env, { NOTIFY_SOCKET: `${folder}/sent`, PATH: `${folder}:${PATH}` })
  t.teardown(() => {
    delete process.env['NOTIFY_SOCKET']
    process.env['PATH'] = PATH
  })
  const server = await several(t, 2, [`--etcd-servers=${url}`])
  const { port, children, pidOf } = server
  t.equal(children().length, 2, 'no process has a store')

  await eventually('systemd has heard that all are ready', () => sent().length > 0)
  t.same(sent(), [`${server.process.pid} READY=1`])

  const agents = [kept(t), kept(t)]
  for (let round = 0; round < 10; round++) {
    const created = await ask(
      port, 'POST', CONFIGS, JSON.stringify({ metadata: { name: `c-${round}` } }), agents[round % 2]
    )
    for (const agent of agents) {
      t.equal(
        versionOf((await ask(port, 'GET', `${CONFIGS}/c-${round}`, undefined, agent))?.text ?? ''),
        versionOf(created?.text ?? '')
      )
    }
  }

  t.equal((await ask(port, 'PUT', '/debug/flags/v', '4', agents[0]))?.code, 200)
  const leader = pidOf('1')
  process.kill(leader, 'SIGKILL')
  // The leader maintains the contents of namespaces.
  const made = kept(t)
  await eventually('another process leads', async () => {
    await ask(port, 'POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name: 'later' } }), made)
    return (await ask(
      port, 'GET', '/api/v1/namespaces/later/configmaps/orch-root-ca.crt', undefined, made
    ))?.code === 200
  })
  await eventually('the process is replaced', () => pidOf('1') !== 0 && pidOf('1') !== leader)
  await eventually('it is ready', async () => (await ask(port, 'GET', '/readyz'))?.code === 200)
  const since = server.log().length
  await eventually('it logs requests, as the others', async () => {
    await ask(port, 'GET', '/version')
    return server.log().slice(since).split('\n').some(line => line.includes('/version') && line.includes('process=1'))
  })
  server.process.kill('SIGTERM')
  t.equal(await server.exit, 0)
  t.same(sent().slice(1), [`${server.process.pid} STOPPING=1`])
})

t.test('custom objects are selected by their fields in every process', { timeout: 300_000 }, async t => {
  const { url } = await startEtcd(t)
  const { port } = await several(t, 2, [`--etcd-servers=${url}`, '--emulated-version=1.36'])
  const agents = [kept(t), kept(t)]
  const schema = {
    openAPIV3Schema: {
      type: 'object', properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } }
    }
  }
  const definition = {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema, selectableFields: [{ jsonPath: '.spec.color' }] }]
    }
  }
  const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
  const widget = (name: string, color?: string): string => JSON.stringify({
    apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec: color === undefined ? {} : { color }
  })
  const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
  await eventually('the definition is made', async () => {
    const answer = await ask(port, 'POST', definitions, JSON.stringify(definition))
    return [201, 409].includes(answer?.code ?? 0)
  })
  for (const agent of agents) {
    await eventually('it is served', async () => (await ask(port, 'GET', WIDGETS, undefined, agent))?.code === 200)
  }
  for (const [at, [name, color]] of ([['a', 'blue'], ['b', 'red'], ['c'], ['d', 'blue']] as const).entries()) {
    t.equal((await ask(port, 'POST', WIDGETS, widget(name, color), agents[at % 2]))?.code, 201)
  }
  const selected = async (selector: string, agent = agents[0]): Promise<string[]> => {
    const { text } =
      await ask(port, 'GET', `${WIDGETS}?fieldSelector=${encodeURIComponent(selector)}`, undefined, agent) ?? {}
    return (JSON.parse(text ?? '') as { items: Array<{ metadata: { name: string } }> }).items
      .map(({ metadata }) => metadata.name)
  }
  for (const agent of agents) {
    t.same(await selected('spec.color=blue', agent), ['a', 'd'])
    t.same(await selected('spec.color!=blue', agent), ['b', 'c'])
    t.same(await selected('spec.color=', agent), ['c'])
  }
  t.equal((await ask(port, 'DELETE', `${WIDGETS}?fieldSelector=spec.color%3Dblue`, undefined, agents[1]))?.code, 200)
  for (const agent of agents) t.same(await selected('metadata.namespace=default', agent), ['b', 'c'])
})
