/** `--authorization-config`: several webhooks with conditions, beside the modes. */
import t, { type Test } from 'tap'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArguments } from '../../config/command-line.js'
import { configuration } from '../../config/options.js'
import { flagged, SERVER_FILES, type Flagged } from '../flagged-server.js'
import { until } from '../interop/server.js'
import { CA, kubeconfig, reviewer, type Reviewer } from '../reviewer.js'

type Json = Record<string, unknown>
const KIND = { apiVersion: 'apiserver.config.orch.io/v1', kind: 'AuthorizationConfiguration' }
const MAPS = '/api/v1/namespaces/default/configmaps'
const YES: Reviewer['answer'] = () => ({ allowed: true })
const NO_OPINION: Reviewer['answer'] = () => ({ allowed: false })
const OF_RESOURCES = { expression: 'has(request.resourceAttributes)' }
const RBAC = { type: 'RBAC', name: 'rbac' }

const webhook = (name: string, kubeConfigFile: string, more: Json = {}): Json => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout: '3s', subjectAccessReviewVersion: 'v1', failurePolicy: 'NoOpinion',
    ...'matchConditions' in more
      ? {
          matchConditionSubjectAccessReviewVersion: 'v1'
        }
      : {}, // needed by conditions alone
    unauthorizedTTL: '1ms', connectionInfo: { type: 'KubeConfigFile', kubeConfigFile }, ...more
  }
})

interface Serving extends Flagged {
  readonly folder: string
  readonly as: (path: string, user?: string) => Promise<number>
  readonly rewrite: (authorizers: readonly Json[]) => void
}

async function serve (
  t: Test, authorizers: (folder: string) => readonly Json[], ports: Record<string, number> = {},
  more: readonly string[] = []
): Promise<Serving> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-authorization-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  for (const [name, content] of Object.entries({
    ...SERVER_FILES,
    'ca.crt': CA,
    tokens:
      'ann-token,ann,u1,dev\nroot-token,root,u2,system:masters\n' +
      'system-token,system:serviceaccount:kube-system:a,u3,system:serviceaccounts:kube-system\n'
  })) {
    writeFileSync(join(folder, name), content, { mode: 0o600 })
  }
  for (const [name, port] of Object.entries(ports)) writeFileSync(join(folder, name), kubeconfig(port))
  const file = join(folder, 'authorization.yaml')
  const rewrite = (given: readonly Json[]): void => {
    writeFileSync(file, JSON.stringify({ ...KIND, authorizers: given }))
  }
  rewrite(authorizers(folder))
  const flags = [`--authorization-config=${file}`, `--token-auth-file=${folder}/tokens`, ...more]
  const { options } = await configuration(parseArguments([`--data-dir=${folder}/data`, ...flags]))
  const server = await flagged(t, folder, flags, { authorization: options.authorization ?? {} })
  return {
    ...server,
    folder,
    rewrite,
    as: async (path, user = 'ann') => (await server.get(path, { authorization: `Bearer ${user}-token` })).code
  }
}

t.test('webhooks decide in their order, each where its conditions are true', async t => {
  const [one, other] = [await reviewer(t, NO_OPINION), await reviewer(t, YES)]
  const { as, get } = await serve(t, folder => [
    webhook('one.example.com', `${folder}/one`, {
      matchConditions: [
        { expression: "has(request.resourceAttributes) && request.resourceAttributes.resource == 'configmaps'" }
      ]
    }),
    webhook('other.example.com', `${folder}/other`, {
      matchConditions: [{ expression: "request.user == 'ann'" }, { expression: "'dev' in request.groups" }]
    }),
    RBAC
  ], { one: one.port, other: other.port })
  t.equal(await as(MAPS), 200)
  t.equal(one.asked.length, 1)
  t.match(other.asked, [{ spec: { user: 'ann', resourceAttributes: { resource: 'configmaps' } } }])
  t.equal(await as('/api/v1/nodes'), 200)
  t.equal(one.asked.length, 1, 'its condition is false')
  one.answer = () => ({ allowed: false, denied: true })
  t.equal(await as(`${MAPS}/a`), 403, 'a denial ends the question')
  t.equal(await as(MAPS, 'root'), 200, 'superusers are allowed before anybody is asked')
  t.equal((await get(MAPS)).code, 403)
  const metrics = (await get('/metrics', { authorization: 'Bearer root-token' })).body
  t.match(
    metrics, /authorization_decisions_total{type="Webhook",name="one\.example\.com",decision="denied"} 2\n/,
    'of ann and of nobody'
  )
  t.match(metrics, /authorization_decisions_total{type="Webhook",name="other\.example\.com",decision="allowed"} 2\n/)
  t.match(metrics, /match_condition_exclusions_total{type="Webhook",name="one\.example\.com"} [1-9]/)
})

