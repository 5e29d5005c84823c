/** Formats that expressions know by name, with the messages of upstream's validation. */
import { hasFormat } from '../schemas/api/apiextensions/rules/formats.js'
import * as names from '../schemas/names.js'
import { FORMATS } from './overloads.js'
import { Fault, List, Opaque, Optional, type Apply, type Library } from './values.js'

export class NamedFormat extends Opaque {
  readonly type = 'named_format'
  constructor (readonly name: typeof FORMATS[number]) { super() }
  override toString (): string { return this.name }
  override equals (other: Opaque): boolean { return other instanceof NamedFormat && other.name === this.name }
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const BYTES = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const says = (holds: (text: string) => boolean, words: string) => (text: string): readonly string[] =>
  holds(text) ? [] : [words]
const prefix = (rule: names.NameRule) => (text: string): readonly string[] => rule(text, true)

const RULES: Readonly<Record<typeof FORMATS[number], (text: string) => readonly string[]>> = {
  dns1123Label: text => names.dnsLabel(text), dns1123Subdomain: text => names.dnsSubdomain(text),
  dns1035Label: text => names.dns1035Label(text), qualifiedName: names.qualifiedName,
  dns1123LabelPrefix: prefix(names.dnsLabel), dns1123SubdomainPrefix: prefix(names.dnsSubdomain),
  dns1035LabelPrefix: prefix(names.dns1035Label), labelValue: names.labelValue,
  uri: says(text => hasFormat('uri', text), 'invalid URI'),
  uuid: says(text => UUID.test(text), 'does not match the UUID format'),
  byte: says(text => BYTES.test(text), 'invalid base64'), date: says(text => hasFormat('date', text), 'invalid date'),
  datetime: says(text => hasFormat('datetime', text), 'invalid datetime')
}

export const ofFormats: Library = [
  ['format.named', ([name]) => typeof name === 'string'
    ? new Optional(FORMATS.filter(known => known === name).map(known => new NamedFormat(known))[0])
    : undefined],
  ...FORMATS.map((name): [string, Apply] => [`format.${name}`, () => new NamedFormat(name)]),
  ['.validate', ([of, text]) => {
    if (!(of instanceof NamedFormat)) return undefined
    if (typeof text !== 'string') return new Fault('no such overload')
    const problems = RULES[of.name](text)
    return problems.length === 0 ? new Optional() : new Optional(new List(problems))
  }]
]
