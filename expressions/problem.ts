/** Why an expression does not compile; the message shows the place. */
export class Problem extends Error {
  /**
   * @param at position of the problem, in characters of the expression; none for the expression as a whole
   * @param subject what has the problem, if the problem does not say
   */
  constructor (readonly problem: string, text: string, readonly at?: number, readonly subject?: string) {
    super(at === undefined ? about(subject, problem) : shown(problem, text, at))
  }
}

export const about = (subject: string | undefined, problem: string): string =>
  subject === undefined ? problem : `${subject} ${problem}`

function shown (problem: string, text: string, at: number): string {
  const before = text.slice(0, at)
  const start = before.lastIndexOf('\n') + 1
  const [line = ''] = text.slice(start).split('\n', 1)
  const column = [...text.slice(start, at)].length
  const place = `${before.split('\n').length}:${column + 1}`
  return `ERROR: <input>:${place}: ${problem}\n | ${line.replaceAll('\t', ' ')}\n | ${'.'.repeat(column)}^`
}
