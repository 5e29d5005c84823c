/**
 * Each verb that the newest kubectl has, once, as its users write it: public names, release 1.36. What the answers hold
 * is checked elsewhere.
 */
import t from 'tap'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { nodeAgent } from '../node-agent.js'
import { folderOf, kubeconfigIn, serverOf } from './agent-server.js'
import { everyProgram, Kubectl } from './kubectl.js'
import { speak } from './speaking-agent.js'

const program = everyProgram().at(-1)
if (program === undefined) throw new Error('there is no kubectl')

/** They concern no server. */
const LOCAL = ['completion', 'config', 'kuberc', 'plugin']

const REQUEST = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: 'asked' } }
const PEM = `-----BEGIN CERTIFICATE REQUEST-----
MIHiMIGKAgEAMCgxDjAMBgNVBAMMBWhlbGxvMRYwFAYDVQQKDA1zeXN0ZW06bm9kZXMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ=
-----END CERTIFICATE REQUEST-----
`

t.test(`kubectl ${program.version}`, async t => {
  const agent = await nodeAgent(t, {
    request: (request, response) => { response.end(`asked for ${request.url}\n`) }, upgrade: speak
  })
  const folder = folderOf(t)
  const server = await serverOf(t, folder, agent, '--emulated-version=1.36', '--compat-names=true')
  const kubectl = new Kubectl(t, program, kubeconfigIn(folder, server.port))
  const played = new Set<string>()
  const plays = async (line: string, shows: RegExp): Promise<void> => {
    const [verb = '', ...args] = line.split(' ')
    played.add(verb)
    const { code, out, err } = await kubectl.run([verb, ...args], { EDITOR: 'true', KUBE_EDITOR: 'true' })
    t.match({ code, shown: out + err }, { code: 0, shown: shows }, line)
  }
  const refuses = async (line: string, shows: RegExp): Promise<void> => {
    const [verb = '', ...args] = line.split(' ')
    played.add(verb)
    t.match(await kubectl.refused(verb, ...args), shows, line)
  }

  await t.test('objects', async () => {
    await plays('create deployment app --image=one --replicas=2', /deployment.apps\/app created/)
    await plays('expose deployment app --port=80', /service\/app exposed/)
    await plays('run once --image=one --restart=Never', /pod\/once created/)
    await plays('set image deployment/app one=two', /image updated/)
    await plays('explain deployments.spec.strategy', /FIELD: strategy <DeploymentStrategy>/)
    await plays('get deployments,services --output=wide', /deployment.apps\/app[^]*service\/app/)
    const file = kubectl.file('map.json', {
      apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'map' }, data: { a: 'b' }
    })
    await refuses(`diff --filename=${file}`, /^$/)
    await plays(`apply --server-side --filename=${file}`, /configmap\/map serverside-applied/)
    await plays(`apply --filename=${file}`, /configmap\/map configured/)
    await plays('patch configmap map --type=merge --patch={"data":{"c":"d"}}', /configmap\/map patched/)
    await plays(`replace --filename=${file}`, /configmap\/map replaced/)
    await plays('label configmap map tier=one', /labeled/)
    await plays('annotate configmap map note=one', /annotated/)
    await plays('edit configmap map', /no changes made/)
    await plays('wait --for=jsonpath={.metadata.labels.tier}=one configmap/map', /condition met/)
    kubectl.file('kustomization.yaml', { resources: ['map.json'], namePrefix: 'new-' })
    await plays('kustomize .', /name: new-map/)
    await plays('describe configmap map', /^Name: +map/)
    await plays('delete configmap map', /deleted/)
  })

  await t.test('workloads, nodes and certificates', async () => {
    await plays('rollout history deployment/app', /deployment\.apps\/app/)
    await plays('rollout restart deployment/app', /restarted/)
    await plays('scale deployment/app --replicas=3', /scaled/)
    await plays('autoscale deployment app --min=1 --max=3 --cpu=50%', /autoscaled/)
    await plays('cordon n', /node\/n cordoned/)
    await plays('uncordon n', /node\/n uncordoned/)
    await plays('taint nodes n key=value:NoSchedule', /node\/n tainted/)
    await plays('drain n --dry-run=server --force', /drained/)
    await plays('events', /No events found|LAST SEEN/)
    const asked = kubectl.file('request.json', {
      ...REQUEST,
      spec: { request: Buffer.from(PEM).toString('base64'), signerName: 'example.com/own', usages: ['client auth'] }
    })
    await kubectl.run(['create', `--filename=${asked}`])
    await refuses('certificate approve nobody', /not found/)
    await refuses('top nodes', /Metrics API not available/)
  })

  await t.test('pods', async t => {
    await plays('logs web --follow', /asked for \/containerLogs.*follow=true/)
    await plays('exec web -- echo a', /^ran echo a/)
    await plays('attach web', /^ran /)
    const sent = kubectl.file('sent', 'x'.repeat(1_000_000))
    await plays(`cp web:${sent} copied`, /./)
    t.equal(readFileSync(join(dirname(sent), 'copied'), 'utf8').length, 1_000_000)
    mkdirSync(join(dirname(sent), 'there'))
    await plays(`cp ${sent} web:${dirname(sent)}/there/sent`, /^/)
    t.equal(readFileSync(join(dirname(sent), 'there', 'sent'), 'utf8').length, 1_000_000)
    const { code, err } = await kubectl.run(['exec', 'web', '--', 'sh', '-c', 'echo no >&2; exit 7'])
    t.match({ code, err }, { code: 7, err: /^no\ncommand terminated with exit code 7/ })
    t.equal(await kubectl.fed('typed', 'exec', '-i', 'web', '--', 'cat'), 'typed')
    await plays('debug web --image=two --container=looks --attach=false', /^$/)
    t.match(await kubectl.ok('get', 'pod', 'web', '--output=jsonpath={.spec.ephemeralContainers[*].name}'), 'looks')
    const forwarding = kubectl.begin(t, 'port-forward', 'pod/web', ':80')
    played.add('port-forward')
    await forwarding.shows(/^Forwarding from 127\.0\.0\.1:\d+ -> 80$/m)
    const socket = connect(Number(/127\.0\.0\.1:(\d+)/.exec(forwarding.out)?.[1]), '127.0.0.1')
    t.teardown(() => { socket.destroy() })
    socket.setEncoding('utf8').write('through')
    t.same(await once(socket, 'data'), ['through'])
    t.strictSame(new Set(agent.asked.map(({ headers }) => headers.upgrade)), new Set([undefined, 'SPDY/3.1']))
    const metrics = await kubectl.ok('get', '--raw=/metrics')
    t.match(metrics, /^apiserver_stream_translator_requests_total\{code="200"\} [5-9]/m)
    t.match(metrics, /^apiserver_stream_tunnel_requests_total\{code="101"\} 1$/m)
    const proxy = kubectl.begin(t, 'proxy', '--port=0')
    played.add('proxy')
    await proxy.shows(/^Starting to serve on 127\.0\.0\.1:\d+$/m)
  })

  await t.test('the cluster, and who asks', async () => {
    await plays('cluster-info', /control plane.* is running at/)
    await plays('auth whoami', /Username +ann/)
    await plays('auth can-i --list', /selfsubjectreviews|\*\.\*/)
    await plays('api-resources', /selfsubjectreviews/)
    await plays('api-versions', /^apps\/v1$/m)
    await plays('version', /Server Version/)
  })

  await t.test('nothing that it knows is left out', async t => {
    const verbs = [...(await kubectl.ok('--help')).matchAll(/^ {2}([a-z][a-z-]+) {2,}/gm)].map(([, verb = '']) => verb)
    t.ok(verbs.length > 35)
    t.strictSame(verbs.filter(verb => !played.has(verb) && !LOCAL.includes(verb)), [])
  })
})
