/**
 * What names may look like. Each check answers the sentence that says what is wrong, or undefined for a
 * valid name; `prefix` is true for a generateName, which may still end in a dash.
 */
export type NameRule = (name: string, prefix?: boolean) => string | undefined

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const DNS_LABEL_MAX = 63
const DNS_SUBDOMAIN_MAX = 253

const tooLong = (max: number) => `must be no more than ${max} characters`

/** A prefix is judged as if a character followed its trailing dash. */
const completed = (name: string, prefix: boolean | undefined) => prefix === true && name.endsWith('-') ? `${name.slice(0, -1)}a` : name

/** RFC 1123 label: namespaces. */
export const dnsLabel: NameRule = (name, prefix) => {
  if (name.length > DNS_LABEL_MAX) return tooLong(DNS_LABEL_MAX)
  return LABEL.test(completed(name, prefix))
    ? undefined
    : "must consist of lower case letters, digits and '-', and begin and end with a letter or digit (RFC 1123 label, such as 'my-name')"
}

/** RFC 1123 subdomain: most names. */
export const dnsSubdomain: NameRule = (name, prefix) => {
  if (name.length > DNS_SUBDOMAIN_MAX) return tooLong(DNS_SUBDOMAIN_MAX)
  return completed(name, prefix).split('.').every(part => LABEL.test(part))
    ? undefined
    : "must consist of lower case letters, digits, '-' and '.', and each part between dots begin and end with a letter or digit (RFC 1123 subdomain, such as 'example.com')"
}

/** Anything that can be one segment of a URL path: RBAC names. A prefix may not become one of the reserved words by what follows, so only characters count. */
export const pathSegment: NameRule = (name, prefix) => {
  if (prefix !== true && (name === '.' || name === '..')) return `may not be '${name}'`
  const bad = name.includes('/') ? "'/'" : name.includes('%') ? "'%'" : name.includes('\0') ? 'NUL' : undefined
  return bad === undefined ? undefined : `may not contain ${bad}`
}

const QUALIFIED_PART = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/

/** `name` or `prefix/name`: label and annotation keys, finalizers. */
export function qualifiedName (value: string): string | undefined {
  const slash = value.indexOf('/')
  const prefix = slash === -1 ? undefined : value.slice(0, slash)
  const name = value.slice(slash + 1)
  if (prefix !== undefined) {
    if (prefix === '') return 'prefix part must be non-empty'
    const why = dnsSubdomain(prefix)
    if (why !== undefined) return `prefix part ${why}`
  }
  if (name === '') return 'name part must be non-empty'
  if (name.length > DNS_LABEL_MAX) return `name part ${tooLong(DNS_LABEL_MAX)}`
  return QUALIFIED_PART.test(name)
    ? undefined
    : "name part must consist of letters, digits, '-', '_' and '.', begin and end with a letter or digit, and have at most one '/' before it"
}

export function labelValue (value: string): string | undefined {
  if (value.length > DNS_LABEL_MAX) return tooLong(DNS_LABEL_MAX)
  return value === '' || QUALIFIED_PART.test(value)
    ? undefined
    : "a valid label value is empty or consists of letters, digits, '-', '_' and '.', and begins and ends with a letter or digit"
}

const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/

/** Keys of ConfigMaps and Secrets, which become file names. */
export function configKey (key: string): string | undefined {
  if (key.length > DNS_SUBDOMAIN_MAX) return tooLong(DNS_SUBDOMAIN_MAX)
  if (!CONFIG_KEY.test(key)) return "a valid config key consists of letters, digits, '-', '_' and '.'"
  if (key === '.') return "a valid config key must not be '.'"
  return key.startsWith('..') ? "a valid config key must not start with '..'" : undefined
}
