/** The part of a selector that error messages repeat: at most its first 200 characters. */
import { shorten } from '../quote.js'

export const excerpt = (text: string): string => shorten(text, 200)
export const quoted = (text: string): string => JSON.stringify(excerpt(text))