t.test('with --compat-names conditions are about the names that clients and webhooks know', async t => {
  const system = await reviewer(t, () => ({ allowed: false, denied: true }))
  const { as } = await serve(t, folder => [
    webhook('system.example.com', `${folder}/system`, {
      matchConditions: [
        { expression: "has(request.resourceAttributes) && request.resourceAttributes.namespace == 'kube-system'" },
        { expression: "!('system:serviceaccounts:kube-system' in request.groups)" }
      ]
    }),
    { type: 'AlwaysAllow', name: 'alwaysallow' }
  ], { system: system.port }, ['--compat-names'])
  t.equal(await as('/api/v1/namespaces/kube-system/configmaps'), 403)
  t.equal(await as('/api/v1/namespaces/kube-system/configmaps', 'system'), 200)
  t.equal(await as(MAPS), 200)
  t.match(system.asked, [{ spec: { user: 'ann', resourceAttributes: { namespace: 'kube-system' } } }])
})

t.test('what a webhook that fails means is its policy, and so it is for conditions', async t => {
  const broken = await reviewer(t, (_review, reply) => { reply.writeHead(403).end() })
  for (const [failurePolicy, expected] of [['NoOpinion', 200], ['Deny', 500]] as const) {
    for (const more of [[], [{ expression: "request.resourceAttributes.name.split('-')[5] == 'a'" }]]) {
      const good = await reviewer(t, YES)
      const { as } = await serve(
        t,
        folder => [
          webhook('broken', `${folder}/broken`, { failurePolicy, matchConditions: [OF_RESOURCES, ...more] }),
          webhook('good', `${folder}/good`)
        ],
        { broken: broken.port, good: good.port }
      )
      t.equal(await as(`${MAPS}?limit=1`), expected, `${failurePolicy} ${JSON.stringify(more)}`)
    }
  }
})

/** Reviews of resources; the tests ask for /readyz too. */
const reviewed = ({ asked }: Reviewer): number =>
  asked.filter(({ spec }) => (spec as Json)['resourceAttributes'] !== undefined).length

t.test('answers are kept as the file says', async t => {
  const service = await reviewer(t, YES)
  const { as } = await serve(
    t, folder => [webhook('one', `${folder}/one`, { cacheAuthorizedRequests: false })], { one: service.port }
  )
  t.same([await as(MAPS), await as(MAPS)], [200, 200])
  t.equal(reviewed(service), 2)
  const kept = await reviewer(t, YES)
  const keeping = await serve(t, folder => [webhook('one', `${folder}/one`)], { one: kept.port })
  t.same([await keeping.as(MAPS), await keeping.as(MAPS)], [200, 200])
  t.equal(reviewed(kept), 1)
})

t.test('a new content replaces the authorizers, and one that is wrong changes nothing', async t => {
  const [one, other] = [await reviewer(t, NO_OPINION), await reviewer(t, YES)]
  const { as, rewrite, get, log, folder } = await serve(
    t, folder => [webhook('one', `${folder}/one`), RBAC], { one: one.port, other: other.port }
  )
  const counted = async (status: string): Promise<string | undefined> =>
    new RegExp(
      'authorization_config_controller_automatic_reloads_total{apiserver_id_hash="sha256:[0-9a-f]{64}",' +
      `status="${status}"} (\\d+)`
    ).exec((await get('/metrics', { authorization: 'Bearer root-token' })).body)?.[1]
  t.equal(await as(MAPS), 403)
  rewrite([webhook('other', `${folder}/other`), RBAC])
  await until('the other webhook', async () => await counted('success') === '1')
  t.equal(await as(MAPS), 200)
  for (const [index, wrong] of [
    [], [{ type: 'Node', name: 'node' }, RBAC], [webhook('none', `${folder}/none`)]
  ].entries()) {
    rewrite(wrong)
    await until('the refusal', async () => await counted('failure') === String(index + 1))
    t.equal(await as(MAPS), 200, JSON.stringify(wrong))
  }
  t.match(log.join(''), /at least one authorizer[^]*Node cannot be added without a restart/)
  rewrite([RBAC])
  await until('RBAC alone', async () => await counted('success') === '2')
  t.equal(await as(MAPS), 403)
})

