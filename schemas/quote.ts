/** Quotes at most 100 characters of client text for an error message. */
export const quote = (text: string): string => JSON.stringify(text.slice(0, 100))

/** The text, or its beginning with an ellipsis. @param most characters that are kept */
export const shorten = (text: string, most: number): string => text.length > most ? `${text.slice(0, most)}…` : text

/** Writes control characters, and those that reverse or hide text, all of which terminals would obey, as escapes. */
export const escapeControls = (text: string): string => text.replace(
  // eslint-disable-next-line no-control-regex -- matches control characters
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
)
