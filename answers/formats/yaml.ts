/** YAML. Watches are JSON. */
import { toYaml } from '../../schemas/codec/yaml/yaml-write.js'
import { YAML_TYPE } from '../../schemas/media-types.js'
import { bytesOf, preceded, type TextFormat } from './format.js'
import { jsonOf } from './json.js'
import { textEntry } from './text.js'

export const YAML: TextFormat = {
  type: YAML_TYPE,
  slow: 'yaml',
  entry: (shown, stored) => textEntry(YAML, shown, stored),
  object: (naming, message, own, omits) =>
    YAML.document(JSON.parse(jsonOf(naming, message, own, omits)) as object),
  status: status => YAML.document(status),
  document: value => Buffer.from(toYaml(value)),
  item: value => bytesOf(toYaml([value])),
  * listing (head, name, items) {
    yield bytesOf(toYaml(head))
    const some = yield * preceded(items, first => first ? `${name}:\n` : '')
    if (!some) yield bytesOf(`${name}: []\n`)
  }
}
