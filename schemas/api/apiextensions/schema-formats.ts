/** Formats of strings that are looked at; others are for readers alone. */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { parseTime } from '../../time.js'

const HEX = '[0-9a-f]'
const uuid = (version: string, variant: string): RegExp => new RegExp(`^${HEX}{8}-?${HEX}{4}-?${version}${HEX}{3}-?${variant}${HEX}{3}-?${HEX}{12}$`, 'i')

function isCidr (text: string): boolean {
  const [address = '', length = '', ...more] = text.split('/')
  return more.length === 0 && isIP(address) !== 0 && /^\d{1,3}$/.test(length) && Number(length) <= (isIPv4(address) ? 32 : 128)
}

const dateTime = (text: string): boolean => parseTime(text.toUpperCase()) !== undefined
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && parseTime(`${text}T00:00:00Z`) !== undefined],
  ['date-time', dateTime],
  ['datetime', dateTime],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['cidr', isCidr],
  ['mac', (text: string) => /^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$/i.test(text) || /^(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}$/i.test(text)],
  ['uuid', (text: string) => uuid(HEX, HEX).test(text)],
  ['uuid3', (text: string) => uuid('3', HEX).test(text)],
  ['uuid4', (text: string) => uuid('4', '[89ab]').test(text)],
  ['uuid5', (text: string) => uuid('5', '[89ab]').test(text)],
  ['byte', (text: string) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0]
])

export const hasFormat = (format: string, text: string): boolean => FORMATS.get(format.toLowerCase())?.(text) ?? true
