/** Quotes at most 100 characters of client text for an error message. */
export const quote = (text: string): string => JSON.stringify(text.slice(0, 100))

/** The text, or its beginning with an ellipsis. @param most characters that are kept */
export const shorten = (text: string, most: number): string => text.length > most ? `${text.slice(0, most)}…` : text

/** With escaped separators too: an address may be the parameter of another. */
const QUERY_SECRET = new RegExp(
  String.raw`((?:[?&;]|%(?:3f|26|3b))[^=&;?%\s]{0,40}` +
  '(?:token|password|passwd|pwd|secret|key|auth|jwt|bearer|credential|signature)' +
  String.raw`[^=&;?%\s]{0,40}(?:=|%3d))(?:(?!%26)[^&;\s"])*`,
  'gi'
)
const USER_INFO = /\/\/[^/?#@\s]*@/g

/** Removes secrets from the URLs in a text: user information, and values of parameters whose names suggest secrets. */
export const withoutUrlSecrets = (text: string): string =>
  text.replace(QUERY_SECRET, '$1…').replace(USER_INFO, '//…@')

/** Writes control characters, and those that reverse or hide text, all of which terminals would obey, as escapes. */
export const escapeControls = (text: string): string => text.replace(
  // eslint-disable-next-line no-control-regex -- matches control characters
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
)
