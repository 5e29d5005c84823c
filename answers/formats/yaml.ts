/** YAML. Watches are JSON. */
import { toYaml } from '../../schemas/codec/yaml/yaml-write.js'
import { YAML_TYPE } from '../../schemas/media-types.js'
import { bytesOf, preceded } from './format.js'
import { JSON_STREAM } from './json.js'
import { textForm } from './text.js'

export const YAML = textForm({
  type: YAML_TYPE,
  slow: 'yaml',
  document: value => Buffer.from(toYaml(value)),
  item: value => bytesOf(toYaml([value])),
  * listing (head, name, items) {
    yield bytesOf(toYaml(head))
    const some = yield * preceded(items, first => first ? `${name}:\n` : '')
    if (!some) yield bytesOf(`${name}: []\n`)
  }
}, JSON_STREAM)
