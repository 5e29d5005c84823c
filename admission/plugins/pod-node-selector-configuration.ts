/** The configuration of PodNodeSelector: node labels by namespace. */
import { apiPackage, map } from '../../schemas/language/declare.js'
import { labelValue, qualifiedName } from '../../schemas/names.js'
import { readConfiguration, ConfigurationError, type PluginConfiguration } from '../configuration.js'

const NAME = 'PodNodeSelector'
/** The key of the selector for namespaces without an annotation. */
export const DEFAULT_SELECTOR = 'clusterDefaultNodeSelector'

export type NodeSelectors = ReadonlyMap<string, Readonly<Record<string, string>>>

const { message } = apiPackage('', '', 'io.orch.podnodeselector', { name: 'podnodeselector' })
const Configuration = message('Configuration', 'Labels of nodes, by namespace.', {
  podNodeSelectorPluginConfig: map(null, 'As a=b,c=d.', 'string')
})

/** Parses `a=b,c=d`. @returns an error message as a string */
export function parseSelector (text: string): Readonly<Record<string, string>> | string {
  const labels: Record<string, string> = Object.create(null) as Record<string, string>
  for (const part of text === '' ? [] : text.split(',')) {
    const [label = '', value, ...rest] = part.split('=').map(side => side.trim())
    if (value === undefined || rest.length > 0 || qualifiedName(label).length > 0 || labelValue(value).length > 0) {
      return `invalid selector: ${part}`
    }
    labels[label] = value
  }
  return labels
}

/** @throws ConfigurationError */
export function nodeSelectors (given: PluginConfiguration | undefined): NodeSelectors {
  if (given === undefined) return new Map()
  const { podNodeSelectorPluginConfig: config = {} } = readConfiguration(NAME, given, [Configuration])
  return new Map(Object.entries(config).map(([name, text]) => {
    const selector = parseSelector(text)
    if (typeof selector === 'string') {
      throw new ConfigurationError(NAME, given, `podNodeSelectorPluginConfig.${name}: ${selector}`)
    }
    return [name, selector] as const
  }))
}
