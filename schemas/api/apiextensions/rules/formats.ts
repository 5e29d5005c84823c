/** Formats of strings that upstream checks; others are documentation. */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { parseWordedDuration } from '../../../meta/duration.js'
import { parseTime } from '../../../meta/time.js'
import { dnsLabel, dnsSubdomain } from '../../../names.js'
import { FORMAT_PREFIXES } from '../../../public-names.js'

const HEX = '[0-9a-f]'
const uuid = (version: string, variant: string): RegExp =>
  new RegExp(`^${HEX}{8}-?${HEX}{4}-?${version}${HEX}{3}-?${variant}${HEX}{3}-?${HEX}{12}$`, 'i')
const matching = (pattern: RegExp) => (text: string): boolean => pattern.test(text)

function isCidr (text: string): boolean {
  const [address = '', length = '', ...more] = text.split('/')
  return more.length === 0 && isIP(address) !== 0 && /^\d{1,3}$/.test(length) &&
    Number(length) <= (isIPv4(address) ? 32 : 128)
}

const isDateTime = (text: string): boolean => parseTime(text.toUpperCase()) !== undefined

/** An absolute path or a scheme with anything behind it, as Go reads the URI of a request. */
function isUri (text: string): boolean {
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f]/.test(text) || /%(?![0-9a-f]{2})/i.test(text)) return false
  if (text.startsWith('/')) return true
  const [, rest] = /^[a-z][a-z0-9+.-]*:(.*)$/i.exec(text) ?? []
  if (rest === undefined) return false
  return !rest.startsWith('//') ||
    /^\/\/(?:[^/?#@]*@)?(?:\[[0-9a-f:.%]+\]|[^/?#[\]<>"\\^`{|}:]*)(?::\d*)?(?:[/?#]|$)/i.test(rest)
}

const MAX_HOSTNAME = 255
const isHostname = (text: string): boolean => text.length <= MAX_HOSTNAME &&
  text.split('.').every(label => /^[\p{L}\p{S}\d](?:[\p{L}\p{S}\d-]{0,61}[\p{L}\p{S}\d])?$/u.test(label))

const ADDRESS = String.raw`[^\s@<>()[\],;:"\\]+@[^\s@<>()[\],;:"\\]+`
const isEmail = matching(new RegExp(`^\\s*(?:${ADDRESS}|(?:"[^"]*"|[^<>@,;:"]*)\\s*<${ADDRESS}>)\\s*$`))

const digitsOf = (text: string): number[] => [...text].map(digit => digit === 'X' ? 10 : Number(digit))
const isIsbn10 = (text: string): boolean => /^\d{9}[\dX]$/.test(plain(text)) &&
  digitsOf(plain(text)).reduce((sum, digit, at) => sum + (10 - at) * digit, 0) % 11 === 0
const isIsbn13 = (text: string): boolean => /^\d{13}$/.test(plain(text)) &&
  digitsOf(plain(text)).reduce((sum, digit, at) => sum + (at % 2 === 0 ? digit : 3 * digit), 0) % 10 === 0
const plain = (text: string): string => text.replace(/[\s-]+/g, '')

const CARD = new RegExp('^(?:4\\d{12}(?:\\d{3})?|5[1-5]\\d{14}|6(?:011|5\\d\\d)\\d{12}|3[47]\\d{13}|' +
  '3(?:0[0-5]|[68]\\d)\\d{11}|(?:2131|1800|35\\d{3})\\d{11})$')

/** By the issuers' prefixes, and the check digit. */
function isCreditCard (text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!CARD.test(digits)) return false
  return digitsOf(digits).reverse().reduce((sum, digit, at) =>
    sum + (at % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit), 0) % 10 === 0
}

const BYTE = '(?:[01]?\\d{1,2}|2[0-4]\\d|25[0-5])'

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && parseTime(`${text}T00:00:00Z`) !== undefined],
  ['datetime', isDateTime],
  ['duration', (text: string) => parseWordedDuration(text) !== undefined],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['cidr', isCidr],
  ['mac', (text: string) => /^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$/i.test(text) ||
    /^(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}$/i.test(text)],
  ['uri', isUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['uuid', matching(uuid(HEX, HEX))],
  ['uuid3', matching(uuid('3', HEX))],
  ['uuid4', matching(uuid('4', '[89ab]'))],
  ['uuid5', matching(uuid('5', '[89ab]'))],
  ['byte', (text: string) => text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)],
  ['bsonobjectid', matching(/^[0-9a-f]{24}$/i)],
  ['hexcolor', matching(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['rgbcolor', matching(new RegExp(`^rgb\\(\\s*${BYTE}\\s*,\\s*${BYTE}\\s*,\\s*${BYTE}\\s*\\)$`))],
  ['ssn', matching(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['isbn', (text: string) => isIsbn10(text) || isIsbn13(text)],
  ['creditcard', isCreditCard]
])

/** The formats of long strings. */
const UNBOUNDED: ReadonlySet<string> = new Set(['byte', 'uri'])
/** Longer strings have none of the others, which cost more than one look at each character. */
const MAX_LENGTH = 1024

/** Of 1.34, by their names without dashes, the public ones too. */
const LATER: ReadonlyMap<string, (text: string) => boolean> = new Map(FORMAT_PREFIXES.flatMap(own => [
  [`${own}shortname`, (text: string) => dnsLabel(text).length === 0],
  [`${own}longname`, (text: string) => dnsSubdomain(text).length === 0]
]))
const NUMBERS: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'], number: ['float', 'double']
}

/** Whether a server of 1.36 knows a format, which then needs no warning. */
export function isKnownFormat (format: string, type: string): boolean {
  if (type !== '' && type !== 'string') return NUMBERS[type]?.includes(format) === true
  const name = format.replaceAll('-', '')
  return name === 'password' || FORMATS.has(name) || LATER.has(name)
}

/** Whether a string has a format, if it is one of those. @param later those of 1.34 are checked */
export function hasFormat (format: string, text: string, later = false): boolean {
  const name = format.replaceAll('-', '')
  const check = FORMATS.get(name) ?? (later ? LATER.get(name) : undefined)
  return check === undefined || ((text.length <= MAX_LENGTH || UNBOUNDED.has(name)) && check(text))
}
