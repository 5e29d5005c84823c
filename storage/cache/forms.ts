/**
 * What was derived from entries (parsed objects, protobuf, rows) and who holds it, for the whole process: a form
 * lives while it is used. What nobody has used for one to two spans is let go. When there is too much no more is kept until
 * then, so that one look at everything there is costs neither the memory of it all nor what others are using.
 */

const SPAN_MS = 30_000
const MOST_BYTES = 64 * 1024 * 1024

export interface Forms {
  /** The span of time in which one of them was last used. */
  used: number
  /** Estimated. */
  bytes: number
  /** Lets go of them. */
  drop: () => void
}

let span = 1
let held: Forms[] = []
let bytes = 0
let timer: NodeJS.Timeout | undefined

/** The span of time that is now, to be noted at each use. */
export const now = (): number => span

/** Takes note of forms that grow by so many bytes, if there is room for them; the first time, of their holder. */
export function grow (forms: Forms, by: number): boolean {
  if (bytes + by > MOST_BYTES) return false
  if (forms.bytes === 0) held.push(forms)
  forms.bytes += by
  bytes += by
  timer ??= setInterval(sweep, SPAN_MS).unref()
  return true
}

/** How much is held, for those who watch over it. */
export const formsHeld = (): { readonly holders: number, readonly bytes: number } => ({ holders: held.length, bytes })

/** Ends a span: what was not used in it goes. */
export function sweep (): void {
  const stay: Forms[] = []
  const go: Forms[] = []
  for (const forms of held) (forms.used >= span ? stay : go).push(forms)
  span++
  for (const forms of go) {
    bytes -= forms.bytes
    forms.bytes = 0
    forms.drop()
  }
  held = stay
  if (held.length > 0) return
  clearInterval(timer)
  timer = undefined
}
