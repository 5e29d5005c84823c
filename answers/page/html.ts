/** HTML as tagged templates that escape everything inserted but other templates. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'
}
/** Characters that have no place in a page: controls, and those that turn the direction of the text after them. */
// eslint-disable-next-line no-control-regex -- matches control characters
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text that is HTML. Its member is private, so an object of a client cannot pass for it. */
export class Html {
  readonly #text: string
  constructor (text: string) { this.#text = text }
  toString (): string { return this.#text }
}

type Inserted = string | number | Html | readonly Html[]

export const NOTHING = new Html('')

export function html (parts: TemplateStringsArray, ...values: readonly Inserted[]): Html {
  return new Html(parts.map((part, at) => at === 0 ? part : written(values[at - 1] ?? '') + part).join(''))
}

function written (value: Inserted): string {
  if (value instanceof Html) return value.toString()
  return Array.isArray(value) ? value.map(written).join('') : escaped(String(value))
}

const escaped = (text: string): string =>
  text.replace(UNPRINTABLE, '\ufffd').replace(/[&<>"']/g, letter => ENTITIES[letter] ?? letter)

/** Text of a client, cut to a bounded length. */
export const clipped = (text: string, most = 300): string => text.length > most ? `${text.slice(0, most)}…` : text

export const plural = (count: number, one: string, several = `${one}s`): string =>
  `${count} ${count === 1 ? one : several}`

export const duration = (milliseconds: number): string => milliseconds < 1
  ? '< 1 ms'
  : milliseconds < 1000
    ? `${milliseconds.toFixed(0)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`

/** What stands in place of a section that the reader may not see. */
export const notPermitted = (verb: string, what: string): Html =>
  html`<p class="none">Not permitted: you may not ${verb} <code>${what}</code>.</p>`
