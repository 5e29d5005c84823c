/** Quotes a client's text for an error message, at most 100 characters of it. */
export const quote = (text: string): string => JSON.stringify(text.slice(0, 100))
