/**
 * Logs, commands, ports and proxies by stock kubectl and the public client library, against a node agent with
 * certificates of its own.
 */
import t from 'tap'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { Exec, KubeConfig, type V1Status } from '@kubernetes/client-node'
import { flagged } from '../flagged-server.js'
import { nodeAgent, PODS } from '../node-agent.js'
import { ANN, coraIn, folderOf, kubeconfigIn, serverOf } from './agent-server.js'
import { Kubectl, everyProgram } from './kubectl.js'
import { until } from './server.js'
import { speak } from './speaking-agent.js'

for (const program of everyProgram()) {
  t.test(`kubectl ${program.version}`, async t => {
    const following: ServerResponse[] = []
    const agent = await nodeAgent(t, {
      request: (request, response) => {
        response.write(`asked for ${request.url}\n`)
        if (request.url?.includes('follow=true') === true) following.push(response)
        else response.end()
      },
      upgrade: speak
    })
    const folder = folderOf(t)
    const server = await serverOf(t, folder, agent)
    const kubectl = new Kubectl(t, program, kubeconfigIn(folder, server.port))

    await t.test('reads a log', async t => {
      t.equal(await kubectl.ok('logs', 'web'), 'asked for /containerLogs/default/web/main')
      t.equal(
        await kubectl.ok(
          'logs', 'web', '--tail=5', '--timestamps', '--container=main', '--since=10s', '--limit-bytes=1000',
          '--previous'
        ),
        'asked for /containerLogs/default/web/main?limitBytes=1000&previous=true&sinceSeconds=10&tailLines=5&' +
        'timestamps=true'
      )
      t.match(await kubectl.refused('logs', 'web', '--container=other'), /container other is not valid for pod web/)
      t.match(await kubectl.refused('logs', 'nobody'), /pods "nobody" not found/)
    })

    await t.test('follows a log', async t => {
      const following1 = kubectl.begin(t, 'logs', '--follow', 'web')
      await following1.shows(/^asked for .*follow=true\n/)
      following[0]?.write('more\n')
      await following1.shows(/^more\n/m)
      following[0]?.end('last\n')
      t.equal(await following1.end(), 0)
      t.match(following1.out, /last\n$/)
    })

    await t.test('runs a command', async t => {
      t.equal(await kubectl.ok('exec', 'web', '--', 'echo', 'a b', 'c'), 'ran echo a b c')
    })

    await t.test('forwards a port', async t => {
      const forwarding = kubectl.begin(t, 'port-forward', 'pod/web', ':80')
      await forwarding.shows(/^Forwarding from 127\.0\.0\.1:\d+ -> 80$/m)
      const socket = connect(Number(/127\.0\.0\.1:(\d+)/.exec(forwarding.out)?.[1]), '127.0.0.1')
      t.teardown(() => { socket.destroy() })
      socket.setEncoding('utf8').write('through')
      t.same(await once(socket, 'data'), ['through'])
    })

    await t.test('requests a path of a node through its own proxy', async t => {
      t.equal(await kubectl.ok('get', '--raw=/api/v1/nodes/n/proxy/metrics'), 'asked for /metrics')
      const proxy = kubectl.begin(t, 'proxy', '--port=0')
      await proxy.shows(/^Starting to serve on 127\.0\.0\.1:\d+$/m)
      const port = /127\.0\.0\.1:(\d+)/.exec(proxy.out)?.[1]
      const answer = await fetch(`http://127.0.0.1:${port}${PODS}/web/log?tailLines=1`)
      t.equal(await answer.text(), 'asked for /containerLogs/default/web/main?tailLines=1\n')
    })
  })
}

t.test('kubectl reaches a pod through the server', async t => {
  const folder = folderOf(t)
  const pod = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<a href="/${request.method}${request.url}">`)
  })
  pod.listen(0, '127.0.0.1')
  await once(pod, 'listening')
  t.teardown(() => {
    pod.closeAllConnections()
    pod.close()
  })
  const server = await flagged(t, folder, [`--token-auth-file=${folder}/tokens.csv`], { connections: { nearby: true } })
  await server.post(PODS, {
    metadata: { name: 'web' },
    spec: {
      containers: [{ name: 'main', image: 'i', ports: [{ containerPort: (pod.address() as AddressInfo).port }] }]
    }
  })
  await server.patch(`${PODS}/web/status`, { status: { podIP: '127.0.0.1' } })
  const kubeconfig = kubeconfigIn(folder, server.port)
  for (const program of everyProgram()) {
    const kubectl = new Kubectl(t, program, kubeconfig)
    t.equal(
      await kubectl.ok('get', `--raw=${PODS}/web/proxy/page?a=b`), `<a href="${PODS}/web/proxy/GET/page?a=b">`,
      program.version
    )
    t.equal(
      await kubectl.ok('create', `--raw=${PODS}/web/proxy/page`, `--filename=${kubectl.file('sent.json', '{}')}`),
      `<a href="${PODS}/web/proxy/POST/page">`
    )
  }
})

t.test('a command over WebSockets by the client library', async t => {
  const agent = await nodeAgent(t, { upgrade: speak })
  const folder = folderOf(t)
  const server = await serverOf(t, folder, agent)
  for (const [user, name] of [[ANN, 'ann'], [coraIn(folder), 'cora']] as const) {
    const config = new KubeConfig()
    config.loadFromFile(kubeconfigIn(folder, server.port, user))
    const out = new PassThrough()
    let text = ''
    out.setEncoding('utf8').on('data', (piece: string) => { text += piece })
    let socket: { close: () => void } | undefined
    const status = await new Promise<V1Status>((resolve, reject) => {
      new Exec(config).exec('default', 'web', 'main', ['date', '-u'], out, null, null, false, resolve).then(
        made => { socket = made }, reject
      )
    })
    await until('the output', () => text.endsWith('\n'))
    t.equal(status.status, 'Success')
    t.equal(text, 'ran date -u\n')
    t.equal(server.seen.at(-1)?.username, name)
    socket?.close()
  }
})
