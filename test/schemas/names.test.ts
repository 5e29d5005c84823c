/** Errors about names, in the words that clients know. */
import t from 'tap'
import {
  configKey, dns1035Label, dnsLabel, dnsSubdomain, envName, headerName, labelValue, pathSegment, qualifiedName,
  wildcardSubdomain
} from '../../schemas/names.js'

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const QUALIFIED =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

t.test('each rule of names describes what it requires', async t => {
  t.same(dnsLabel('A'), [
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
    `with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`
  ])
  t.same(dns1035Label('1'), [
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
  ])
  t.same(dnsSubdomain('a_b'), [
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
    `and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`
  ])
  t.same(wildcardSubdomain('*'), [
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of " +
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', " +
    `regex used for validation is '\\*\\.${SUBDOMAIN}')`
  ])
  t.same(qualifiedName('a b'), [`name part ${QUALIFIED}`])
  t.same(qualifiedName('/a'), ['prefix part must be non-empty'])
  t.same(qualifiedName('a/b/c'), [
    `a qualified name ${QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`
  ])
  t.same(labelValue('a b'), [
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start " +
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation " +
    "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
  ])
  t.same(configKey('a b'), [
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  " +
    "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
  ])
  t.same(
    [configKey('.'), configKey('..'), configKey('..a')],
    [["must not be '.'"], ["must not be '..'"], ["must not start with '..'"]]
  )
  t.same(envName('1'), [
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not " +
    "start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is " +
    "'[-._a-zA-Z][-._a-zA-Z0-9]*')"
  ])
  t.same(headerName('a b'), [
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for " +
    "validation is '[-A-Za-z0-9]+')"
  ])
  t.same(pathSegment('a/%'), ["may not contain '/'", "may not contain '%'"])
})

t.test('the start of a name may end in a dash', async t => {
  for (const start of ['a-', 'web-', 'a.-', 'a--']) t.same(dnsSubdomain(start, true), [], start)
  t.same(dnsSubdomain(`${'a'.repeat(253)}-`, true), [], 'the dash at its end does not count')
  for (const start of ['-', '-a-', 'A-b-']) t.equal(dnsSubdomain(start, true).length, 1, start)
})
