import t from 'tap'
import { checkSysctlOverlaps } from '../../../../schemas/api/policy/rules/sysctls.js'
import { random } from '../../../random.js'
import { created, creates, served, updated, updates } from '../rules.js'

const policies = served('policy/v1beta1', 'podsecuritypolicies')
const ANY = { rule: 'RunAsAny' }
const VALID = { spec: { seLinux: ANY, runAsUser: ANY, supplementalGroups: ANY, fsGroup: ANY } }
const spec = (more: object) => ({ spec: more })
const range = (min: number, max: number) => ({ ranges: [{ min, max }] })
const annotated = (key: string, value: string) => ({ metadata: { annotations: { [key]: value } } })

const [APPARMOR, APPARMORS] = [
  'apparmor.security.beta.orch.io/defaultProfileName', 'apparmor.security.beta.orch.io/allowedProfileNames'
]
const [SECCOMP, SECCOMPS] = [
  'seccomp.security.alpha.orch.io/defaultProfileName', 'seccomp.security.alpha.orch.io/allowedProfileNames'
]
const ALLOWED = 'spec.allowedUnsafeSysctls'
const FORBIDDEN = 'spec.forbiddenSysctls'
const CLASSES = 'spec.runtimeClass.allowedRuntimeClassNames'

creates(t, policies, VALID, [
  [
    'no strategies', { spec: null }, 'NotSupported spec.runAsUser.rule', 'NotSupported spec.seLinux.rule',
    'NotSupported spec.supplementalGroups.rule', 'NotSupported spec.fsGroup.rule'
  ],
  ['a rule of groups is none of users', spec({ runAsUser: { rule: 'MayRunAs' } }), 'NotSupported spec.runAsUser.rule'],
  [
    'a rule of users is none of groups',
    spec({ fsGroup: { rule: 'MustRunAsNonRoot' }, supplementalGroups: { rule: 'MustRunAsNonRoot' } }),
    'NotSupported spec.fsGroup.rule', 'NotSupported spec.supplementalGroups.rule'
  ],
  ['labels that may be of some kind', spec({ seLinux: { rule: 'MayRunAs' } }), 'NotSupported spec.seLinux.rule'],
  ['labels that must be, without any', spec({ seLinux: { rule: 'MustRunAs' } })],
  [
    'ranges beside any',
    spec({ runAsUser: { rule: 'RunAsAny', ...range(1, 2) }, fsGroup: { rule: 'RunAsAny', ...range(1, 2) } })
  ],
  [
    'no ranges where they must be',
    spec({ runAsUser: { rule: 'MustRunAs' }, fsGroup: { rule: 'MustRunAs' }, supplementalGroups: { rule: 'MayRunAs' } })
  ],
  [
    'a range that ends before it begins', spec({ runAsUser: { rule: 'MustRunAs', ...range(2, 1) } }),
    'Invalid spec.runAsUser.ranges[0].min'
  ],
  [
    'a negative beginning', spec({ fsGroup: { rule: 'MustRunAs', ...range(-1, 1) } }),
    'Invalid spec.fsGroup.ranges[0].min'
  ],
  [
    'a negative end', spec({ supplementalGroups: { rule: 'MustRunAs', ...range(1, -10) } }),
    'Invalid spec.supplementalGroups.ranges[0].max', 'Invalid spec.supplementalGroups.ranges[0].min'
  ],
  ['groups of containers without a rule', spec({ runAsGroup: {} }), 'NotSupported spec.runAsGroup.rule'],
  [
    'ranges of any of them', spec({ runAsGroup: { rule: 'RunAsAny', ...range(1, 2) } }),
    'Invalid spec.runAsGroup.ranges'
  ],
  ['no ranges of what they must be', spec({ runAsGroup: { rule: 'MustRunAs' } }), 'Invalid spec.runAsGroup.ranges'],
  ['or may be', spec({ runAsGroup: { rule: 'MayRunAs' } }), 'Invalid spec.runAsGroup.ranges'],
  [
    'a bad range of what they may be', spec({ runAsGroup: { rule: 'MayRunAs', ...range(3, 1) } }),
    'Invalid spec.runAsGroup.ranges[0].min'
  ],

  ['volumes of all types, and some', spec({ volumes: ['*', 'ephemeral', 'csi', 'hostPath'] })],
  ['of unknown ones', spec({ volumes: ['hostpath', 'none'] }), 'NotSupported spec.volumes'],
  [
    'capabilities that are dropped where all are allowed',
    spec({ requiredDropCapabilities: ['KILL'], allowedCapabilities: ['*'] }), 'Invalid requiredDropCapabilities'
  ],
  [
    'that are dropped and added', spec({ requiredDropCapabilities: ['KILL'], defaultAddCapabilities: ['KILL'] }),
    'Invalid defaultAddCapabilities'
  ],
  [
    'that are dropped and allowed',
    spec({ requiredDropCapabilities: ['KILL', 'CHOWN'], allowedCapabilities: ['KILL', 'CHOWN'] }),
    'Invalid allowedCapabilities'
  ],
  ['the same in other letters', spec({ requiredDropCapabilities: ['KILL'], allowedCapabilities: ['kill'] })],
  ['escalation by default', spec({ defaultAllowPrivilegeEscalation: true })],
  [
    'which is not allowed', spec({ defaultAllowPrivilegeEscalation: true, allowPrivilegeEscalation: false }),
    'Invalid spec.defaultAllowPrivilegeEscalation'
  ],
  ['no escalation by default', spec({ defaultAllowPrivilegeEscalation: false, allowPrivilegeEscalation: false })],
  ['ports of the node that are none', spec({ hostPorts: [{ min: -1, max: 70_000 }, { min: 2, max: 1 }] })],
  [
    'an unknown way to mount', spec({ allowedProcMountTypes: ['Default', 'Masked'] }),
    'NotSupported spec.allowedProcMountTypes[1]'
  ],

  ['paths of the node', spec({ allowedHostPaths: [{ pathPrefix: '/a/..b' }, { pathPrefix: 'c' }] })],
  [
    'no path, behind which nothing is looked at',
    spec({ allowedHostPaths: [{ pathPrefix: '/../..' }, {}, { pathPrefix: '..' }] }),
    'Invalid spec.allowedHostPaths[0]', 'Required spec.allowedHostPaths[1]'
  ],
  [
    'drivers without a name', spec({ allowedFlexVolumes: [{ driver: 'a/b' }, {}] }),
    'Required spec.allowedFlexVolumes.allowedFlexVolumes[1].driver'
  ],
  ['drivers of CSI', spec({ allowedCSIDrivers: [{ name: 'CSI.example.com' }] })],
  ['of bad names', spec({ allowedCSIDrivers: [{}, { name: 'a_b' }, { name: `${'a'.repeat(32)}.${'b'.repeat(32)}` }] }),
    'Required spec.allowedCSIDrivers.allowedCSIDriver[0].name',
    'Invalid spec.allowedCSIDrivers.allowedCSIDriver[0].name',
    'Invalid spec.allowedCSIDrivers.allowedCSIDriver[1].name',
    'TooLong spec.allowedCSIDrivers.allowedCSIDriver[2].name'],

  [
    'kernel parameters', spec({ allowedUnsafeSysctls: ['kernel.msg*', 'a/b/*', 'a_b.c-d'], forbiddenSysctls: ['*'] }),
    `Invalid ${ALLOWED}[0]`, `Invalid ${ALLOWED}[1]`, `Invalid ${ALLOWED}[2]`
  ],
  [
    'that are none', spec({ allowedUnsafeSysctls: ['', 'a.*.b', 'A', '*a', 'a.', '.a', '_a', 'a'.repeat(254)] }),
    ...Array.from({ length: 8 }, (_, index) => `Invalid ${ALLOWED}[${index}]`)
  ],
  ['of as many characters as may be', spec({ forbiddenSysctls: ['a'.repeat(253)] })],
  ['all and another', spec({ forbiddenSysctls: ['a.b', '*'] }), `Forbidden ${FORBIDDEN}.items`],
  [
    'the same allowed and forbidden', spec({ allowedUnsafeSysctls: ['a.b'], forbiddenSysctls: ['a.b'] }),
    `Invalid ${ALLOWED}[0]`
  ],
  [
    'one that is forbidden with others', spec({ allowedUnsafeSysctls: ['a.b'], forbiddenSysctls: ['a.*'] }),
    `Invalid ${ALLOWED}[0]`
  ],
  [
    'one that is allowed with others', spec({ allowedUnsafeSysctls: ['a.*'], forbiddenSysctls: ['x', 'a.b'] }),
    `Invalid ${FORBIDDEN}[1]`
  ],
  [
    'some of those that are forbidden', spec({ allowedUnsafeSysctls: ['a.b*'], forbiddenSysctls: ['a.*'] }),
    `Invalid ${ALLOWED}[0]`
  ],
  [
    'some of those that are allowed', spec({ allowedUnsafeSysctls: ['a.*'], forbiddenSysctls: ['a.b*'] }),
    `Invalid ${FORBIDDEN}[0]`
  ],
  ['the same ones', spec({ allowedUnsafeSysctls: ['a.*'], forbiddenSysctls: ['a.*'] }), `Invalid ${ALLOWED}[0]`],

  [
    'all runtime classes, and a default',
    spec({ runtimeClass: { allowedRuntimeClassNames: ['*'], defaultRuntimeClassName: 'runc' } })
  ],
  ['all and another', spec({ runtimeClass: { allowedRuntimeClassNames: ['*', 'runc'] } }), `Invalid ${CLASSES}`],
  ['one twice', spec({ runtimeClass: { allowedRuntimeClassNames: ['a', 'b', 'a'] } }), `Duplicate ${CLASSES}[2]`],
  ['one of a bad name', spec({ runtimeClass: { allowedRuntimeClassNames: ['a*'] } }), `Invalid ${CLASSES}[0]`],
  [
    'a default that is not allowed',
    spec({ runtimeClass: { allowedRuntimeClassNames: ['a'], defaultRuntimeClassName: 'b' } }), `Required ${CLASSES}`
  ],
  [
    'a default of a bad name', spec({ runtimeClass: { defaultRuntimeClassName: 'a b' } }),
    'Invalid spec.runtimeClass.defaultRuntimeClassName', `Required ${CLASSES}`
  ],

  [
    'profiles',
    {
      metadata: {
        annotations: {
          [APPARMOR]: 'runtime/default',
          [APPARMORS]: 'unconfined,localhost/a',
          [SECCOMP]: 'docker/default',
          [SECCOMPS]: 'runtime/default,unconfined,localhost/a,*'
        }
      }
    }
  ],
  ['an unknown profile of AppArmor', annotated(APPARMOR, 'mine'), `Invalid metadata.annotations[${APPARMOR}]`],
  ['among others', annotated(APPARMORS, 'runtime/default,mine,*'), `Invalid metadata.annotations[${APPARMORS}]`],
  ['an unknown profile of seccomp', annotated(SECCOMP, '*'), `Invalid metadata.annotations[${SECCOMP}]`],
  ['among others', annotated(SECCOMPS, '*,mine,,localhost/../a'), `Invalid metadata.annotations[${SECCOMPS}]`]
])

