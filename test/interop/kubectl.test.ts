/** Stock kubectl against the started server. Each program has a server of its own. */
import t from 'tap'
import { representations, OFF_BY_DEFAULT } from '../../schemas/resources.js'
import { binding } from '../build.js'
import { Kubectl, programs } from './kubectl.js'
import { RunningServer, until } from './server.js'

const KIND = 'clusterrolebindings'
const RBAC = 'rbac.authorization.orch.io'
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const names = (output: string): string[] =>
  output.split('\n').map(line => line.split('/').at(-1) ?? '').filter(name => name !== '').sort()

const watchesUnderWay = (metrics: string): number =>
  [
    ...metrics.matchAll(
      /^apiserver_longrunning_requests{verb="WATCH",[^}]*resource="clusterrolebindings"[^}]*} (\d+)/gm
    )
  ].reduce((sum, [, count]) => sum + Number(count), 0)

const there = representations.filter(({ apiVersion, gate }) =>
  gate === undefined && !OFF_BY_DEFAULT.includes(apiVersion))
/** `deployments.apps`, as kubectl names them. */
const SERVED = [...new Set(there.map(({ group, plural }) => group === '' ? plural : `${plural}.${group}`))].sort()

for (const program of programs()) {
  t.test(`kubectl ${program.version}`, async t => {
    const server = await RunningServer.start(t)
    const kubectl = new Kubectl(t, program, server.tokenConfig())
    const createAll = (names: readonly string[], more = (_name: string): object => ({})): Promise<string> => kubectl.ok(
      'create', ...names.map(name => `--filename=${kubectl.file(`${name}.json`, binding(name, more(name)))}`)
    )
    const create = (name: string, more = {}): Promise<string> => createAll([name], () => more)

    await t.test('finds out what the server serves', async t => {
      const { serverVersion } = await kubectl.json('version')
      t.match(serverVersion, { major: '1', minor: '24' })
      t.strictSame(
        (await kubectl.ok('api-versions')).split('\n').sort(),
        [...new Set(there.map(({ apiVersion }) => apiVersion))].sort()
      )
      t.strictSame(names(await kubectl.ok('api-resources', '--output=name')).sort(), SERVED)
      t.match(
        await kubectl.ok('api-resources', `--api-group=${RBAC}`, '--namespaced=false', '--no-headers'),
        /^clusterrolebindings +rbac\.authorization\.orch\.io\/v1 +false +ClusterRoleBinding$/m
      )
      t.match(await kubectl.ok('explain', 'clusterrolebinding.subjects'), /namespace.*<string>/)
      t.match(await kubectl.ok('get', '--raw=/readyz?verbose'), /^healthz check passed$/m)
    })

    await t.test('creates objects by its own commands and lists them in its usual columns', async t => {
      for (const [what, ...args] of [
        ['configmap', 'settings-1', '--from-literal=a=b'], ['secret', 'generic', 'secret-1', '--from-literal=a=b'],
        ['namespace', 'made'], ['serviceaccount', 'robot'],
        ['deployment', 'web', '--image=nginx'], ['job', 'once', '--image=busybox', '--', 'true'],
        ['cronjob', 'often', '--image=busybox', '--schedule=*/5 * * * *', '--', 'true'],
        ['service', 'clusterip', 'web', '--tcp=80:8080'], ['quota', 'few', '--hard=pods=3'],
        ['pdb', 'most', '--selector=app=web', '--min-available=1']
      ] as const) {
        // The older one uses a version of disruption budgets that is served under the same name.
        await kubectl.ok('create', what, ...args)
      }
      await kubectl.ok('run', 'alone', '--image=nginx')
      t.match(
        await kubectl.ok('get', 'deployment', 'web'), /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/1 +0 +0 +\d+s$/
      )
      t.match(
        await kubectl.ok('get', 'pod', 'alone'), /^NAME +READY +STATUS +RESTARTS +AGE\nalone +0\/1 +Pending +0 +\d+s$/
      )
      t.match(
        await kubectl.ok('get', 'service', 'web', '--output=wide'),
        /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE +SELECTOR\nweb +ClusterIP +\S+ +<none> +80\/TCP +\d+s +app=web$/
      )
      t.match(await kubectl.ok('scale', 'deployment', 'web', '--replicas=3'), /scaled/)
      t.equal((await kubectl.json('get', 'deployment', 'web')).spec.replicas, 3)
      t.match(await kubectl.ok('describe', 'deployment', 'web'), /Replicas: +3 desired/)
      t.match(await kubectl.ok('describe', 'pod', 'alone'), /Image: +nginx/)
      t.match(await kubectl.ok('get', 'all'), /deployment\.apps\/web +0\/3/)
      await kubectl.ok('delete', 'deployment,service,job,cronjob,quota,pdb,configmap,secret,serviceaccount', '--all')
      await kubectl.ok('delete', 'pod', 'alone', '--now')
    })

    await t.test('creates, gets, selects and pages', async t => {
      t.equal(
        await create('get-0', { metadata: { labels: { part: 'get', first: 'yes' } } }),
        `clusterrolebinding.${RBAC}/get-0 created`
      )
      await createAll(['get-1', 'get-2', 'get-3', 'get-4'], () => ({ metadata: { labels: { part: 'get' } } }))
      t.match(
        await kubectl.ok('create', `--filename=${kubectl.file('dry.json', binding('dry'))}`, '--dry-run=server'),
        /dry created \(server dry run\)/
      )
      t.match(await kubectl.refused('get', KIND, 'dry'), /NotFound/)
      t.match(
        await kubectl.refused('create', `--filename=${kubectl.file('again.json', binding('get-0'))}`),
        /AlreadyExists.*clusterrolebindings\.rbac\.authorization\.orch\.io "get-0" already exists/
      )

      t.match(await kubectl.ok('get', KIND, 'get-0'), /^NAME +ROLE +AGE\nget-0 +ClusterRole\/view +\d+s$/)
      t.match(
        await kubectl.ok('get', KIND, 'get-0', '--output=wide'),
        /^NAME +ROLE +AGE +USERS +GROUPS +SERVICEACCOUNTS\nget-0 +ClusterRole\/view +\d+s +ann/
      )
      t.match(
        await kubectl.ok('get', KIND, 'get-0', '--output=yaml'),
        /^kind: ClusterRoleBinding\nmetadata:\n {2}creationTimestamp: "20[^"]+Z"\n/m
      )
      t.match(await kubectl.json('get', KIND, 'get-0'), {
        ...binding('get-0', { subjects: [{ kind: 'User', apiGroup: RBAC, name: 'ann' }] }),
        metadata: { uid: /^[0-9a-f-]{36}$/, resourceVersion: /^\d+$/ }
      })
      t.strictSame(
        names(await kubectl.ok('get', KIND, '--selector=part=get,first!=yes', '--output=name')),
        ['get-1', 'get-2', 'get-3', 'get-4']
      )
      t.strictSame(
        names(await kubectl.ok('get', KIND, '--field-selector=metadata.name=get-3', '--output=name')), ['get-3']
      )
      t.match(await kubectl.refused('get', KIND, '--field-selector=spec.node=x'), /BadRequest.*spec\.node/)

      const paged = await kubectl.run(['get', KIND, '--chunk-size=2', '--output=name', '-v=6'])
      t.strictSame(names(paged.out).filter(name => name.startsWith('get-')), [
        'get-0', 'get-1', 'get-2', 'get-3', 'get-4'
      ])
      const pages = paged.err.match(/clusterrolebindings\?\S*limit=2\S*/g) ?? []
      t.equal(pages.length, 3)
      t.equal(pages.filter(page => page.includes('continue=')).length, 2)

      t.match(
        await kubectl.refused('get', KIND, 'nobody'),
        /NotFound.*clusterrolebindings\.rbac\.authorization\.orch\.io "nobody" not found/
      )
      t.match(
        await kubectl.ok('describe', KIND, 'get-0'),
        /^Role Ref:\n {2}API Group: {2}rbac\.authorization\.orch\.io\n {2}Kind: {7}ClusterRole\n {2}Name: {7}view$/m
      )
    })

    await t.test('watches', async t => {
      await create('watch-0', { metadata: { labels: { part: 'watch' } } })
      const watching = kubectl.begin(t, 'get', KIND, '--selector=part=watch', '--watch', '--output=name')
      await watching.shows(/watch-0\n/)
      await create('watch-1', { metadata: { labels: { part: 'watch' } } })
      await watching.shows(/watch-1\n/)
      await kubectl.ok('delete', KIND, 'watch-0')
      await watching.shows(/watch-1\n[^]*watch-0\n/)
      t.notMatch(watching.out, /get-/)
    })

    await t.test('edits, labels, annotates, patches and replaces', async t => {
      await create('change')
      const editor = kubectl.file('editor.sh', '#!/bin/sh\nexec sed -i "s/name: ann$/name: bob/" "$1"\n', 0o755)
      const edited = await kubectl.run(['edit', KIND, 'change'], { EDITOR: editor })
      t.match(edited, { code: 0, out: /change edited/ }, edited.err)
      t.equal((await kubectl.json('get', KIND, 'change')).subjects[0].name, 'bob')

      t.match(await kubectl.ok('label', KIND, 'change', 'tier=one'), /change labeled/)
      t.match(await kubectl.refused('label', KIND, 'change', 'tier=two'), /'tier' already has a value \(one\)/)
      await kubectl.ok('label', KIND, 'change', 'tier=two', '--overwrite')
      t.match(await kubectl.ok('annotate', KIND, 'change', 'note=a b'), /change annotated/)
      await kubectl.ok(
        'patch', KIND, 'change', '--type=merge', '--patch={"metadata":{"annotations":{"note":null,"more":"yes"}}}'
      )
      await kubectl.ok(
        'patch',
        KIND,
        'change',
        '--type=json',
        '--patch=[{"op":"test","path":"/metadata/labels/tier","value":"two"},{"op":"add","path":"/subjects/-",' +
        '"value":{"kind":"Group","name":"crew"}}]'
      )
      const changed = await kubectl.json('get', KIND, 'change')
      t.match(changed, {
        metadata: { labels: { tier: 'two' }, annotations: { more: 'yes' } },
        subjects: [{ name: 'bob' }, { kind: 'Group', name: 'crew', apiGroup: RBAC }]
      })
      t.notOk('note' in changed.metadata.annotations)
      t.match(
        await kubectl.ok(
          'patch', KIND, 'change', '--type=strategic', '--patch={"metadata":{"annotations":{"more":null}}}'
        ),
        /change patched/
      )
      t.match(
        await kubectl.refused('patch', KIND, 'change', '--type=merge', '--patch={"roleRef":{"name":"edit"}}'),
        /is invalid: roleRef:/
      )

      await kubectl.ok('label', KIND, 'change', 'tier-')
      t.match(
        await kubectl.refused('replace', `--filename=${kubectl.file('stale.json', changed)}`),
        /Conflict.*the object has been modified/
      )
      delete changed.metadata.resourceVersion
      t.match(
        await kubectl.ok('replace', `--filename=${kubectl.file('replaced.json', { ...changed, subjects: [] })}`),
        /change replaced/
      )
      t.notOk('subjects' in await kubectl.json('get', KIND, 'change'))
    })

    await t.test('applies and prints the difference', async t => {
      const first = kubectl.file('apply-1.json', binding('applied', {
        metadata: { labels: { keep: 'a', drop: 'b' } }, subjects: [{ kind: 'User', apiGroup: RBAC, name: 'ann' }]
      }))
      const second = kubectl.file('apply-2.json', binding('applied', {
        metadata: { labels: { keep: 'a', add: 'c' } },
        subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }]
      }))
      const apply = (file: string, ...more: string[]): Promise<string> =>
        kubectl.ok('apply', `--filename=${file}`, ...more)
      t.match(await apply(first), /applied created$/)
      t.match(await apply(first), /applied unchanged$/)
      const { metadata: { resourceVersion } } = await kubectl.json('get', KIND, 'applied')

      const difference = await kubectl.run(['diff', `--filename=${second}`])
      t.equal(difference.code, 1, difference.err)
      t.match(difference.out, /^- {4}drop: b$/m)
      t.match(difference.out, /^\+ {4}add: c$/m)
      t.match(await apply(second, '--dry-run=server'), /applied configured \(server dry run\)$/)
      t.equal(
        (await kubectl.json('get', KIND, 'applied')).metadata.resourceVersion, resourceVersion, 'neither has changed it'
      )

      await kubectl.ok('label', KIND, 'applied', 'other=kept')
      t.match(await apply(second), /applied configured$/)
      const applied = await kubectl.json('get', KIND, 'applied')
      t.strictSame(
        applied.metadata.labels, { keep: 'a', add: 'c', other: 'kept' },
        'omitted labels are removed; those another client added stay'
      )
      t.strictSame(applied.subjects, [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }])
      t.match(JSON.parse(applied.metadata.annotations[LAST_APPLIED]), { metadata: { name: 'applied' } })
      t.equal((await kubectl.run(['diff', `--filename=${second}`])).code, 0)
      t.match(await apply(second), /applied unchanged$/)
    })

    await t.test('applies through the server, with and without force', async t => {
      const labelled = (labels: object, name = 'served'): string => kubectl.file(
        `${name}-${JSON.stringify(labels).length}-${Object.values(labels).join('-')}.json`,
        binding(name, { metadata: { labels } })
      )
      const apply = (file: string, ...more: string[]): Promise<string> =>
        kubectl.ok('apply', '--server-side', `--filename=${file}`, ...more)
      const labels = async (name = 'served'): Promise<unknown> =>
        (await kubectl.json('get', KIND, name)).metadata.labels
      t.match(await apply(labelled({ a: '1', b: '1' })), /served serverside-applied$/)
      t.match(await apply(labelled({ a: '1', b: '1' }), '--dry-run=server'), /serverside-applied \(server dry run\)$/)
      t.match(await apply(labelled({ a: '2' })), /served serverside-applied$/)
      t.strictSame(await labels(), { a: '2' }, 'omitted labels are removed')
      t.match(
        await kubectl.refused('apply', '--server-side', '--field-manager=other', `--filename=${labelled({ a: '3' })}`),
        /Apply failed with 2 conflicts: conflicts with "kubectl":\n- \.metadata\.labels\.a\n- \.subjects\n/,
        'and those who are said without the default of their group'
      )
      t.match(
        await apply(labelled({ a: '3', c: '1' }), '--field-manager=other', '--force-conflicts'), /serverside-applied$/
      )
      t.strictSame(await labels(), { a: '3', c: '1' })
      const shown = await kubectl.json('get', KIND, 'served', ...program.minor < 21 ? [] : ['--show-managed-fields'])
      t.same(
        shown.metadata.managedFields.map(
          ({ manager, operation }: { manager: string, operation: string }) => `${operation} ${manager}`
        ).sort(),
        ['Apply kubectl', 'Apply other']
      )

      await kubectl.ok('apply', `--filename=${labelled({ a: '1', b: '1' }, 'taken')}`)
      t.match(
        await apply(labelled({ a: '2' }, 'taken')), /taken serverside-applied$/,
        'fields of client-side apply are taken over'
      )
      await kubectl.ok('label', KIND, 'taken', '--overwrite', 'a=3')
      t.match(
        await kubectl.refused('apply', '--server-side', `--filename=${labelled({ a: '4' }, 'taken')}`),
        /conflict with "kubectl-label" using rbac\.authorization\.orch\.io\/v1: \.metadata\.labels\.a/
      )
      await kubectl.ok('annotate', KIND, 'taken', 'n=1')
      t.match(await apply(labelled({ a: '4' }, 'taken'), '--force-conflicts'), /serverside-applied$/)
      const { metadata } = await kubectl.json('get', KIND, 'taken')
      t.match([metadata.labels.a, metadata.annotations.n], ['4', '1'])
    })

    await t.test('refuses a misspelled field before the server sees it, from the server\'s own schema', async t => {
      const misspelled = kubectl.file('misspelled.json', { ...binding('misspelled'), subjcts: [] })
      for (const verb of ['create', 'apply']) {
        const { code, err } = await kubectl.run([verb, `--filename=${misspelled}`, '-v=6'])
        t.not(code, 0)
        t.match(err, /unknown field "subjcts"/)
        // Newer ones log `verb="GET" url="https:`, older ones `GET https:`.
        const asked = [...err.matchAll(/([A-Z]+)(?:" url=")? ?(https:[^\s"]+)/g)].map(([, method, url]) =>
          `${method} ${url}`).join('\n')
        t.match(
          asked,
          program.minor < 25
            ? /^GET \S+\/openapi\/v2/m
            : /^GET \S+\/openapi\/v3\/apis\/rbac\.authorization\.orch\.io\/v1\?hash=[0-9A-F]+/m
        )
        // Newer ones leave validation to a server that supports it, and request strict validation.
        if (program.minor < 25) t.notMatch(asked, /^(?:POST|PATCH)/m)
        else t.match(asked, /^POST \S+fieldValidation=Strict/m)
      }
      t.match(
        await kubectl.refused(
          'create', `--filename=${kubectl.file('incomplete.json', { ...binding('misspelled'), roleRef: undefined })}`
        ),
        /roleRef/
      )
      t.match(await kubectl.refused('get', KIND, 'misspelled'), /NotFound/)
    })

    await t.test('waits and deletes', async t => {
      await createAll(
        ['gone-0', 'gone-1', 'gone-2', 'gone-3', 'gone-4'],
        name => ({ metadata: { labels: { part: name < 'gone-3' ? 'one' : 'two' } } })
      )
      t.match(await kubectl.ok('delete', KIND, 'gone-0'), /"gone-0" deleted/)
      t.match(
        await kubectl.ok('delete', `--filename=${kubectl.file('gone-1.json', binding('gone-1'))}`), /"gone-1" deleted/
      )
      t.match(await kubectl.refused('delete', KIND, 'gone-0'), /NotFound/)
      t.equal(await kubectl.ok('delete', KIND, 'gone-0', '--ignore-not-found'), '')
      await kubectl.ok('delete', KIND, '--selector=part=two')
      t.strictSame(names(await kubectl.ok('get', KIND, '--selector=part in (one,two)', '--output=name')), ['gone-2'])

      await create('held', { metadata: { finalizers: ['interop.test/hold'] } })
      await kubectl.ok('delete', KIND, 'held', '--wait=false')
      t.match(await kubectl.json('get', KIND, 'held'), {
        metadata: { deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0 }
      })
      if (program.minor >= 23) {
        t.match(
          await kubectl.ok(
            'wait', '--for=jsonpath={.metadata.finalizers[0]}=interop.test/hold', KIND, 'held', '--timeout=30s'
          ),
          /held condition met/
        )
      }
      const waiting = kubectl.begin(t, 'wait', '--for=delete', KIND, 'held', '--timeout=50s')
      await until('the wait to watch', async () => watchesUnderWay((await server.ask('/metrics')).body) > 0)
      await kubectl.ok('patch', KIND, 'held', '--type=merge', '--patch={"metadata":{"finalizers":null}}')
      t.equal(await waiting.end(), 0, waiting.err)
      t.match(await kubectl.refused('get', KIND, 'held'), /NotFound/)

      await kubectl.ok('delete', KIND, '--all')
      t.equal(await kubectl.ok('get', KIND, '--output=name'), '')
    })

    await t.test('handles namespaces and what is in them', async t => {
      t.equal(await kubectl.ok('create', 'namespace', 'crew'), 'namespace/crew created')
      await kubectl.ok('create', 'configmap', 'settings', '--namespace=crew', '--from-literal=colour=red')
      await kubectl.ok('create', 'secret', 'generic', 'pass', '--namespace=crew', '--from-literal=word=hush')
      await kubectl.ok('create', 'serviceaccount', 'robot', '--namespace=crew')
      const role = {
        apiVersion: 'v1',
        kind: 'List',
        items: [
          {
            apiVersion: `${RBAC}/v1`,
            kind: 'Role',
            metadata: { name: 'reader', namespace: 'crew' },
            rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]
          },
          {
            apiVersion: `${RBAC}/v1`,
            kind: 'RoleBinding',
            metadata: { name: 'readers', namespace: 'crew' },
            roleRef: { apiGroup: RBAC, kind: 'Role', name: 'reader' },
            subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'crew' }]
          }
        ]
      }
      await kubectl.ok('create', `--filename=${kubectl.file('role.json', role)}`)
      t.equal((await kubectl.json('get', 'configmap', 'settings', '--namespace=crew')).data.colour, 'red')
      t.equal(
        Buffer.from((await kubectl.json('get', 'secret', 'pass', '--namespace=crew')).data.word, 'base64').toString(),
        'hush'
      )
      t.strictSame(
        names(await kubectl.ok('get', 'serviceaccounts', '--namespace=crew', '--output=name')), ['default', 'robot']
      )
      t.strictSame(
        names(await kubectl.ok('get', 'cm,roles,rolebindings', '--namespace=crew', '--output=name')),
        ['orch-root-ca.crt', 'reader', 'readers', 'settings']
      )
      t.match(await kubectl.ok('get', 'configmaps', '--all-namespaces'), /^crew +settings +1 +\d+s$/m)
      t.match(await kubectl.ok('describe', 'namespace', 'crew'), /^Status: +Active$/m)
      t.match(
        await kubectl.refused('create', 'configmap', 'lost', '--namespace=nowhere'), /namespaces "nowhere" not found/
      )
      await kubectl.ok(
        'patch', 'configmap', 'settings', '--namespace=crew', '--type=merge', '--patch={"data":{"colour":"blue"}}'
      )
      if (program.minor >= 23) {
        t.match(
          await kubectl.ok('wait', '--for=jsonpath={.data.colour}=blue', 'configmap', 'settings', '--namespace=crew'),
          /condition met/
        )
      }

      await kubectl.ok('delete', 'role,rolebinding,secret', '--all', '--namespace=crew')
      t.match(await kubectl.ok('delete', 'namespace', 'crew'), /namespace "crew" deleted/)
      t.equal(await kubectl.ok('get', 'configmaps', '--namespace=crew', '--output=name'), '', 'it was emptied')
    })

    await t.test('is authenticated by its client certificate, and not by an unknown token', async t => {
      const certified = new Kubectl(t, program, server.certificateConfig())
      await certified.ok('create', `--filename=${certified.file('own.json', binding('certified'))}`)
      t.match(await certified.ok('get', KIND, 'certified', '--output=jsonpath={.metadata.name}'), 'certified')
      await certified.ok('delete', KIND, 'certified')
      const stranger = new Kubectl(t, program, server.kubeconfig('stranger', { token: 'wrong' }))
      t.match(await stranger.refused('get', KIND), /Unauthorized|You must be logged in to the server/)
    })

    t.equal(await server.stop(), 0, server.log)
  })
}
