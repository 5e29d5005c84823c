/**
 * What names may look like. Each check answers a sentence per thing that is wrong, none for a valid name; `prefix` is
 * true for a generateName, which may still end in a dash.
 */
export type NameRule = (name: string, prefix?: boolean) => readonly string[]

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const DNS_LABEL_MAX = 63
const DNS_SUBDOMAIN_MAX = 253

const NONE: readonly string[] = Object.freeze([])

/** The sentences of those that are wrong. */
function findings (...all: ReadonlyArray<readonly [wrong: boolean, sentence: string]>): readonly string[] {
  const found = all.filter(([wrong]) => wrong)
  return found.length === 0 ? NONE : found.map(([, sentence]) => sentence)
}

const tooLong = (max: number) => `must be no more than ${max} characters`

/** A prefix is judged as if a character followed its trailing dash. */
const completed = (name: string, prefix: boolean | undefined) => prefix === true && name.endsWith('-') ? `${name.slice(0, -1)}a` : name

/** RFC 1123 label: namespaces. */
export const dnsLabel: NameRule = (name, prefix) => name.length <= DNS_LABEL_MAX && LABEL.test(name)
  ? NONE
  : findings(
    [name.length > DNS_LABEL_MAX, tooLong(DNS_LABEL_MAX)],
    [!LABEL.test(completed(name, prefix)), "must consist of lower case letters, digits and '-', and begin and end with a letter or digit (RFC 1123 label, such as 'my-name')"]
  )

const LABEL_1035 = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/

/** RFC 1035 label: what becomes a word of a URL or a host name, such as resources and versions of types defined at run time. */
export const dns1035Label: NameRule = (name, prefix) => findings(
  [name.length > DNS_LABEL_MAX, tooLong(DNS_LABEL_MAX)],
  [!LABEL_1035.test(completed(name, prefix)), "must consist of lower case letters, digits and '-', begin with a letter, and end with a letter or digit (RFC 1035 label, such as 'my-name')"]
)

/** RFC 1123 subdomain: most names. */
export const dnsSubdomain: NameRule = (name, prefix) => findings(
  [name.length > DNS_SUBDOMAIN_MAX, tooLong(DNS_SUBDOMAIN_MAX)],
  [!completed(name, prefix).split('.').every(part => LABEL.test(part)), "must consist of lower case letters, digits, '-' and '.', and each part between dots begin and end with a letter or digit (RFC 1123 subdomain, such as 'example.com')"]
)

/** A subdomain below a first label `*`. */
export const wildcardSubdomain: NameRule = name => findings(
  [name.length > DNS_SUBDOMAIN_MAX, tooLong(DNS_SUBDOMAIN_MAX)],
  [!name.startsWith('*.') || !name.slice(2).split('.').every(part => LABEL.test(part)), "a wildcard must start with '*.', followed by a valid RFC 1123 subdomain (such as '*.example.com')"]
)

/** Anything that can be one segment of a URL path: RBAC names. A prefix may not become one of the reserved words by what follows, so only characters count. */
export const pathSegment: NameRule = (name, prefix) => {
  if (prefix !== true && (name === '.' || name === '..')) return [`may not be '${name}'`]
  return findings(
    [name.includes('/'), "may not contain '/'"],
    [name.includes('%'), "may not contain '%'"],
    [name.includes('\0'), 'may not contain NUL']
  )
}

const QUALIFIED_PART = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/

/** `name` or `prefix/name`: label and annotation keys, finalizers. */
export function qualifiedName (value: string): readonly string[] {
  if (value.length <= DNS_LABEL_MAX && QUALIFIED_PART.test(value)) return NONE // as most are
  const slash = value.indexOf('/')
  const prefix = slash === -1 ? undefined : value.slice(0, slash)
  const name = value.slice(slash + 1)
  if (name.includes('/')) return ["must be a name, or a prefix and a name with one '/' between them"]
  const ofPrefix = prefix === undefined ? NONE : prefix === '' ? ['prefix part must be non-empty'] : dnsSubdomain(prefix).map(why => `prefix part ${why}`)
  const ofName = findings(
    [name === '', 'name part must be non-empty'],
    [name.length > DNS_LABEL_MAX, `name part ${tooLong(DNS_LABEL_MAX)}`],
    [!QUALIFIED_PART.test(name), "name part must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit"]
  )
  return ofPrefix.length === 0 ? ofName : [...ofPrefix, ...ofName]
}

export const labelValue = (value: string): readonly string[] => value.length <= DNS_LABEL_MAX && QUALIFIED_PART.test(value)
  ? NONE
  : findings(
    [value.length > DNS_LABEL_MAX, tooLong(DNS_LABEL_MAX)],
    [value !== '' && !QUALIFIED_PART.test(value), "a valid label value is empty or consists of letters, digits, '-', '_' and '.', and begins and ends with a letter or digit"]
  )

const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/

/** Keys of ConfigMaps and Secrets, which become file names. */
export const configKey = (key: string): readonly string[] => findings(
  [key.length > DNS_SUBDOMAIN_MAX, tooLong(DNS_SUBDOMAIN_MAX)],
  [!CONFIG_KEY.test(key), "a valid config key consists of letters, digits, '-', '_' and '.'"],
  [key === '.', "a valid config key must not be '.'"],
  [key.startsWith('..'), "a valid config key must not start with '..'"]
)

const PORT_NAME_MAX = 15
const PLAIN_PORT = /^[a-z]+$/

/** Names of ports, as the registry of services has them. */
export const portName = (name: string): readonly string[] => name.length <= PORT_NAME_MAX && PLAIN_PORT.test(name)
  ? NONE
  : findings(
    [name.length > PORT_NAME_MAX, tooLong(PORT_NAME_MAX)],
    [!/^[-a-z0-9]+$/.test(name), 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'],
    [!/[a-z]/.test(name), 'must contain at least one letter (a-z)'],
    [name.includes('--'), 'must not contain consecutive hyphens'],
    [name.startsWith('-') || name.endsWith('-'), 'must not begin or end with a hyphen']
  )

const PLAIN_VARIABLE = /^[_a-zA-Z]\w*$/

/** Names of environment variables, which may become names of files. */
export const envName = (name: string): readonly string[] => PLAIN_VARIABLE.test(name)
  ? NONE
  : findings(
    [!/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name), "a valid environment variable name consists of letters, digits, '_', '-' and '.', and does not begin with a digit"],
    [name === '.', "must not be '.'"],
    [name === '..', "must not be '..'"],
    [name.startsWith('..') && name !== '..', "must not start with '..'"]
  )

export const headerName = (name: string): readonly string[] => findings(
  [!/^[-A-Za-z0-9]+$/.test(name), "a valid HTTP header consists of letters, digits and '-'"]
)
