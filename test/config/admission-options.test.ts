/** Interface, `--admission-control-config-file`. */
import t from 'tap'
import { join } from 'node:path'
import { checkedFlags, configuration } from '../../config/options.js'

const KIND = { apiVersion: 'apiserver.config.orch.io/v1', kind: 'AdmissionConfiguration' }

/** The options of a start with this file, which may refer to further files. */
async function started (
  t: { testdir: (files: Record<string, string>) => string }, file: unknown, beside: Record<string, string> = {}
) {
  const folder = t.testdir({ 'admission.yaml': typeof file === 'string' ? file : JSON.stringify(file), ...beside })
  const { options } = await configuration(checkedFlags([
    `--data-dir=${folder}`, `--admission-control-config-file=${join(folder, 'admission.yaml')}`
  ]))
  return options.admission
}

t.test('an invalid file ends the start, naming the flag, the plugin and the field', async t => {
  const refused: ReadonlyArray<readonly [unknown, RegExp, Record<string, string>?]> = [
    ['a: [', /it is not valid YAML/],
    ['[]', /it is not an object/],
    ['kind: AdmissionConfiguration', /it needs kind and apiVersion/],
    [
      { kind: 'Config', apiVersion: 'v1' },
      /it is Config of v1, not AdmissionConfiguration of apiserver\.config\.orch\.io\/v1/
    ],
    [{ ...KIND, plugin: [] }, /unknown field "plugin"/],
    [
      { ...KIND, plugins: [{ name: 'PodSecurity', configurations: {} }] },
      /unknown field "plugins\[0\]\.configurations"/
    ],
    [{ ...KIND, plugins: {} }, /plugins: expected a list/],
    [{ ...KIND, plugins: [{}] }, /plugins\[0\]/],
    [`${JSON.stringify(KIND).slice(0, -1)}, "plugins": [], "plugins": []}`, /duplicate field "plugins"/],
    [
      { ...KIND, plugins: [{ name: 'Nope', configuration: {} }] },
      /plugin Nope in .*admission\.yaml is wrong: there is no such plugin/
    ],
    [{ ...KIND, plugins: [{ name: '__proto__', configuration: {} }] }, /there is no such plugin/],
    [
      { ...KIND, plugins: [{ name: 'NamespaceLifecycle', configuration: {} }] },
      /NamespaceLifecycle in .* the plugin takes none/
    ],
    [
      { ...KIND, plugins: [{ name: 'PodSecurity', configuration: {} }, { name: 'PodSecurity', path: 'b' }] },
      /plugins\[1\]: PodSecurity is there already/
    ],
    [
      { ...KIND, plugins: [{ name: 'A', configuration: {}, path: 'b' }] },
      /plugins\[0\]: A has both path and configuration/
    ],
    [{ ...KIND, plugins: [{ name: 'Podsecurity' }] }, /plugins\[0\]: there is no admission plugin Podsecurity/],
    [
      { ...KIND, plugins: [{ name: 'PodSecurity' }, { name: 'PodSecurity' }] },
      /plugins\[1\]: PodSecurity is there already/
    ],
    [
      { ...KIND, plugins: [{ name: 'PodSecurity', path: 'missing.yaml' }] },
      /admission\.yaml: the configuration of admission plugin PodSecurity in .*missing\.yaml: cannot be read: there is no such file/
    ],
    [
      { ...KIND, plugins: [{ name: 'PodSecurity', path: 'twice.yaml' }] },
      /plugin PodSecurity in .*twice\.yaml: duplicate field "a"/, { 'twice.yaml': 'a: 1\na: 2\n' }
    ],
    [
      { ...KIND, plugins: [{ name: 'NamespaceLifecycle', path: 'there.yaml' }] },
      /NamespaceLifecycle in .*there\.yaml is wrong: the plugin takes none/, { 'there.yaml': 'a: 1\n' }
    ]
  ]
  for (const [file, message, beside] of refused) {
    await t.rejects(started(t, file, beside), { name: 'FlagError', message }, String(message))
  }
  await t.rejects(
    configuration(checkedFlags([`--data-dir=${t.testdir()}`, '--admission-control-config-file=/nowhere/at/all'])),
    { message: /--admission-control-config-file=\/nowhere\/at\/all: cannot be read/ }
  )
})

t.test('a file without plugins is valid, in both versions', async t => {
  t.same((await started(t, KIND))?.configuration, {})
  t.same(
    (await started(t, {
      ...KIND, apiVersion: 'apiserver.orch.io/v1alpha1', plugins: [{ name: 'PodSecurity' }]
    }))?.configuration,
    {}
  )
})

t.test('the configuration of a plugin is inline or in a file beside it', async t => {
  const security = {
    apiVersion: 'pod-security.admission.config.orch.io/v1beta1',
    kind: 'PodSecurityConfiguration',
    defaults: { enforce: 'baseline' }
  }
  const inline = await started(t, { ...KIND, plugins: [{ name: 'PodSecurity', configuration: security }] })
  t.match(inline?.configuration?.['PodSecurity'], { value: security, file: /admission\.yaml$/ })
  const beside = await started(
    t, { ...KIND, plugins: [{ name: 'PodSecurity', path: 'security.json' }] },
    { 'security.json': JSON.stringify(security) }
  )
  t.match(beside?.configuration?.['PodSecurity'], { value: security, file: /security\.json$/ })
  const wrong = { ...security, defaults: { enforce: 'strict' } }
  await t.rejects(
    started(
      t, { ...KIND, plugins: [{ name: 'PodSecurity', path: 'security.json' }] },
      { 'security.json': JSON.stringify(wrong) }
    ),
    { message: /plugin PodSecurity in .*security\.json is wrong: defaults\.enforce: Invalid value: "strict"/ }
  )
})

t.test('a plugin that needs a configuration cannot be enabled without one', async t => {
  await t.rejects(
    configuration(checkedFlags([`--data-dir=${t.testdir()}`, '--enable-admission-plugins=EventRateLimit'])),
    { message: /--enable-admission-plugins: .*EventRateLimit is wrong: there is none/ }
  )
})

t.test('configuration of a plugin that is not enabled gives a warning', async t => {
  const selector = { podNodeSelectorPluginConfig: { team: 'a=b' } }
  const folder = t.testdir({
    'admission.json': JSON.stringify({ ...KIND, plugins: [{ name: 'PodNodeSelector', configuration: selector }] })
  })
  const warnings = async (...flags: string[]) => (await configuration(checkedFlags([
    `--data-dir=${folder}`, `--admission-control-config-file=${join(folder, 'admission.json')}`, ...flags
  ]))).warnings.filter(text => /PodNodeSelector|toleration/.test(text))
  t.same(await warnings(), [
    '--admission-control-config-file configures the admission plugin PodNodeSelector, which is not enabled'
  ])
  t.same(await warnings('--enable-admission-plugins=PodNodeSelector', '--default-not-ready-toleration-seconds=1'), [])
  t.match(
    await warnings(
      '--enable-admission-plugins=PodNodeSelector', '--disable-admission-plugins=DefaultTolerationSeconds',
      '--default-not-ready-toleration-seconds=1'
    ),
    [/--default-not-ready-toleration-seconds has no effect without the admission plugin DefaultTolerationSeconds/]
  )
})
