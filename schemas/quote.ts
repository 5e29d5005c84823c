/** Quotes at most 100 characters of client text for an error message. */
export const quote = (text: string): string => JSON.stringify(text.slice(0, 100))
