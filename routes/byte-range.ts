/** Which bytes of a document a request asks for (RFC 9110, Range): one range; several are answered with the whole. */
import { StatusError } from '../schemas/status.js'

export interface ByteRange {
  readonly start: number
  /** After the last byte. */
  readonly end: number
}

const RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/

/**
 * @param header undefined if there is none
 * @returns undefined for the whole document
 * @throws StatusError 416 if no byte of the document is in the range
 */
export function byteRange (header: string | undefined, length: number): ByteRange | undefined {
  const [, first = '', last = ''] = RANGE.exec(header ?? '') ?? []
  if (first === '' && last === '') return undefined
  const isSuffix = first === ''
  if (!isSuffix && last !== '' && Number(last) < Number(first)) return undefined // invalid, so ignored
  const start = isSuffix ? Math.max(0, length - Number(last)) : Number(first)
  if (start >= length || (isSuffix && Number(last) === 0)) {
    throw new StatusError(undefined, `the document has ${length} bytes, none of them in the range`, {
      code: 416, headers: { 'content-range': `bytes */${length}` }
    })
  }
  return { start, end: isSuffix || last === '' ? length : Math.min(length, Number(last) + 1) }
}
