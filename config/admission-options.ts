/**
 * Admission options from flags and from an AdmissionConfiguration file, whose entries contain a plugin's configuration
 * or name a file with it, relative to its folder.
 * @see interface, `--admission-control-config-file`
 */
import { dirname, resolve } from 'node:path'
import { one, string, list, apiPackage, type Static } from '../schemas/language/declare.js'
import { RawExtension } from '../schemas/meta/runtime.js'
import { CATALOGUE, checkConfiguration, isOn } from '../admission/catalogue.js'
import { ConfigurationError, type PluginConfiguration } from '../admission/configuration.js'
import type { AdmissionOptions } from '../admission/options.js'
import { checkKubeconfigs } from './admission-kubeconfigs.js'
import { documentIn, readDocument } from './documents.js'
import { hasOtherNames, ownDocument, sourceOf, type Source } from './public-settings.js'
import { FlagError } from './flag.js'
import type { Values } from './flags/index.js'

const FLAG = 'admission-control-config-file'

/** Both versions are identical. */
function declared (group: string, version: string) {
  const { message, kind } = apiPackage(group, version, `io.orch.apiserver.${version}`)
  const Plugin = message('AdmissionPluginConfiguration', 'The configuration of one plugin.', {
    name: string(null, 'Name of the plugin.', { required: true }),
    path: string(null, 'File with the configuration.'),
    configuration: one(null, 'The configuration itself.', RawExtension, { pointer: true })
  })
  return kind('AdmissionConfiguration', 'How admission plugins are configured.', {
    plugins: list(null, 'Configuration by plugin.', Plugin)
  })
}

type AdmissionConfiguration = Static<ReturnType<typeof declared>>
const VERSIONS = [declared('apiserver.config.orch.io', 'v1'), declared('apiserver.orch.io', 'v1alpha1')]

/** @throws FlagError */
export async function admissionOptions (values: Values): Promise<AdmissionOptions> {
  const path = values[FLAG]
  const options: AdmissionOptions = {
    enabled: values['enable-admission-plugins'],
    disabled: values['disable-admission-plugins'],
    tolerationSeconds: {
      notReady: values['default-not-ready-toleration-seconds'],
      unreachable: values['default-unreachable-toleration-seconds']
    }
  }
  const configured: AdmissionOptions = path === ''
    ? options
    : { ...options, configuration: pluginsIn(sourceOf(values, FLAG)) }
  try {
    await checkConfiguration(configured)
    await checkKubeconfigs(configured.configuration ?? {})
    return configured
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    throw path === ''
      ? new FlagError('enable-admission-plugins', undefined, error.message, { cause: error })
      : new FlagError(FLAG, path, error.message, { cause: error })
  }
}

/** Warnings about configured plugins that are not enabled. */
export function admissionWarnings (options: AdmissionOptions): string[] {
  const off = CATALOGUE.filter(entry => !isOn(entry, options) && options.configuration !== undefined &&
    Object.hasOwn(options.configuration, entry.name))
  return off.map(({ name }) => `--${FLAG} configures the admission plugin ${name}, which is not enabled`)
}

function pluginsIn (source: Source): Record<string, PluginConfiguration> {
  const { path } = source
  const configurations: Record<string, PluginConfiguration> = {}
  const seen = new Set<string>()
  const document = documentIn(FLAG, path)
  const kindless = hasOtherNames(source, document)
  const { plugins = [] } = readDocument<AdmissionConfiguration>(source, VERSIONS)
  for (const [index, { name, path: file = '', configuration }] of plugins.entries()) {
    const refuse = (why: string): never => { throw new FlagError(FLAG, path, `plugins[${index}]: ${why}`) }
    if (name === '') refuse('needs the name of a plugin')
    if (seen.has(name)) refuse(`${name} is there already; leave one out`)
    seen.add(name)
    if (file !== '' && configuration !== undefined) refuse(`${name} has both path and configuration; leave one out`)
    if (file === '' && configuration === undefined && !CATALOGUE.some(entry => entry.name === name)) {
      refuse(`there is no admission plugin ${name}`)
    }
    if (file === '' && configuration === undefined) continue
    const named = file === '' ? path : resolve(dirname(path), file)
    const what = `the configuration of admission plugin ${name}`
    const sent = file === '' ? configuration : documentIn(FLAG, path, named, what)
    const own = ownDocument(source, sent, kindless)
    Object.defineProperty(configurations, name, {
      value: { value: own, file: named, folder: dirname(named) }, enumerable: true
    })
  }
  return configurations
}