updates(t, policies, VALID, [
  [
    'what may change', {},
    spec({ privileged: true, volumes: ['secret'], runAsGroup: { rule: 'MustRunAs', ...range(1, 2) } })
  ],
  [
    'what is wrong with new ones, too', {}, spec({ fsGroup: { rule: 'x' }, volumes: ['x'] }),
    'NotSupported spec.fsGroup.rule', 'NotSupported spec.volumes'
  ],
  [
    'what was wrong before', spec({ volumes: ['x'] }), { metadata: { labels: { a: 'b' } } }, 'NotSupported spec.volumes'
  ],
  ['annotations too', {}, annotated(APPARMOR, 'mine'), `Invalid metadata.annotations[${APPARMOR}]`]
])

t.test('escalation is allowed unless a policy says otherwise', async t => {
  t.match(created(policies, VALID).object, spec({ allowPrivilegeEscalation: true }))
  t.match(
    updated(policies, VALID, { spec: { ...VALID.spec, allowPrivilegeEscalation: false } }).object,
    spec({ allowPrivilegeEscalation: false })
  )
})

t.test('findings have the wording of upstream', async t => {
  const { errors } = created(policies, {
    ...annotated(APPARMORS, 'runtime/default,mine'), spec: {
      ...VALID.spec, runAsGroup: { rule: 'x' }, volumes: ['hostpath'], allowedProcMountTypes: ['x'],
      allowedUnsafeSysctls: ['A'], runtimeClass: { allowedRuntimeClassNames: [], defaultRuntimeClassName: 'a' }
    }
  })
  t.same(errors.map(({ field, detail }) => `${field}: ${detail}`), [
    `metadata.annotations[${APPARMORS}]: invalid AppArmor profile name: "mine"`,
    'spec.runAsGroup.rule: supported values: "MayRunAs", "MustRunAs", "RunAsAny"',
    'spec.volumes: supported values: "*", "awsElasticBlockStore", "azureDisk", "azureFile", "cephFS", "cinder", ' +
    '"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "fc", "flexVolume", "flocker", "gcePersistentDisk", ' +
    '"gitRepo", "glusterfs", "hostPath", "iscsi", "nfs", "persistentVolumeClaim", "photonPersistentDisk", ' +
    '"portworxVolume", "projected", "quobyte", "rbd", "scaleIO", "secret", "storageos", "vsphereVolume"',
    'spec.allowedProcMountTypes[0]: supported values: "Default", "Unmasked"',
    `${ALLOWED}[0]: must have at most 253 characters and match regex ` +
    '([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]',
    `${CLASSES}: default "a" must be allowed`
  ])
  t.same(errors[0]?.value, 'runtime/default,mine')
})

