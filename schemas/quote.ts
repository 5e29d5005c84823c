/** Quotes at most 100 characters of client text for an error message. */
export const quote = (text: string): string => JSON.stringify(text.slice(0, 100))

/** The text, or its beginning with an ellipsis. @param most characters that are kept */
export const shorten = (text: string, most: number): string => text.length > most ? `${text.slice(0, most)}…` : text
