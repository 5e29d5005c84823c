/**
 * Name rules. Each returns upstream's message for every violation, and nothing for a valid name.
 * `prefix` is true for a generateName, which may end in a dash.
 */
export type NameRule = (name: string, prefix?: boolean) => readonly string[]

const LABEL_FORM = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const LABEL = whole(LABEL_FORM)
const SUBDOMAIN_FORM = `${LABEL_FORM}(\\.${LABEL_FORM})*`
const SUBDOMAIN = whole(SUBDOMAIN_FORM.replaceAll('(', '(?:')) // without capturing groups
const DNS_LABEL_MAX = 63
const DNS_SUBDOMAIN_MAX = 253

const NONE: readonly string[] = Object.freeze([])

/** The messages of all checks that failed. */
function findings (...all: ReadonlyArray<readonly [wrong: boolean, sentence: string]>): readonly string[] {
  const problems = all.filter(([wrong]) => wrong)
  return problems.length === 0 ? NONE : problems.map(([, sentence]) => sentence)
}

function whole (form: string): RegExp {
  return new RegExp(`^${form}$`)
}

const tooLong = (max: number) => `must be no more than ${max} characters`

/** A message with examples and the regular expression of a valid value. */
export function formed (sentence: string, form: string, ...examples: string[]): string {
  return `${sentence} (e.g. ${examples.map(example => `'${example}', `).join(' or ')}regex used for validation is ` +
    `'${form}')`
}

/** Upstream's maskTrailingDash: validates a generateName as if a letter replaced the trailing dash. */
const completed = (name: string, prefix: boolean | undefined) =>
  prefix === true && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name

const LABEL_WORDS = formed(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
    'an alphanumeric character',
  LABEL_FORM, 'my-name', '123-abc'
)

/** RFC 1123 label: namespaces. */
export const dnsLabel: NameRule = (name, prefix) => name.length <= DNS_LABEL_MAX && LABEL.test(name)
  ? NONE
  : findings(
      [completed(name, prefix).length > DNS_LABEL_MAX, tooLong(DNS_LABEL_MAX)],
      [!LABEL.test(completed(name, prefix)), LABEL_WORDS]
    )

export const LABEL_1035_FORM = '[a-z]([-a-z0-9]*[a-z0-9])?'
const LABEL_1035 = whole(LABEL_1035_FORM)
const LABEL_1035_WORDS = formed(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
    'and end with an alphanumeric character',
  LABEL_1035_FORM, 'my-name', 'abc-123'
)

/** RFC 1035 label: names that become part of a URL or host name, such as plurals and versions of custom resources. */
export const dns1035Label: NameRule = (name, prefix) => findings(
  [completed(name, prefix).length > DNS_LABEL_MAX, tooLong(DNS_LABEL_MAX)],
  [!LABEL_1035.test(completed(name, prefix)), LABEL_1035_WORDS]
)

const SUBDOMAIN_WORDS = formed(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
    'end with an alphanumeric character',
  SUBDOMAIN_FORM, 'example.com'
)

/** RFC 1123 subdomain: most names. */
export const dnsSubdomain: NameRule = (name, prefix) => name.length <= DNS_SUBDOMAIN_MAX && SUBDOMAIN.test(name)
  ? NONE
  : findings(
      [completed(name, prefix).length > DNS_SUBDOMAIN_MAX, tooLong(DNS_SUBDOMAIN_MAX)],
      [!completed(name, prefix).split('.').every(part => LABEL.test(part)), SUBDOMAIN_WORDS]
    )

const DOMAIN_PATH = new RegExp(`^(${SUBDOMAIN_FORM.replaceAll('(', '(?:')})/[-A-Za-z0-9/._~%!$&'()*+,;=:]+$`)

/** The subdomain of a subdomain with a path, such as `example.com/name`; undefined for anything else. */
export function domainOfPath (value: string): string | undefined {
  const [, domain] = DOMAIN_PATH.exec(value) ?? []
  return domain === undefined || domain.length > DNS_SUBDOMAIN_MAX ? undefined : domain
}

const UNDERSCORED_LABEL_FORM = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const UNDERSCORED_LABEL = whole(UNDERSCORED_LABEL_FORM)
const UNDERSCORED_WORDS = formed(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must " +
    'start and end with an alphanumeric character',
  `${UNDERSCORED_LABEL_FORM}(\\.${UNDERSCORED_LABEL_FORM})*`, 'example.com'
)

/** A subdomain whose labels may have underscores, as those of SRV records do. */
export const underscoredSubdomain: NameRule = name => findings(
  [name.length > DNS_SUBDOMAIN_MAX, tooLong(DNS_SUBDOMAIN_MAX)],
  [!name.split('.').every(part => UNDERSCORED_LABEL.test(part)), UNDERSCORED_WORDS]
)

const WILDCARD_WORDS = formed(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of " +
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  `\\*\\.${SUBDOMAIN_FORM}`, '*.example.com'
)