t.test(
  'overlaps of kernel parameters are those that comparing each with each finds, ' +
  'at a cost that thousands can be compared for',
  async t => {
    const { seed, int } = random()
    t.comment(`seed ${seed}`)
    const count = (allowed: string[], prohibited: string[]): number => {
      let found = 0
      checkSysctlOverlaps(allowed, prohibited, 'spec', () => { found++ })
      return found
    }
    const covers = (one: string, other: string): boolean =>
      one.endsWith('*') ? other.replace(/\*$/, '').startsWith(one.slice(0, -1)) : one === other
    const pattern = (): string =>
      Array.from({ length: int(5) }, () => 'ab.'.charAt(int(3))).join('') + (int(2) === 0 ? '*' : '')
    for (let round = 0; round < 2000; round++) {
      const [allowed, prohibited] = [Array.from({ length: int(5) }, pattern), Array.from({ length: int(6) }, pattern)]
      const wanted = allowed.reduce(
        (sum, one) => sum + prohibited.filter(other => covers(one, other) || covers(other, one)).length, 0
      )
      if (count(allowed, prohibited) !== wanted) {
        t.fail(`${JSON.stringify(allowed)} and ${JSON.stringify(prohibited)} have ${wanted}`)
      }
    }
    const many = (name: string): string[] => Array.from({ length: 25_000 }, (_, index) => `${name}.${index}*`)
    t.equal(count(many('a'), [...many('b'), 'a.24999']), 5, 'of a.2* to a.24999*')
  }
)
