/** IP addresses as texts. */
import { isIP } from 'node:net'

/** 4, 6, or 0 for what is none. Leading zeros in an IPv4 address are decimal ones; zones are not taken. */
export function ipFamily (text: string): 0 | 4 | 6 {
  if (text.includes('%')) return 0
  return isIP(text.replace(/(^|[.:])0+(?=\d+(?:\.|$))/g, '$1')) as 0 | 4 | 6 // which is all that isIP answers
}
