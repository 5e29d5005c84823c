/** Typical webhooks, used with stock kubectl: an injector of sidecars and a policy with exemptions. */
import t from 'tap'
import type { Json } from '../build.js'
import { caBundle, hookServer, type Answer } from '../admission/webhooks/hook-server.js'
import { Kubectl, programs } from './kubectl.js'
import { ServerHere } from './server.js'

const INJECTED = { name: 'proxy', image: 'registry.example/proxy:1' }

/** Like such injectors: changes pods without a sidecar, unless they opt out. */
const inject: Answer = ({ request: { object } }) => {
  const { metadata, spec } = object as Json
  if (metadata.annotations?.['sidecar.example.com/inject'] === 'false' ||
    spec.containers.some(({ name }: Json) => name === INJECTED.name)) {
    return { allowed: true }
  }
  const patch = [
    { op: 'add', path: '/spec/containers/-', value: INJECTED },
    metadata.annotations === undefined
      ? { op: 'add', path: '/metadata/annotations', value: { 'sidecar.example.com/status': 'injected' } }
      : { op: 'add', path: '/metadata/annotations/sidecar.example.com~1status', value: 'injected' }
  ]
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
}

/**
 * Like policy engines: every image needs a tag or digest other than latest. What will be forbidden soon gets a warning.
 */
const judge: Answer = ({ request: { object, kind } }) => {
  const { spec } = object as Json
  const containers = (kind.kind === 'Pod' ? spec : spec.template.spec).containers as Json[]
  const bad = containers.filter(({ image }) => !/[:@]/.test(image) || image.endsWith(':latest'))
    .map(({ name }) => name as string)
  if (bad.length > 0) {
    return {
      allowed: false,
      status: { code: 403, reason: 'Forbidden', message: `[no-latest] container <${bad.join()}> has no fixed image` },
      auditAnnotations: { decision: 'deny' }
    }
  }
  const old = containers.filter(({ image }) => image.includes(':1')).map(({ name }) => name as string)
  return {
    allowed: true,
    ...(old.length === 0 ? {} : { warnings: [`[old-images] container <${old.join()}> has an old image`] })
  }
}

const manifests = (injector: string, policy: string): Json => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'admissionregistration.orch.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'sidecar-injector' },
      webhooks: [{
        name: 'sidecar.example.com',
        clientConfig: { url: injector, caBundle },
        rules: [
          { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: 'Namespaced' }
        ],
        namespaceSelector: { matchLabels: { 'sidecar-injection': 'enabled' } },
        reinvocationPolicy: 'IfNeeded',
        sideEffects: 'None',
        admissionReviewVersions: ['v1', 'v1beta1']
      }]
    },
    {
      apiVersion: 'admissionregistration.orch.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'policy' },
      webhooks: [{
        name: 'validation.policy.example.com',
        clientConfig: { url: policy, caBundle },
        rules: [
          {
            operations: ['CREATE', 'UPDATE'],
            apiGroups: ['', 'apps'],
            apiVersions: ['*'],
            resources: ['pods', 'deployments', 'replicasets', 'daemonsets', 'statefulsets']
          }
        ],
        namespaceSelector: {
          matchExpressions: [
            { key: 'policy.example.com/ignore', operator: 'DoesNotExist' },
            { key: 'orch.io/metadata.name', operator: 'NotIn', values: ['orch-system'] }
          ]
        },
        objectSelector: {
          matchExpressions: [{ key: 'policy.example.com/exempt', operator: 'NotIn', values: ['yes'] }]
        },
        failurePolicy: 'Fail',
        timeoutSeconds: 30,
        sideEffects: 'None',
        admissionReviewVersions: ['v1']
      }]
    }
  ]
})

for (const program of programs()) {
  t.test(`kubectl ${program.version}, a sidecar injector and a policy`, async t => {
    const [injector, policy] = [await hookServer(t, inject), await hookServer(t, judge)]
    const server = await ServerHere.start(t)
    const kubectl = new Kubectl(t, program, server.tokenConfig())
    await kubectl.ok('create', 'namespace', 'mesh')
    await kubectl.ok('label', 'namespace', 'mesh', 'sidecar-injection=enabled')
    await kubectl.ok('create', 'namespace', 'free')
    await kubectl.ok('label', 'namespace', 'free', 'policy.example.com/ignore=true')
    await kubectl.ok('apply', `--filename=${kubectl.file('webhooks.json', manifests(injector.url, policy.url))}`)

    t.match(
      await kubectl.ok('get', 'mutatingwebhookconfigurations,validatingwebhookconfigurations'),
      /sidecar-injector +1 +\d+s[^]*policy +1 +\d+s/
    )
    await kubectl.ok('--namespace=mesh', 'run', 'web', '--image=nginx:2')
    const { spec, metadata } = await kubectl.json('--namespace=mesh', 'get', 'pod', 'web')
    t.match(
      spec.containers, [{ name: 'web', image: 'nginx:2' }, INJECTED], 'the sidecar is there, and the policy has seen it'
    )
    t.match(metadata.annotations, { 'sidecar.example.com/status': 'injected' })
    t.match(policy.asked.map(({ request }) => request.object.spec.containers.length), [2])
    await kubectl.ok('--namespace=default', 'run', 'alone', '--image=nginx:2')
    t.equal((await kubectl.json('get', 'pod', 'alone')).spec.containers.length, 1)

    t.equal(
      await kubectl.refused('run', 'bad', '--image=nginx:latest'),
      'Error from server (Forbidden): admission webhook "validation.policy.example.com" denied the request: ' +
      '[no-latest] container <bad> has no fixed image'
    )
    t.match(
      await kubectl.refused('create', 'deployment', 'bad', '--image=nginx'),
      /denied the request: \[no-latest\] container <nginx> has no fixed image/
    )
    await kubectl.ok('create', 'deployment', 'good', '--image=nginx:2')
    t.match(await kubectl.refused('set', 'image', 'deployment/good', '*=nginx'), /container <nginx> has no fixed image/)
    t.match(
      (await kubectl.run(['create', 'deployment', 'old', '--image=nginx:1'])).err,
      /^Warning: \[old-images\] container <nginx> has an old image/m
    )
    t.match(await kubectl.refused('run', 'tried', '--image=nginx', '--dry-run=server'), /has no fixed image/)

    await kubectl.ok('--namespace=free', 'run', 'bad', '--image=nginx')
    await kubectl.ok('run', 'exempt', '--image=nginx', '--labels=policy.example.com/exempt=yes')
    await kubectl.ok('label', 'pod', 'exempt', 'a=b')

    policy.answer = (_review, reply) => { reply.destroy(); return undefined }
    t.match(
      await kubectl.refused('run', 'late', '--image=nginx:2'),
      /^Error from server \(InternalError\): Internal error occurred: failed calling webhook "validation\.policy\.example\.com": failed to call webhook: Post "https:\/\/127\.0\.0\.1:\d+\/hook\?timeout=30s": /
    )
    await kubectl.ok(
      'patch', 'validatingwebhookconfiguration', 'policy', '--type=json',
      '--patch=[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'
    )
    await kubectl.ok('run', 'late', '--image=nginx:2')
    await kubectl.ok('delete', 'mutatingwebhookconfiguration,validatingwebhookconfiguration', '--all')
    await kubectl.ok('--namespace=mesh', 'run', 'plain', '--image=nginx')
    t.equal((await kubectl.json('--namespace=mesh', 'get', 'pod', 'plain')).spec.containers.length, 1)
  })
}
