/** Warnings about built-in types that release 1.36 gives, and 1.24 does not. */
import t from 'tap'
import { selfSigned } from '../../serving/certify.js'
import { build, type Json } from '../build.js'

const container = { name: 'c', image: 'i' }
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const WARNED: ReadonlyArray<readonly [title: string, path: string, object: Json, warnings: readonly RegExp[]]> = [
  [
    'names that are no DNS labels', '/api/v1/namespaces/default/pods',
    { metadata: { name: 'a.b' }, spec: { containers: [container] } }, [/metadata\.name: this is used in Pod names/]
  ],
  ['pods', '/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: {
      containers: [
        { ...container, ports: [{ containerPort: 1, hostIP: '10.0.0.1' }, { containerPort: 1, name: 'x' }] }
      ],
      volumes: [{ name: 'v', cephfs: { monitors: ['m'] } }],
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway' }],
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: 'a' } }]
        }
      }
    }
  }, [
    /volumes\[0\]\.cephfs: deprecated/, /topologySpreadConstraints\[0\]\.labelSelector: a null/,
    /podAntiAffinity\.preferred.*\[0\]\.podAffinityTerm\.labelSelector: a null/, /ports\[0\]: hostIP set without/,
    /ports\[1\]: overlapping port/
  ]],
  ['templates', DEPLOYMENTS, {
    metadata: { name: 'd.e' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } }, spec: { containers: [container], terminationGracePeriodSeconds: -1 }
      }
    }
  },
  [/metadata\.name: this is used/, /spec\.template\.spec\.terminationGracePeriodSeconds: must be >= 0/]],
  ['headless services', '/api/v1/namespaces/default/services', {
    metadata: { name: 'h' },
    spec: { clusterIP: 'None', externalIPs: ['192.0.2.1'], ports: [{ port: 1 }], sessionAffinity: 'ClientIP' }
  },
  [/spec\.externalIPs is ignored when spec\.clusterIP/, /spec\.sessionAffinity is ignored/]],
  ['services', '/api/v1/namespaces/default/services', {
    metadata: { name: 's' },
    spec: { externalIPs: ['192.0.2.1'], externalName: 'a.b', ports: [{ port: 1 }], trafficDistribution: 'PreferClose' }
  },
  [/spec\.externalIPs is deprecated/, /spec\.externalName is ignored/, /PreferSameZone/]]
]

