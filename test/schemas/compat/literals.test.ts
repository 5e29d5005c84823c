/** Every literal of a name in the product has a partner in the tables, or is meant to be the same under both names. */
import t from 'tap'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import resources from '../../facts/resources.json' with { type: 'json' }
import later from '../../facts/1.36/resources.json' with { type: 'json' }
import { translatePath } from '../../../schemas/compat/requests.js'
import {
  bothWays, CONFIGURATION_GROUPS, KINDS, PAIRS, SELECTOR_ANNOTATIONS, TAINT_ANNOTATIONS
} from '../../../schemas/compat/names.js'
import {
  namesOf, translateAllocator, translateComponent, translateCounted, translateGroup, translateKey, translateMountPath,
  translateNamespace, translateNamespaceFinalizer, translateUser, translateVolume
} from '../../../schemas/compat/text.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const files = execFileSync(
  'git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], { cwd: root, encoding: 'utf8' }
)
  .trim()
  .split('\n')
  .filter(file => !/^(?:test|testing|examples|build|schemas\/compat)\//.test(file))

/** Names in the strings of a file, without comments and imports. */
function namesIn (file: string): string[] {
  const code = readFileSync(root + file, 'utf8')
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/^(?:import|export) [^']* from '.*'$/gm, '')
    .replace(/import\('[^']*'\)/g, '')
  return [...code.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|"((?:[^"\\\n]|\\.)*)"/g)]
    .flatMap(([, one, two, three]) => [
      ...(one ?? two ?? three ?? '').matchAll(/[\w.:/*-]*(?:orch|k8s\.io|kube|node-agent)[\w.:/*-]*/g)
    ].map(([name]) => name))
}

const configuration = bothWays(CONFIGURATION_GROUPS)
const translations = [
  (text: string) => configuration.get(text.replace(/\/v\d\w*$/, '')) ?? text,
  translatePath,
  translateGroup, translateKey, translateNamespace, translateUser, translateVolume, translateMountPath,
  translateAllocator, translateComponent, translateNamespaceFinalizer,
  ...KINDS.filter(([, , , names]) => typeof names !== 'string').map(([group, plural]) =>
    namesOf(group, plural) ?? translateKey)
]
const PLURALS: ReadonlySet<string> = new Set([
  ...resources.resources, ...later.resources
].map(({ resource }) => resource))
/** The name itself, or as the beginning or end of one, or in the notations of default roles and of types. */
function hasPartner (name: string): boolean {
  const plain = name.replace(/^(?:User|ServiceAccount):/, '').replace(/[.:]+$/, '')
  const [, account = plain] = /^(?:User|ServiceAccount):([^:]+)/.exec(name) ?? []
  const [, group = plain, plural = ''] = /^([\w.]+\.(?:orch|k8s)\.io)\/([a-z]*)$/.exec(name) ?? []
  const typed = plural === '' || PLURALS.has(plural) ? group : plain
  return [plain, account, typed, `${plain}x`, `x${plain}`, `x${plain}x`].some(one =>
    translations.some(of => of(one) !== one))
}

/** What has one name, and why. */
const SAME: ReadonlyArray<readonly [why: string, names: RegExp]> = [
  [
    'metadata of audit events, which have our names',
    /^(?:audit\.orch\.io\/truncated|apiserver\.latency\.orch\.io\/|authorization\.orch\.io\/(?:decision|reason)|orch\.io\/(?:deprecated|removed-release)|.*\.webhook\.admission\.orch\.io\/|podsecuritypolicy\.policy\.orch\.io\/)$/
  ],
  ['our own invention', /^(?:authorization\.orch\.io\/explain|orch-default.*)$/],
  ['kubectl writes it for every server', /^kubectl\.(?:kubernetes|orch)\.io\/last-applied-configuration$/],
  ['ours by the sources, restricted beside the one that we have', /^orch\.io\/kube-apiserver-client$/],
  [
    'a domain that rules know under every name',
    /^\.?(?:orch\.io|k8s\.io|kubernetes\.io|node\.kubernetes\.io|kubelet\.kubernetes\.io|kubelet\.orch\.io|node-agent\.orch\.io|config\.(?:orch|k8s)\.io)\/?$/
  ],
  ['names of both kinds in claims', /^(?:orch|kubernetes)\/serviceaccount$|^orch\.io\/serviceaccount$/],
  ['the locks and service accounts of components, of either name', /^orch-(?:controller-manager|scheduler|dns)$/],
  [
    'flag, file, folder, process or metric',
    /^(?:-{0,2}[a-z-]*kubeconfig[.:]?|kubelet-(?:client-certificate|client-key|certificate-authority|timeout|preferred-address-types)|orch-apiserver\/(?:package\.json)?|orch-client|kube[Cc]onfig\w*|.*kubeConfigFile:?|(?:--)?node-agent-.*|orch-(?:data|store|snapshot|apiserver-?:?|egress-|service-node-port)|\/var\/run\/orch|\w*orch_\w+|kubernetes_healthchecks?(?:_total)?|kubernetes_feature_enabled)$/
  ],
  ['a resource with its group, in a look-up', /^apiservices\.apiregistration\.orch\.io$/],
  ['a label of applications, which have one name', /^app\.orch\.io\/created-by$/],
  ['a member of the program, such as a decorator', /^(?:fastify\.)?orch(?:[A-Z]\w*)?(?:\.\w+)*$/],
  ['a plugin of Fastify', /^orch\/[a-z/0-9-]+$/],
  ['the form of stored values', /^orch:enc:(?:kms:)?$/],
  ['a package, which OpenAPI renames', /^io\.orch\.[\w.-]+$/],
  ['extensions and headers, which are renamed as such', /^\.?x-(?:orch|kubernetes)(?:-[a-z-]*)?[.:]?$/],
  ['media types, which are renamed as such', /^application\/vnd\.(?:orch|kubernetes)\.protobuf$/],
  ['an address', /^https:\/\/(?:github\.com\/orch|orch\.io|orch\.default\.svc)[./]|^orch\.default\.svc\.$/],
  [
    'a program or user of this release',
    /^(?:kubectl[.:]?|kube|kube-system|kubernetes|node-agent|orch|orch:|orch-|orch_proxy)$/
  ],
  ['a member of the API', /^\.?(?:configMap\.)?kubeletConfigKey$/],
  [
    'a part of a name',
    /^(?:\.storageclass\.storage\.orch\.io\/|node-restriction\.orch\.io|(?:apparmor\.security\.beta|seccomp\.security\.alpha)\.orch\.io\/?|\.orch\.io\/)$/
  ]
]

t.test('every literal of a name has a partner, or is meant to be the same', t => {
  const used = new Set<string>()
  for (const file of files) {
    for (const name of namesIn(file)) {
      const reason = SAME.find(([, names]) => names.test(name))
      if (reason !== undefined) used.add(reason[0])
      if (reason === undefined && !hasPartner(name)) {
        t.fail(`${file}: ${name} is in no table of schemas/compat/names.ts`)
      }
    }
  }
  t.strictSame(SAME.filter(([why]) => !used.has(why)).map(([why]) => why), [], 'each reason is needed')
  t.notOk(hasPartner('volumes.storage.orch.io'), 'an unknown name would be found')
  t.end()
})

t.test('what annotations and maps of amounts hold is translated as what it is', t => {
  for (const key of [...SELECTOR_ANNOTATIONS, ...TAINT_ANNOTATIONS]) {
    t.ok(PAIRS['keys']?.some(([, ours]) => ours === key), key)
  }
  t.equal(translateCounted('kubernetes.io/batch-cpu'), 'orch.io/batch-cpu')
  t.equal(translateCounted('requests.orch.io/batch-cpu'), 'requests.kubernetes.io/batch-cpu')
  t.equal(translateCounted('example.com/orch'), 'example.com/orch')
  t.end()
})