/** A subdomain below a first label `*`. */
export const wildcardSubdomain: NameRule = name => findings(
  [name.length > DNS_SUBDOMAIN_MAX, tooLong(DNS_SUBDOMAIN_MAX)],
  [!name.startsWith('*.') || !name.slice(2).split('.').every(part => LABEL.test(part)), WILDCARD_WORDS]
)

/**
 * RBAC names: any single segment of a URL path. A prefix cannot be `.` or `..` once its suffix is appended, so only
 * characters count.
 */
export const pathSegment: NameRule = (name, prefix) => {
  if (prefix !== true && (name === '.' || name === '..')) return [`may not be '${name}'`]
  return findings(
    [name.includes('/'), "may not contain '/'"],
    [name.includes('%'), "may not contain '%'"],
    [name.includes('\0'), 'may not contain NUL']
  )
}

const QUALIFIED_FORM = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const QUALIFIED_PART = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/ // the same, matched in linear time
const QUALIFIED_WORDS = formed(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED_FORM, 'MyName', 'my.name', '123-abc'
)

/** `name` or `prefix/name`: label and annotation keys, finalizers. */
export function qualifiedName (value: string): readonly string[] {
  if (value.length <= DNS_LABEL_MAX && QUALIFIED_PART.test(value)) return NONE // fast path
  const slash = value.indexOf('/')
  const prefix = slash === -1 ? undefined : value.slice(0, slash)
  const name = value.slice(slash + 1)
  if (name.includes('/')) {
    return [
      `a qualified name ${QUALIFIED_WORDS} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`
    ]
  }
  const ofPrefix = prefix === undefined
    ? NONE
    : prefix === ''
      ? ['prefix part must be non-empty']
      : dnsSubdomain(prefix).map(why => `prefix part ${why}`)
  const ofName = name.length <= DNS_LABEL_MAX && QUALIFIED_PART.test(name)
    ? NONE
    : findings(
        [name === '', 'name part must be non-empty'],
        [name.length > DNS_LABEL_MAX, `name part ${tooLong(DNS_LABEL_MAX)}`],
        [!QUALIFIED_PART.test(name), `name part ${QUALIFIED_WORDS}`]
      )
  return ofPrefix.length === 0 ? ofName : [...ofPrefix, ...ofName]
}

const LABEL_VALUE_WORDS = formed(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
    'end with an alphanumeric character',
  `(${QUALIFIED_FORM})?`, 'MyValue', 'my_value', '12345'
)

export const labelValue = (value: string): readonly string[] =>
  value.length <= DNS_LABEL_MAX && QUALIFIED_PART.test(value)
    ? NONE
    : findings(
        [value.length > DNS_LABEL_MAX, tooLong(DNS_LABEL_MAX)],
        [value !== '' && !QUALIFIED_PART.test(value), LABEL_VALUE_WORDS]
      )

const CONFIG_KEY_FORM = '[-._a-zA-Z0-9]+'
const CONFIG_KEY = whole(CONFIG_KEY_FORM)
const CONFIG_KEY_WORDS = formed(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'", CONFIG_KEY_FORM, 'key.name',
  'KEY_NAME', 'key-name'
)

/** Keys that would traverse directories. */
const upwards = (name: string): Array<readonly [wrong: boolean, sentence: string]> => [
  [name === '.', "must not be '.'"],
  [name === '..', "must not be '..'"],
  [name.startsWith('..') && name !== '..', "must not start with '..'"]
]

/** Keys of ConfigMaps and Secrets, which become file names. */
export const configKey = (key: string): readonly string[] => findings(
  [key.length > DNS_SUBDOMAIN_MAX, tooLong(DNS_SUBDOMAIN_MAX)],
  [!CONFIG_KEY.test(key), CONFIG_KEY_WORDS],
  ...upwards(key)
)

const PORT_NAME_MAX = 15
const PLAIN_PORT = /^[a-z]+$/

/** Port names in the form of IANA service names. */
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
const VARIABLE_FORM = '[-._a-zA-Z][-._a-zA-Z0-9]*'
const VARIABLE = whole(VARIABLE_FORM)
const VARIABLE_WORDS = formed(
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not " +
    'start with a digit',
  VARIABLE_FORM, 'my.env-name', 'MY_ENV.NAME', 'MyEnvName1'
)

/** Names of environment variables, which may become file names. */
export const envName = (name: string): readonly string[] => PLAIN_VARIABLE.test(name)
  ? NONE
  : findings(
      [!VARIABLE.test(name), VARIABLE_WORDS],
      ...upwards(name)
    )

const PRINTABLE = /^[ -<>-~]*$/

/** Names of environment variables from release 1.30 on. */
export const printableName = (name: string): readonly string[] => PRINTABLE.test(name)
  ? NONE
  : ['a valid environment variable name must consist only of printable ASCII characters other than \'=\'']

const HEADER_FORM = '[-A-Za-z0-9]+'
const HEADER = whole(HEADER_FORM)
const HEADER_WORDS = formed(
  "a valid HTTP header must consist of alphanumeric characters or '-'", HEADER_FORM, 'X-Header-Name'
)

export const headerName = (name: string): readonly string[] => findings(
  [!HEADER.test(name), HEADER_WORDS]
)
