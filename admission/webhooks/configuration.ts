/** The configuration of both webhook plugins: a kubeconfig with the credentials for webhooks. */
import { isAbsolute } from 'node:path'
import { string, apiPackage, type Static } from '../../schemas/language/declare.js'
import { invalid } from '../../schemas/rules/findings.js'
import { readConfiguration, type PluginConfiguration } from '../configuration.js'

function declared (version: string, name: string) {
  const { kind } = apiPackage('apiserver.config.orch.io', version, `io.orch.apiserver.config.${version}`)
  return kind(name, 'How webhooks of admission are called.', {
    kubeConfigFile: string(null, 'Kubeconfig with the credentials, by host.', { required: true })
  }, {
    validate: ({ kubeConfigFile }, _at, report) => {
      if (!isAbsolute(kubeConfigFile)) {
        invalid(report, 'kubeConfigFile', kubeConfigFile, 'must be an absolute file path')
      }
    }
  })
}

const VERSIONS: ReadonlyArray<ReturnType<typeof declared>> = [
  declared('v1', 'WebhookAdmissionConfiguration'), declared('v1alpha1', 'WebhookAdmission')
]
type WebhookAdmission = Static<ReturnType<typeof declared>>

/** The path of the kubeconfig. @throws ConfigurationError */
export const kubeconfigIn = (plugin: string, given: PluginConfiguration): string =>
  readConfiguration<WebhookAdmission>(plugin, given, VERSIONS).kubeConfigFile