const MAP = '/api/v1/namespaces/default'
const template = (spec: Json = {}, metadata: Json = {}): Json => ({
  metadata: { labels: { a: 'b' }, ...metadata }, spec: { containers: [container], ...spec }
})
const OTHERS: typeof WARNED = [
  ['ports and variables', `${MAP}/pods`, {
    metadata: { name: 'p' },
    spec: {
      containers: [
        {
          ...container,
          env: [{ name: 'A', value: '1' }, { name: 'A', value: '2' }, { name: 'A', value: '$(A):3' }],
          ports: [{ containerPort: 1, name: 'x' }, { containerPort: 2, hostPort: 7, hostIP: '10.0.0.1' }]
        },
        {
          name: 'd',
          image: 'i',
          ports: [{ containerPort: 3, name: 'x' }, { containerPort: 1, hostPort: 5 }, { containerPort: 2, hostPort: 7 }]
        }
      ]
    }
  }, [
    /containers\[0\]\.env\[1\]: hides previous/, /containers\[1\]\.ports\[0\]: duplicate port name .{1,2}x/,
    /ports\[1\]: overlapping port/, /ports\[2\]: dangerously ambiguous port/
  ]],
  ['files', `${MAP}/pods`, {
    metadata: { name: 'p' },
    spec: {
      containers: [container], volumes: [
        {
          name: 'v',
          configMap: {
            name: 'm', items: [{ key: 'a', path: 'x/y' }, { key: 'b', path: 'x' }, { key: 'c', path: 'xy' }]
          }
        },
        {
          name: 'w',
          projected: {
            sources: [
              { secret: { name: 's', items: [{ key: 'a', path: 't' }] } },
              { configMap: { name: 's', items: [{ key: 'a', path: 't/u' }] } }
            ]
          }
        }
      ]
    }
  }, [
    /volumes\[0\]\.configMap\.items\[1\]: its path .{1,2}x\S* overlaps .{1,2}x\/y/,
    /sources\[1\]\.configMap\.items\[0\]: its path .{1,2}t\/u\S* overlaps/
  ]],
  ['claims made for a pod', DEPLOYMENTS, {
    metadata: { name: 'd' }, spec: {
      selector: { matchLabels: { a: 'b' } },
      template: template({
        volumes: [{
          name: 'v',
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1500m' } } }
            }
          }
        }]
      })
    }
  }, [
    /template\.spec\.volumes\[0\]\.ephemeral\.volumeClaimTemplate\.spec\.resources\.requests\[storage\]: fractional/
  ]],
  ['labels of nodes and values of preferences', `${MAP}/pods`, {
    metadata: { name: 'p' },
    spec: {
      containers: [container],
      nodeSelector: { 'node-role.orch.io/master': '' },
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b c'] }] } }
          ]
        }
      }
    }
  }, [/nodeSelector\[node-role\.orch\.io\/master\]/, /matchExpressions\[0\]\.values\[0\]/]],
  [
    'AppArmor annotations of templates',
    DEPLOYMENTS,
    {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: template({}, { annotations: { 'container.apparmor.security.beta.orch.io/c': 'runtime/default' } })
      }
    },
    [/appArmorProfile\S* field/]
  ],
  ['stateful sets', '/apis/apps/v1/namespaces/default/statefulsets', {
    metadata: { name: 's' },
    spec: {
      serviceName: 'x',
      selector: { matchLabels: { a: 'b' } },
      template: template(),
      revisionHistoryLimit: -1,
      volumeClaimTemplates: [
        {
          metadata: { name: 'v' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1500m' } } }
        }
      ]
    }
  }, [/volumeClaimTemplates\[0\]\.spec\.resources\.requests\[storage\]: fractional/, /revisionHistoryLimit/]],
  [
    'large jobs',
    '/apis/batch/v1/namespaces/default/jobs',
    {
      metadata: { name: 'j' },
      spec: {
        completionMode: 'Indexed',
        completions: 100_001,
        parallelism: 10_001,
        template: template({ restartPolicy: 'Never' })
      }
    },
    [/parallelism of more than 10000/]
  ],
  [
    'large jobs of cron jobs', '/apis/batch/v1/namespaces/default/cronjobs',
    {
      metadata: { name: 'j' },
      spec: {
        schedule: '0 0 * * *',
        jobTemplate: {
          spec: {
            completionMode: 'Indexed', completions: 100_001, parallelism: 10_001,
            template: template({ restartPolicy: 'Never' })
          }
        }
      }
    },
    [/spec\.jobTemplate\.spec: .*parallelism of more than 10000/]
  ],
  ['claims that pods bring', `${MAP}/pods`, {
    metadata: { name: 'p' },
    spec: {
      containers: [container],
      volumes: [{
        name: 'v',
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1500m' } } }
          }
        }
      }]
    }
  },
  [/volumes\[0\]\.ephemeral\.volumeClaimTemplate\.spec\.resources\.requests\[storage\]: fractional/]],
  ['capacities', '/apis/storage.orch.io/v1/namespaces/default/csistoragecapacities', {
    metadata: { name: 'c' }, storageClassName: 's',
    nodeTopology: {
      matchLabels: { 'beta.orch.io/os': 'linux' }, matchExpressions: [{ key: 'beta.orch.io/arch', operator: 'Exists' }]
    }
  },
  [
    /nodeTopology\.matchExpressions\[0\]\.key: beta\.orch\.io\/arch is/,
    /nodeTopology\.matchLabels\[beta\.orch\.io\/os\]: /
  ]],
  ['nodes', '/api/v1/nodes', { metadata: { name: 'n' }, spec: { externalID: 'x' } }, [/spec\.externalID/]],
  ['volumes', '/api/v1/persistentvolumes', {
    metadata: {
      name: 'v', annotations: { 'volume.beta.orch.io/storage-class': 'x', 'volume.beta.orch.io/mount-options': 'x' }
    },
    spec: {
      capacity: { storage: '1' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Recycle',
      nfs: { server: 's', path: '/p' }
    }
  }, [/storage-class\]/, /mount-options\]/, /Recycle/]],
  [
    'claims',
    `${MAP}/persistentvolumeclaims`,
    {
      metadata: { name: 'v', annotations: { 'volume.beta.orch.io/storage-class': 'x' } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1500m' } } }
    },
    [/storage-class\]/, /fractional/]
  ],
  [
    'storage classes',
    '/apis/storage.orch.io/v1/storageclasses',
    {
      metadata: { name: 'c' },
      provisioner: 'a/b',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'beta.orch.io/arch', values: ['a'] }] }]
    },
    [/matchLabelExpressions\[0\]\.key: beta/]
  ],
  [
    'runtime classes', '/apis/node.orch.io/v1/runtimeclasses',
    { metadata: { name: 'c' }, handler: 'h', scheduling: { nodeSelector: { 'beta.orch.io/arch': 'a' } } },
    [/scheduling\.nodeSelector\[beta/]
  ],
  [
    'drivers', '/apis/storage.orch.io/v1/csidrivers',
    { metadata: { name: 'd' }, spec: { tokenRequests: [{ audience: 'a' }] } }, [/serviceAccountTokenInSecrets/]
  ],
  [
    'names as endpoints', '/apis/discovery.orch.io/v1/namespaces/default/endpointslices',
    { metadata: { name: 'e' }, addressType: 'FQDN', endpoints: [{ addresses: ['a.b'] }] }, [/addressType: FQDN/]
  ],
  [
    'addresses of endpoints', '/apis/discovery.orch.io/v1/namespaces/default/endpointslices',
    { metadata: { name: 'e' }, addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8:0::1'] }] },
    [/endpoints\[0\]\.addresses\[0\]: IPv6 address/]
  ],
  [
    'accounts', `${MAP}/serviceaccounts`,
    { metadata: { name: 'a', annotations: { 'orch.io/enforce-mountable-secrets': 'true' } } },
    [/enforce-mountable-secrets/]
  ],
  [
    'keys that are none', `${MAP}/secrets`,
    { metadata: { name: 't' }, type: 'orch.io/tls', data: { 'tls.crt': 'YQ==', 'tls.key': 'YQ==' } },
    [/no certificate in PEM/]
  ],
  [
    'quotas',
    `${MAP}/resourcequotas`,
    {
      metadata: { name: 'q' },
      spec: { hard: { 'requests.cpu': '2', 'limits.cpu': '1', 'limits.memory': '1Gi', 'requests.memory': '1Gi' } }
    },
    [/limits\.cpu\]: it is smaller/]
  ]
]