t.test('what a file may not have', async t => {
  const folder = t.testdir({ webhook: kubeconfig(1), 'ca.crt': CA })
  const file = join(folder, 'authorization.yaml')
  const path = `${folder}/webhook`
  const refused = async (flags: readonly string[], pattern: RegExp): Promise<void> => {
    await t.rejects(configuration(parseArguments([`--authorization-config=${file}`, ...flags])), { message: pattern })
  }
  const write = (authorizers: unknown): void => { writeFileSync(file, JSON.stringify({ ...KIND, authorizers })) }
  for (const [authorizers, pattern] of [
    [[], /at least one authorizer/],
    [[RBAC, RBAC], /authorizers\[1\]\.type: .*[Dd]uplicate/],
    [[{ type: 'RBAC', name: 'mine' }], /authorizers\[0\]\.name: .*must be rbac/],
    [[{ type: 'Other', name: 'other' }], /authorizers\[0\]\.type: .*supported/i],
    [[{ ...RBAC, webhook: {} }], /unknown|webhook/],
    [[{ type: 'Webhook', name: 'a' }], /authorizers\[0\]\.webhook: /],
    [[webhook('A_B', path)], /authorizers\[0\]\.name: /],
    [[webhook('a', path), webhook('a', path)], /authorizers\[1\]\.name: .*[Dd]uplicate/],
    [[webhook('a', path, { timeout: '31s' })], /timeout: .*at most 30s/],
    [[webhook('a', path, { timeout: '0s' })], /timeout: /],
    [[webhook('a', path, { authorizedTTL: '-1s' })], /authorizedTTL: .*negative/],
    [[webhook('a', path, { subjectAccessReviewVersion: 'v2' })], /subjectAccessReviewVersion: /],
    [[webhook('a', path, { failurePolicy: 'Allow' })], /failurePolicy: /],
    [[webhook('a', path, { connectionInfo: { type: 'InClusterConfig' } })], /connectionInfo\.type: /],
    [[webhook('a', 'webhook')], /kubeConfigFile: .*absolute/],
    [[webhook('a', `${folder}/none`)], /none/],
    [
      [webhook('a', path, { matchConditions: [{ expression: 'request.nothing == 1' }] })],
      /matchConditions\[0\]\.expression: .*compilation failed/
    ],
    [[webhook('a', path, { matchConditions: [{ expression: 'request.user' }] })], /must evaluate to bool/],
    [[webhook('a', path, { matchConditions: [{ expression: 'true' }, { expression: 'true' }] })], /[Dd]uplicate/],
    [
      [
        webhook('a', path, {
          matchConditions: Array.from({ length: 65 }, (_, index) => ({ expression: `request.user == '${index}'` }))
        })
      ],
      /may be 64/
    ],
    [[{ type: 'ABAC', name: 'abac' }], /needs --authorization-policy-file/]
  ] as Array<[Json[], RegExp]>) {
    write(authorizers)
    await refused([], pattern)
  }
  write([RBAC])
  await refused(['--authorization-mode=RBAC'], /excludes --authorization-mode/)
  await refused(['--authorization-webhook-version=v1'], /excludes --authorization-webhook-version/)
  for (const version of ['v1beta1', 'v1alpha1']) {
    writeFileSync(file, JSON.stringify({
      kind: 'AuthorizationConfiguration', apiVersion: `apiserver.config.k8s.io/${version}`, authorizers: [RBAC]
    }))
    await t.resolves(configuration(parseArguments([`--authorization-config=${file}`, '--compat-names=true'])), version)
  }
})