for (const [title, path, object, warnings] of [...WARNED, ...OTHERS]) {
  t.test(`${title} are warned of`, async t => {
    const made = await (await build(t, { emulatedVersion: '1.36' })).post(path, object)
    t.equal(made.code, 201, made.body)
    const given = made.headers['warning'] as string[] | undefined ?? []
    t.equal(given.length, warnings.length, given.join('\n'))
    for (const warning of warnings) t.ok(given.some(text => warning.test(text)), String(warning))
    const before = (await (await build(t)).post(path, object)).headers['warning'] as string[] | undefined ?? []
    t.notOk(before.some(text => warnings.some(warning => warning.test(text))))
  })
}

t.test('what an update leaves is not warned of again', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const changed = async (path: string, object: Json, patch: Json): Promise<unknown> => {
    const made = await server.post(path, object)
    t.ok(made.headers['warning'], path)
    const patched = await server.patch(`${path}/${object['metadata'].name}`, patch)
    t.equal(patched.code, 200, patched.body)
    return patched.headers['warning']
  }
  const job = {
    completionMode: 'Indexed', completions: 100_001, parallelism: 10_001, template: template({ restartPolicy: 'Never' })
  }
  const JOBS = '/apis/batch/v1/namespaces/default/jobs'
  t.equal(await changed(JOBS, { metadata: { name: 'j' }, spec: job }, { metadata: { labels: { a: 'b' } } }), undefined)
  t.match(
    await changed(JOBS, { metadata: { name: 'k' }, spec: job }, { spec: { suspend: true } }), [/parallelism of more/]
  )
})

t.test('what controllers write is not warned of', async t => {
  const labels = { 'endpointslice.orch.io/managed-by': 'endpointslice-controller.orch.io' }
  const slice = { metadata: { name: 'e', labels }, addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8:0::1'] }] }
  const made = await (await build(t, { emulatedVersion: '1.36' })).post(
    '/apis/discovery.orch.io/v1/namespaces/default/endpointslices', slice
  )
  t.equal(made.headers['warning'], undefined)
})

t.test('a certificate and its key are no cause for a warning', async t => {
  const { certificate, key } = selfSigned('localhost', ['localhost'], new Date())
  const { key: other } = selfSigned('localhost', ['localhost'], new Date())
  const server = await build(t, { emulatedVersion: '1.36' })
  const warned = async (name: string, secret: string): Promise<unknown> => {
    const data = {
      'tls.crt': Buffer.from(certificate).toString('base64'), 'tls.key': Buffer.from(secret).toString('base64')
    }
    return (await server.post(`${MAP}/secrets`, { metadata: { name }, type: 'orch.io/tls', data })).headers['warning']
  }
  t.equal(await warned('pair', key), undefined)
  t.match(await warned('none', other), [/the private key is not that of the certificate/])
})

t.test('updates: what a missing object with a uid is, and /proc', async t => {
  const [later, earlier] = [await build(t, { emulatedVersion: '1.36' }), await build(t)]
  const map = { metadata: { name: 'm', uid: '1-2' } }
  t.equal((await later.put(`${MAP}/configmaps/m`, map)).code, 404)
  t.equal((await earlier.put(`${MAP}/configmaps/m`, map)).code, 409)
  const pod = (hostUsers?: boolean): Json => ({
    metadata: { generateName: 'p' },
    spec: {
      ...(hostUsers === undefined ? {} : { hostUsers }),
      containers: [{ ...container, securityContext: { procMount: 'Unmasked' } }]
    }
  })
  t.match(await later.post(`${MAP}/pods`, pod()), {
    code: 422, json: { details: { causes: [{ field: 'spec.containers[0].securityContext.procMount' }] } }
  })
  t.equal((await later.post(`${MAP}/pods`, pod(false))).code, 201)
  t.equal((await earlier.post(`${MAP}/pods`, pod())).code, 201)
})
